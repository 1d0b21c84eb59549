"""The double pendulum: the chain of the articulated-body algorithm, differences, and its rank."""

from typing import Any

import numpy as np
import pytest
import torch

from ricochet.models.systems.rigid_bodies import (
    articulated_bodies,
    double_pendulum,
    pendulum_parameters,
)
from ricochet.models.systems.rigid_bodies.articulated_bodies import Chain
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS

STEP: dict[str, Any] = {"steps": 40, "duration": 2.5e-3}


def some_parameters(count: int, seed: int = 0) -> torch.Tensor:
    share = np.random.default_rng(seed).uniform(0.05, 0.6, (count, len(PARAMETERS)))
    return torch.from_numpy(LOW + share * (HIGH - LOW))


def some_states(count: int, seed: int = 1) -> torch.Tensor:
    draw = np.random.default_rng(seed)
    return torch.from_numpy(draw.uniform(-3.0, 3.0, (count, 4)) * (1.0, 1.0, 3.0, 3.0))


def as_chain(theta: torch.Tensor) -> Chain:
    """The same pendulum as a chain of bodies that turn about z, gravity along x."""
    m1, i1, x1, y1, d1, length, m2, i2, x2, y2, d2 = theta.unbind(-1)
    zero = torch.zeros_like(m1)
    about = torch.diag_embed(torch.stack((zero, zero, i1, zero, zero, i2), -1))
    return Chain(
        axes=torch.tensor([[0.0, 0.0, 1.0]] * 2, dtype=torch.float64),
        places=torch.stack((zero, zero, zero, length, zero, zero), -1).unflatten(-1, (2, 3)),
        turns=torch.eye(3, dtype=torch.float64).expand(2, 3, 3),
        masses=torch.stack((m1, m2), -1),
        centres=torch.stack((x1, y1, zero, x2, y2, zero), -1).unflatten(-1, (2, 3)),
        inertias=torch.stack((about[..., :3, :3], about[..., 3:, 3:]), -3),
        damping=torch.stack((d1, d2), -1),
        gravity=(9.81, 0.0, 0.0),
    )


def by_bodies(theta: torch.Tensor, states: torch.Tensor, steps: int, duration: float):
    chain, found = as_chain(theta), []
    angles, rates = states[..., :2], states[..., 2:]
    for _ in range(steps):
        angles, rates = articulated_bodies.step(chain, angles, rates, duration)
        found.append(torch.cat((angles, rates), -1))
    return torch.stack(found, -2)


@pytest.mark.parametrize("shape", [(4,), (1, 4), (5, 1, 4), (1, 3, 4), (5, 3, 4)])
def test_parameters_and_starts_broadcast(shape: tuple[int, ...]) -> None:
    theta, starts = some_parameters(5)[:, None], torch.ones(shape, dtype=torch.float64)
    every = starts.expand(5, 3, 4)
    expected = double_pendulum.roll_out(theta.expand(5, 3, 11), every, **STEP)
    narrow = shape[-2:] != (3, 4) and shape != (1, 3, 4)
    expected = expected[:, :1] if narrow else expected
    for found in (
        double_pendulum.roll_out(theta, starts, **STEP),
        double_pendulum.move(theta, starts, **STEP).states,
    ):
        torch.testing.assert_close(found, expected)


def test_it_moves_as_the_chain_of_two_bodies() -> None:
    theta, states = some_parameters(50), some_states(50)
    found = double_pendulum.roll_out(theta, states, **STEP)
    torch.testing.assert_close(found, by_bodies(theta, states, **STEP), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("substeps", [1, 4])
def test_derivatives_are_those_that_torch_finds(substeps: int) -> None:
    theta, states = some_parameters(3), some_states(3)

    def last(theta: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        return double_pendulum.roll_out(theta, states, **STEP, substeps=substeps)[..., -1, :]

    motion = double_pendulum.move(theta, states, **STEP, substeps=substeps)
    torch.testing.assert_close(motion.states[:, -1], last(theta, states), rtol=1e-12, atol=1e-12)
    found = motion.jacobian()
    by_parameter, by_start = torch.vmap(torch.func.jacrev(last, (0, 1)))(theta, states)
    torch.testing.assert_close(found.by_parameter[:, -1], by_parameter, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found.by_start[:, -1], by_start, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("substeps", [1, 3])
def test_the_gradient_is_the_jacobian_times_the_weights(substeps: int) -> None:
    theta, states = some_parameters(4)[:, None], some_states(4 * 3).reshape(4, 3, 4)
    motion = double_pendulum.move(theta, states, **STEP, substeps=substeps)
    weights = torch.from_numpy(np.random.default_rng(3).standard_normal(motion.states.shape))
    by_start, by_parameter = motion.gradient(weights)
    full = motion.jacobian()
    expected = (weights[..., None] * full.by_start).sum((-3, -2))
    torch.testing.assert_close(by_start, expected, rtol=1e-9, atol=1e-9)
    expected = (weights[..., None] * full.by_parameter).sum((-3, -2))
    torch.testing.assert_close(by_parameter, expected, rtol=1e-9, atol=1e-9)


def test_particles_and_windows_are_rolled_out_together() -> None:
    theta, states = some_parameters(5), some_states(5 * 3).reshape(5, 3, 4)
    motion = double_pendulum.move(theta[:, None], states, **STEP)
    found = motion.jacobian()
    assert found.by_parameter.shape == (5, 3, 40, 4, 11)
    for window in range(3):
        one = double_pendulum.move(theta, states[:, window], **STEP)
        torch.testing.assert_close(motion.states[:, window], one.states)
        for name, values in vars(one.jacobian()).items():
            torch.testing.assert_close(getattr(found, name)[:, window], values)


def test_motion_does_not_depend_on_a_common_factor_of_masses_moments_and_friction() -> None:
    theta, states = some_parameters(5), some_states(5)
    factor = torch.tensor([2.0, 2.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0])
    found, same = (
        double_pendulum.roll_out(each, states, **STEP) for each in (theta, theta * factor)
    )
    torch.testing.assert_close(found, same, rtol=1e-10, atol=1e-10)


def test_eight_combinations_of_the_eleven_parameters_can_be_told() -> None:
    theta, states = some_parameters(1), some_states(60)
    found = double_pendulum.move(theta, states, **STEP).jacobian()
    columns = found.by_parameter.reshape(-1, 11) * torch.from_numpy(HIGH - LOW)
    sizes = torch.linalg.svdvals(columns)
    assert float(sizes[7] / sizes[0]) > 1e-6 and float(sizes[8] / sizes[0]) < 1e-12


def test_what_is_identified_spans_what_the_motion_depends_on() -> None:
    """Changes that leave the eight as they are leave the motion; the eight are independent."""
    theta, states = some_parameters(1), some_states(60)
    moves = double_pendulum.move(theta, states, **STEP).jacobian().by_parameter.reshape(-1, 11)
    _, by_parameter = pendulum_parameters.identified(theta[0])
    _, sizes, rows = torch.linalg.svd(by_parameter * torch.from_numpy(HIGH - LOW))
    assert float(sizes[-1]) > 1e-4 * float(sizes[0])
    left = (rows[8:] * torch.from_numpy(HIGH - LOW)).mT
    assert float((moves @ left).abs().max()) < 1e-10 * float(moves.abs().max())
    rates = torch.func.jacrev(lambda each: pendulum_parameters.identified(each)[0])(theta[0])
    torch.testing.assert_close(by_parameter, rates)


def test_mirrored_it_moves_mirrored() -> None:
    theta, states = some_parameters(5), some_states(5)
    mirror = torch.tensor([1.0, 1, 1, -1, 1, 1, 1, 1, 1, -1, 1])
    found, other = (
        double_pendulum.roll_out(each, sign * states, **STEP)
        for each, sign in ((theta, 1.0), (theta * mirror, -1.0))
    )
    torch.testing.assert_close(found, -other, rtol=1e-10, atol=1e-10)
