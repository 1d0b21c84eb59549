r"""A box that hangs from a moving flange by a universal joint: two angles, many boxes at once.

The flange has the angular velocity w, its derivative w' and, at the joint, the acceleration a, all
in its own coordinates. The box is turned from it by R = Rx(q1) Ry(q2). In coordinates of the box,
with S the axes of both joints, I its inertia about the joint, m its mass and c its centre,

    o = R'w + S q',     b = R'w' - (S q') x R'w + S' q',
    S'I S q'' = -d q' - S' [I b + o x I o + m c x R'(a - g)].

The equations are linear in the ten numbers m, m c and I, to which a weight at p adds its mass, that
times p and that times |p|^2 - p p'. Steps are those of Eq. 12.

Source: Newton and Euler's equations; Heiden et al., section V-C and appendix II-E, Table IV.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.systems.rigid_bodies.articulated_bodies import cross


@dataclass(frozen=True)
class Box:
    """Boxes, weights in them included.

    Attributes:
        moment: Mass times the place of the centre, from the joint, kg m.
        inertia: About the joint, kg m^2.
        damping: Of both joints, N m s/rad.
    """

    moment: Float[Tensor, "*batch 3"]
    inertia: Float[Tensor, "*batch 3 3"]
    damping: Float[Tensor, "*batch 2"]

    def with_weight(self, mass: float, place: Float[Tensor, "*batch 3"]) -> "Box":
        """Return them with a weight at a place, kg and m."""
        square = place.square().sum(-1)[..., None, None] * torch.eye(3).to(place)
        added = mass * (square - place[..., :, None] * place[..., None, :])
        return Box(self.moment + mass * place, self.inertia + added, self.damping)


@dataclass(frozen=True)
class Carrier:
    """How the flange moves, in its own coordinates.

    Attributes:
        spin: Angular velocity, rad/s.
        turning: Its derivative, rad/s^2.
        pull: Acceleration of the joint less that of gravity, m/s^2.
    """

    spin: Float[Tensor, "*batch 3"]
    turning: Float[Tensor, "*batch 3"]
    pull: Float[Tensor, "*batch 3"]

    def at(self, instant: int) -> "Carrier":
        """Return it at an instant, the axis before the last."""
        return Carrier(*(each[..., instant, :] for each in (self.spin, self.turning, self.pull)))


def of_centre(
    mass: float,
    centre: Float[Tensor, "*batch 3"],
    inertia: Float[Tensor, "*batch 3 3"],
    damping: Float[Tensor, "*batch 2"],
) -> Box:
    """Return boxes by their inertia about their centre of mass."""
    none = Box(torch.zeros_like(centre), inertia, damping)
    return none.with_weight(mass, centre)


def accelerations(
    box: Box,
    angles: Float[Tensor, "*#batch 2"],
    rates: Float[Tensor, "*#batch 2"],
    carrier: Carrier,
) -> Float[Tensor, "*batch 2"]:
    """Return those of both angles, rad/s^2, at angles in rad and rates in rad/s."""
    axes, turn = _axes(angles), _turn(angles)
    own = (axes @ rates[..., None])[..., 0]
    spin, turning, pull = (
        (turn.mT @ each[..., None])[..., 0]
        for each in (carrier.spin, carrier.turning, carrier.pull)
    )
    drift = turning - torch.linalg.cross(own, spin) + _axes_rate(angles, rates)
    whole = spin + own
    load = (
        (box.inertia @ drift[..., None])[..., 0]
        + torch.linalg.cross(whole, (box.inertia @ whole[..., None])[..., 0])
        + (cross(box.moment) @ pull[..., None])[..., 0]
    )
    force = -box.damping * rates - (axes.mT @ load[..., None])[..., 0]
    mass = axes.mT @ box.inertia @ axes
    return torch.linalg.solve(mass, force)


def roll_out(
    box: Box, start: Float[Tensor, "*batch 4"], carrier: Carrier, *, duration: float
) -> Float[Tensor, "*batch step 4"]:
    """Return angles and rates after each step of the carrier's motion, by semi-implicit Euler.

    Args:
        carrier: At the start of each step, the steps the axis before the last.
        duration: Of a step, s.
    """
    angles, rates, found = start[..., :2], start[..., 2:], []
    for instant in range(carrier.spin.shape[-2]):
        rates = rates + duration * accelerations(box, angles, rates, carrier.at(instant))
        angles = angles + duration * rates
        found.append(torch.cat((angles, rates), -1))
    return torch.stack(found, -2)


def points(
    angles: Float[Tensor, "*batch 2"], places: Float[Tensor, "point 3"]
) -> Float[Tensor, "*batch point 3"]:
    """Return where points of the box are, in coordinates of the flange, m."""
    return places @ _turn(angles).mT


def _turn(angles: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch 3 3"]:
    """Return Rx(q1) Ry(q2)."""
    (sine_1, sine_2), (cosine_1, cosine_2) = angles.sin().unbind(-1), angles.cos().unbind(-1)
    none = torch.zeros_like(sine_1)
    rows = (
        cosine_2, none, sine_2,
        sine_1 * sine_2, cosine_1, -sine_1 * cosine_2,
        -cosine_1 * sine_2, sine_1, cosine_1 * cosine_2,
    )  # fmt: skip
    return torch.stack(rows, -1).unflatten(-1, (3, 3))


def _axes(angles: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch 3 2"]:
    """Return the axes of both joints in coordinates of the box."""
    sine, cosine = angles[..., 1].sin(), angles[..., 1].cos()
    none = torch.zeros_like(sine)
    rows = (cosine, none, none, none + 1.0, sine, none)
    return torch.stack(rows, -1).unflatten(-1, (3, 2))


def _axes_rate(
    angles: Float[Tensor, "*batch 2"], rates: Float[Tensor, "*batch 2"]
) -> Float[Tensor, "*batch 3"]:
    """Return how fast the axes turn, times the rates."""
    sine, cosine, both = angles[..., 1].sin(), angles[..., 1].cos(), rates.prod(-1)
    return torch.stack((-sine * both, torch.zeros_like(both), cosine * both), -1)
