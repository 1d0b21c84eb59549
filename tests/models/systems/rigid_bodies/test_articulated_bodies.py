"""Dynamics of chains: MuJoCo's accelerations, differences, energy and the integrator's order."""

from dataclasses import replace
from itertools import pairwise

import mujoco
import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from ricochet.models.systems.rigid_bodies import articulated_bodies
from ricochet.models.systems.rigid_bodies.articulated_bodies import Chain

COUNTS = [1, 2, 5, 9]


def random_chain(count: int, draw: np.random.Generator, batch: tuple[int, ...] = ()) -> Chain:
    """A chain of bodies of any place, axis and inertia; `batch` varies what may differ."""
    axes = draw.standard_normal((count, 3))
    frames = Rotation.random(count, rng=draw).as_matrix()
    points = 0.4 * draw.standard_normal((*batch, count, 5, 3))  # of a body, so that it can exist
    second = np.swapaxes(points, -1, -2) @ points
    bodies = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    return Chain(
        *(
            torch.from_numpy(np.asarray(values))
            for values in (
                axes / np.linalg.norm(axes, axis=1, keepdims=True),
                0.4 * draw.standard_normal((*batch, count, 3)),
                frames,
                draw.uniform(0.5, 3.0, (*batch, count)),
                0.2 * draw.standard_normal((*batch, count, 3)),
                bodies,
                draw.uniform(0.0, 0.5, (*batch, count)),
            )
        )
    )


def quaternion(matrix: np.ndarray | torch.Tensor) -> np.ndarray:
    return Rotation.from_matrix(np.asarray(matrix)).as_quat(scalar_first=True)


def in_mujoco(chain: Chain) -> mujoco.MjModel:
    """The same chain as MuJoCo builds it."""
    spec = mujoco.MjSpec()
    spec.option.gravity = chain.gravity
    body = spec.worldbody
    for number in range(len(chain.axes)):
        moments, axes = np.linalg.eigh(chain.inertias[number].numpy())
        axes = axes * np.linalg.det(axes)
        body = body.add_body(pos=chain.places[number].numpy(), quat=quaternion(chain.turns[number]))
        body.mass, body.ipos = float(chain.masses[number]), chain.centres[number].numpy()
        body.inertia, body.iquat = moments, quaternion(axes)
        body.explicitinertial = True
        joint = body.add_joint(axis=chain.axes[number].numpy())
        joint.type = mujoco.mjtJoint.mjJNT_HINGE
        joint.damping[0] = float(chain.damping[number])
    return spec.compile()


@pytest.mark.parametrize("count", COUNTS)
def test_accelerations_are_those_of_mujoco(count: int) -> None:
    draw = np.random.default_rng(count)
    for _ in range(5):
        chain = random_chain(count, draw)
        model = in_mujoco(chain)
        data = mujoco.MjData(model)
        data.qpos, data.qvel = draw.uniform(-3.0, 3.0, count), 3.0 * draw.standard_normal(count)
        torques = draw.standard_normal(count)
        data.qfrc_applied = torques
        mujoco.mj_forward(model, data)
        found = articulated_bodies.accelerations(
            chain, *(torch.tensor(each) for each in (data.qpos, data.qvel, torques))
        )
        scale = max(1.0, float(np.abs(data.qacc).max()))
        np.testing.assert_allclose(found.numpy(), data.qacc, rtol=0.0, atol=1e-9 * scale)


def test_a_batch_is_its_rows() -> None:
    draw = np.random.default_rng(1)
    chain = random_chain(3, draw, (2, 4))
    angles, rates = (torch.from_numpy(draw.standard_normal((2, 4, 3))) for _ in range(2))
    whole = articulated_bodies.accelerations(chain, angles, rates)
    for place in np.ndindex(2, 4):
        varied = ("places", "masses", "centres", "inertias", "damping")
        own = {name: getattr(chain, name)[place] for name in varied}
        one = Chain(axes=chain.axes, turns=chain.turns, **own)
        found = articulated_bodies.accelerations(one, angles[place], rates[place])
        torch.testing.assert_close(found, whole[place], rtol=1e-12, atol=1e-12)


def test_derivatives_are_those_of_differences() -> None:
    draw = np.random.default_rng(2)
    chain = random_chain(3, draw)
    inputs = [
        torch.from_numpy(draw.standard_normal(3)).requires_grad_(),
        torch.from_numpy(draw.standard_normal(3)).requires_grad_(),
        chain.masses.clone().requires_grad_(),
        chain.centres.clone().requires_grad_(),
        chain.inertias.clone().requires_grad_(),
        chain.places.clone().requires_grad_(),
    ]

    def found(angles, rates, masses, centres, inertias, places):
        own = Chain(chain.axes, places, chain.turns, masses, centres, inertias, chain.damping)
        return articulated_bodies.accelerations(own, angles, rates)

    assert torch.autograd.gradcheck(found, inputs, eps=1e-6, atol=1e-6)


def energy(chain: Chain, angles: torch.Tensor, rates: torch.Tensor) -> float:
    model = in_mujoco(chain)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    data.qpos, data.qvel = angles.numpy(), rates.numpy()
    mujoco.mj_forward(model, data)
    return float(data.energy.sum())


def rolled(chain: Chain, steps: int, duration: float) -> tuple[torch.Tensor, torch.Tensor]:
    angles = torch.tensor([0.9, -0.4], dtype=torch.float64)
    rates = torch.tensor([0.2, 0.5], dtype=torch.float64)
    for _ in range(steps):
        angles, rates = articulated_bodies.step(chain, angles, rates, duration / steps)
    return angles, rates


@pytest.mark.proof
def test_steps_converge_with_their_first_power_and_so_does_the_energy() -> None:
    plain = random_chain(2, np.random.default_rng(3))
    chain = replace(plain, damping=torch.zeros(2, dtype=torch.float64))
    ends = [rolled(chain, steps, 0.4) for steps in (100, 200, 400)]
    first, second = (
        float(torch.linalg.norm(torch.cat(coarse) - torch.cat(fine)))
        for coarse, fine in pairwise(ends)
    )
    assert first / second == pytest.approx(2.0, rel=0.1)
    before = energy(chain, *rolled(chain, 1, 0.0))
    drifts = [abs(energy(chain, *end) - before) for end in ends]
    assert drifts[1] / drifts[2] == pytest.approx(2.0, rel=0.2)
