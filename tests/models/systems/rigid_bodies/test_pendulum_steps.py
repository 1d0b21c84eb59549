"""Steps in numpy: those of the simulator that is inferred with, and what a mirror does."""

import numpy as np
import torch

from ricochet.models.core import constants
from ricochet.models.systems.rigid_bodies import (
    double_pendulum,
    pendulum_parameters,
    pendulum_steps,
)
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies
from tests.models.systems.rigid_bodies import rods

STEPS = {"steps": 120, "duration": 1.0 / rods.RATE, "substeps": 3}


def test_the_motion_is_that_of_the_simulator() -> None:
    own, generator = rods.draws(30, 0.1), np.random.default_rng(0)
    begun = rods.starts(30, generator) + np.array((0.0, 0.0, 3.0, -8.0))
    found = pendulum_steps.roll_out(Bodies.of(own.theta), begun, **STEPS)
    theta, state = torch.from_numpy(own.theta), torch.from_numpy(begun)
    expected = double_pendulum.roll_out(theta, state, **STEPS).numpy()
    np.testing.assert_allclose(found.swapaxes(0, 1), expected, rtol=1e-10, atol=1e-10)
    assert pendulum_steps.GRAVITY == constants.GRAVITY


def test_what_the_motion_depends_on_is_computed_as_elsewhere() -> None:
    theta = rods.draws(5, 0.3).theta
    expected = pendulum_parameters.combinations(torch.from_numpy(theta)).numpy()
    np.testing.assert_allclose(list(vars(Bodies.of(theta)).values()), expected, rtol=1e-14)


def test_a_mirrored_pendulum_moves_as_in_a_mirror() -> None:
    own, generator = rods.draws(4, 0.1), np.random.default_rng(1)
    begun, mirrored = rods.starts(4, generator), own.theta.copy()
    mirrored[:, [3, 9]] *= -1.0
    one = pendulum_steps.roll_out(Bodies.of(own.theta), begun, **STEPS)
    other = pendulum_steps.roll_out(Bodies.of(mirrored), -begun, **STEPS)
    np.testing.assert_allclose(one, -other, rtol=1e-12, atol=1e-12)


def test_repeated_bodies_follow_each_other_and_starts_stay_as_they_are() -> None:
    bodies, begun = Bodies.of(rods.draws(3, 0.1).theta), np.full((6, 4), 0.5)
    found = pendulum_steps.roll_out(bodies.repeated(2), begun, **STEPS)
    np.testing.assert_array_equal(found[:, :3], found[:, 3:])
    np.testing.assert_array_equal(begun, 0.5)
