r"""Forward dynamics of serial chains of revolute joints, by the articulated-body algorithm.

Spatial vectors are (angular, linear), in coordinates of the link. Joint i turns link i about a unit
axis z_i by q_i; with X_i the motion transform from link i - 1 to link i and S_i = (z_i, 0),

    outwards   v_i = X_i v_{i-1} + S_i q'_i,  c_i = v_i x S_i q'_i,  p_i = v_i x* (I_i v_i),
    inwards    U = I^A S,  D = S' U,  u = tau - S' p^A,  I^a = I^A - U U' / D,
               I^A_{i-1} += X' I^a X,  p^A_{i-1} += X' (p^A + I^a c + U u / D),
    outwards   a' = X a_{i-1} + c_i,  q''_i = (u - U' a') / D,  a_i = a' + S q''_i,  a_0 = -gravity.

Every quantity has the batch in front, of any shape, on any device, and torch derives it.

Source: R. Featherstone, Rigid Body Dynamics Algorithms, table 7.1; Heiden et al., Eq. 12.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY

DOWN = (0.0, 0.0, -GRAVITY)


@dataclass(frozen=True)
class Chain:
    """Bodies in a row, each turned about an axis that is fixed in the one before it.

    Attributes:
        axes: Unit axes of the joints, in the frame of their own link.
        places: Of each joint in the frame of the link before it, m; of the first in the world.
        turns: Rotation matrices from each link, its joint at zero, to the one before it.
        masses: kg.
        centres: Of mass, in the frame of the link, m.
        inertias: About the centre of mass, in the frame of the link, kg m^2.
        damping: Torque against the joint's rate, N m s/rad.
        gravity: m/s^2, in the world.
    """

    axes: Float[Tensor, "joint 3"]
    places: Float[Tensor, "*#batch joint 3"]
    turns: Float[Tensor, "joint 3 3"]
    masses: Float[Tensor, "*#batch joint"]
    centres: Float[Tensor, "*#batch joint 3"]
    inertias: Float[Tensor, "*#batch joint 3 3"]
    damping: Float[Tensor, "*#batch joint"]
    gravity: tuple[float, float, float] = DOWN


def accelerations(
    chain: Chain,
    angles: Float[Tensor, "*#batch joint"],
    rates: Float[Tensor, "*#batch joint"],
    torques: Float[Tensor, "*#batch joint"] | None = None,
) -> Float[Tensor, "*batch joint"]:
    """Return the joints' accelerations, rad/s^2, at angles in rad and rates in rad/s.

    >>> one = torch.ones(1, dtype=torch.float64)
    >>> rod = Chain(
    ...     axes=torch.tensor([[0.0, 1.0, 0.0]]).double(), places=torch.zeros(1, 3).double(),
    ...     turns=torch.eye(3).double()[None], masses=one,
    ...     centres=torch.tensor([[0.5, 0.0, 0.0]]).double(),
    ...     inertias=torch.eye(3).double()[None] / 12.0, damping=0.0 * one,
    ... )
    >>> round(float(accelerations(rod, 0.0 * one, 0.0 * one)), 3)  # 3 g / 2 l
    14.715

    Args:
        torques: Of motors, N m; None where there are none.
    """
    loads = -chain.damping * rates if torques is None else torques - chain.damping * rates
    transforms = _transforms(chain, angles)
    inertias, biases, drifts = _outwards(chain, transforms, rates)
    return _inwards(chain, transforms, inertias, biases, drifts, loads)


def step(
    chain: Chain,
    angles: Float[Tensor, "*#batch joint"],
    rates: Float[Tensor, "*#batch joint"],
    duration: float,
    torques: Float[Tensor, "*#batch joint"] | None = None,
) -> tuple[Float[Tensor, "*batch joint"], Float[Tensor, "*batch joint"]]:
    """Advance by semi-implicit Euler (Heiden et al., Eq. 12): first the rates, then the angles."""
    rates = rates + duration * accelerations(chain, angles, rates, torques)
    return angles + duration * rates, rates


def cross(vectors: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch 3 3"]:
    """Return the matrices that multiply by these vectors, a x."""
    x, y, z = vectors.unbind(-1)
    zero = torch.zeros_like(x)
    rows = torch.stack((zero, -z, y, z, zero, -x, -y, x, zero), -1)
    return rows.reshape(*vectors.shape, 3)


def rotation(axis: Float[Tensor, " 3"], angles: Float[Tensor, "*batch"]) -> Tensor:
    """Return rotation matrices about a unit axis (Rodrigues), shape (*batch, 3, 3)."""
    across = cross(axis)
    sine, cosine = angles.sin()[..., None, None], angles.cos()[..., None, None]
    return torch.eye(3).to(angles) + sine * across + (1.0 - cosine) * (across @ across)


def _transforms(chain: Chain, angles: Float[Tensor, "*#batch joint"]) -> list[Tensor]:
    """Return X of each joint: motion vectors of the link before it, in coordinates of its own."""
    found = []
    for number, (axis, turn) in enumerate(zip(chain.axes, chain.turns, strict=True)):
        inverse = (turn @ rotation(axis, angles[..., number])).mT
        moved = -inverse @ cross(chain.places[..., number, :])
        inverse = inverse.expand(moved.shape)
        upper = torch.cat((inverse, torch.zeros_like(inverse)), -1)
        found.append(torch.cat((upper, torch.cat((moved, inverse), -1)), -2))
    return found


def _outwards(
    chain: Chain, transforms: list[Tensor], rates: Float[Tensor, "*#batch joint"]
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return each body's inertia, bias force p and velocity-dependent acceleration c."""
    inertias, biases, drifts = [], [], []
    velocity = torch.zeros(6).to(rates)[..., None]
    for number, transform in enumerate(transforms):
        joint = _subspace(chain, number) * rates[..., number, None, None]
        velocity = transform @ velocity + joint
        inertia = _inertia(chain, number)
        across = _motion_cross(velocity[..., 0])
        inertias.append(inertia)
        biases.append(-across.mT @ (inertia @ velocity))
        drifts.append(across @ joint)
    return inertias, biases, drifts


def _inwards(
    chain: Chain,
    transforms: list[Tensor],
    inertias: list[Tensor],
    biases: list[Tensor],
    drifts: list[Tensor],
    loads: Float[Tensor, "*#batch joint"],
) -> Float[Tensor, "*batch joint"]:
    """Gather articulated inertias from the tip to the root, and accelerate from there."""
    count = len(transforms)
    solved: list[tuple[Tensor, Tensor, Tensor]] = [(loads, loads, loads)] * count
    inertia, bias = inertias[-1], biases[-1]
    for number in reversed(range(count)):
        subspace = _subspace(chain, number)
        across = inertia @ subspace
        own = subspace.mT @ across
        load = loads[..., number, None, None] - subspace.mT @ bias
        solved[number] = across, own, load
        if number:
            apparent = inertia - across @ across.mT / own
            force = bias + apparent @ drifts[number] + across * (load / own)
            transform = transforms[number]
            inertia = inertias[number - 1] + transform.mT @ apparent @ transform
            bias = biases[number - 1] + transform.mT @ force
    acceleration = -loads.new_tensor((0.0, 0.0, 0.0, *chain.gravity))[..., None]
    found = []
    for number, (across, own, load) in enumerate(solved):
        pulled = transforms[number] @ acceleration + drifts[number]
        own_acceleration = (load - across.mT @ pulled) / own
        acceleration = pulled + _subspace(chain, number) * own_acceleration
        found.append(own_acceleration[..., 0, 0])
    return torch.stack(torch.broadcast_tensors(*found), -1)


def _subspace(chain: Chain, number: int) -> Float[Tensor, "6 1"]:
    axis = chain.axes[number]
    return torch.cat((axis, torch.zeros_like(axis)))[:, None]


def _inertia(chain: Chain, number: int) -> Float[Tensor, "*batch 6 6"]:
    """Return the spatial inertia of a link about the origin of its frame."""
    mass = chain.masses[..., number, None, None]
    moment = mass * cross(chain.centres[..., number, :])
    about = chain.inertias[..., number, :, :] - moment @ cross(chain.centres[..., number, :])
    inert = (mass * torch.eye(3).to(moment)).expand(moment.shape)
    about, moment = torch.broadcast_tensors(about, moment)
    inert = inert.expand(moment.shape)
    return torch.cat((torch.cat((about, moment), -1), torch.cat((moment.mT, inert), -1)), -2)


def _motion_cross(velocity: Float[Tensor, "*batch 6"]) -> Float[Tensor, "*batch 6 6"]:
    """Return the matrix of v x on motion vectors; minus its transpose is v x* on forces."""
    turning, moving = cross(velocity[..., :3]), cross(velocity[..., 3:])
    upper = torch.cat((turning, torch.zeros_like(turning)), -1)
    return torch.cat((upper, torch.cat((moving, turning), -1)), -2)
