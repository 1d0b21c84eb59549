"""The twin of a shaken box: MuJoCo's motion is ours where nothing departs from the equations."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from ricochet.hardware.twins import shaken_box
from ricochet.hardware.twins.shaken_box import BoxTruth
from ricochet.models.arms import panda
from ricochet.models.systems.rigid_bodies import (
    box_motion,
    box_parameters,
    box_shooting,
    carried_box,
    shaking,
)

pytestmark = pytest.mark.slow
RATE = 100.0
SIMPLE = BoxTruth(
    inertia=(0.07, 0.065, 0.06, 0.002, -0.001, 0.0015),
    centre=(0.002, -0.003, 0.22),
    friction=(0.03, 0.04),
    dry_friction=0.0,
    lid_stiffness=1e4,
    lid_damping=2.0,
    noise=0.0,
)
"""What the equations have, and a lid that does not bend."""
LOADS = ((0.08, -0.04), (-0.03, 0.05))


@cache
def joints() -> np.ndarray:
    """A second and a half of waves, and a rest before them."""
    return shaking.waves(shaking.TELLING, 3.0)[:180]


@cache
def recorded(truth: BoxTruth, weights: tuple = LOADS, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return shaken_box.record(truth, joints(), RATE, draw, weights=weights)


def angles(points: np.ndarray) -> np.ndarray:
    return carried_box.angles(carried_box.in_flange(points, joints()))


def expected(truth: BoxTruth, weights: tuple) -> np.ndarray:
    """Angles from rest by the equations, in short steps: 0.5 ms, as the twin's."""
    numbers = (*truth.inertia, *truth.centre, *truth.friction)
    own = box_parameters.of_empty(torch.tensor(numbers).double()[None])
    if weights:
        own = box_parameters.with_weights(own, torch.tensor([sum(weights, ())]).double())
    substeps = round(1.0 / (RATE * shaken_box.STEP))
    carried = carried_box.carried(joints(), RATE, substeps)
    start = box_shooting.at_rest(own, -carried[0, 6:])
    moved = box_motion.move(own, start, carried, short=shaken_box.STEP, substeps=substeps)
    return torch.cat((start[:, None], moved.states), 1)[0, :, :2].numpy()


def misses(truth: BoxTruth, weights: tuple = LOADS) -> float:
    return float(np.abs(angles(recorded(truth, weights)) - expected(truth, weights)).max())


@pytest.mark.proof
def test_without_departures_it_moves_as_the_equations_say() -> None:
    """Within a milliradian of some 150."""
    for weights in (LOADS, ()):
        assert np.ptp(expected(SIMPLE, weights), axis=0).min() > 0.05
        assert misses(SIMPLE, weights) < 1e-3


@pytest.mark.proof
def test_dry_friction_and_a_lid_that_bends_depart_from_the_equations() -> None:
    """The lid by 0.3 mrad at most: five standard errors of an amplitude in 1160 frames."""
    assert misses(replace(SIMPLE, dry_friction=0.005)) > 2e-3
    usual, softer = (
        misses(replace(SIMPLE, lid_stiffness=stiffness, lid_damping=BoxTruth.lid_damping))
        for stiffness in (BoxTruth.lid_stiffness, 0.25 * BoxTruth.lid_stiffness)
    )
    assert usual > 3e-4 > 5.0 * misses(SIMPLE)
    assert softer > 3.0 * usual


def test_weights_that_change_places_are_no_difference_and_moved_they_are() -> None:
    one, other, moved = (
        angles(recorded(SIMPLE, each)) for each in (LOADS, LOADS[::-1], (LOADS[0], (0.03, -0.05)))
    )
    np.testing.assert_allclose(one, other, atol=1e-9)
    assert np.abs(one - moved).max() > 1e-2


def test_the_flange_goes_as_prescribed_and_the_axes_are_a_metre_long() -> None:
    points, frame = recorded(SIMPLE), panda.flange(joints())
    np.testing.assert_allclose(points[:, 0], frame[:, :3, 3], atol=1e-6)
    axes = points[:, 1:] - points[:, :1]
    np.testing.assert_allclose(
        axes @ axes.swapaxes(1, 2), np.tile(np.eye(3), (180, 1, 1)), atol=1e-9
    )


def test_points_are_seen_with_the_noise_that_is_said() -> None:
    """2160 coordinates: three standard errors of a deviation are 3 / sqrt(4320) = 4.6 %."""
    sigma = 2e-3
    away = recorded(replace(SIMPLE, noise=sigma)) - recorded(SIMPLE)
    assert abs(away.std() / sigma - 1.0) < 0.046
    other = recorded(replace(SIMPLE, noise=sigma), LOADS, 1)
    assert (other != recorded(replace(SIMPLE, noise=sigma))).any()


def test_however_the_box_is_hung_it_begins_at_rest() -> None:
    """The first third of a second nothing moves the arm, nor what dry friction held."""
    for truth in (SIMPLE, replace(SIMPLE, dry_friction=0.005)):
        still = angles(recorded(truth))[: round(shaking.REST * RATE)]
        assert np.ptp(still, axis=0).max() < 1e-4
    one, other = (angles(recorded(SIMPLE, LOADS, seed)) for seed in (0, 1))
    np.testing.assert_allclose(one, other, atol=1e-4)
