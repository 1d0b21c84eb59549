"""Recordings of a carried box as motions."""

from functools import cache

import numpy as np
import pytest
import torch

from ricochet.models.arms import panda
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.rigid_bodies import (
    box_motion,
    box_parameters,
    box_shooting,
    carried_box,
)
from ricochet.models.systems.rigid_bodies.shaking import RATE, READY
from tests.models.systems.rigid_bodies import boxes

DOWN = torch.tensor((0.0, 0.0, GRAVITY)).double()


def seen(joints: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Points of the world without noise."""
    frame = panda.flange(joints)
    own = carried_box.turned(angles)
    return np.einsum("nij,nkj->nki", frame[:, :3, :3], own) + frame[:, None, :3, 3]


@cache
def recorded() -> tuple[np.ndarray, np.ndarray]:
    """Joints, and states of a loaded box that hangs still at first."""
    joints = boxes.short_waves()
    numbers = box_parameters.loaded(boxes.parameters(1))
    return joints, box_shooting.from_rest(numbers, joints, RATE)[0].numpy()


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (0.3, -0.2), (-0.4, 0.5)])
def test_at_rest_nothing_accelerates_however_the_flange_is_tilted(tilt) -> None:
    joints = READY + np.array((0.0, 0.0, 0.0, 0.0, *tilt, 0.0))
    pull = carried_box.carried(np.tile(joints, (5, 1)), RATE, 1)[0]
    numbers = box_parameters.loaded(boxes.parameters(20))
    found = box_shooting.at_rest(numbers, -pull[6:])
    held = pull[:, None].expand(9, 20)
    away = box_motion.accelerations(numbers.T, found[:, :2].T, found[:, 2:].T, held)
    assert float(torch.stack(away).abs().max()) < 1e-9
    assert not bool(found[:, 2:].any())


def test_at_rest_the_box_hangs_and_does_not_stand() -> None:
    """A small push comes back: the centre is below the joint."""
    numbers = box_parameters.loaded(boxes.parameters(20))
    rest = box_shooting.at_rest(numbers, DOWN)
    pull = torch.cat((torch.zeros(6).double(), -DOWN))[:, None].expand(9, 20)
    for axis in range(2):
        pushed = rest.clone()
        pushed[:, axis] += 0.01
        back = box_motion.accelerations(numbers.T, pushed[:, :2].T, pushed[:, 2:].T, pull)
        assert float(back[axis].max()) < 0.0


def test_a_box_at_rest_on_an_arm_that_does_not_move_stays_and_on_one_that_does_moves() -> None:
    numbers = box_parameters.loaded(boxes.parameters(3))
    still = np.tile(READY + np.array((0.0, 0.0, 0.0, 0.0, 0.2, -0.3, 0.0)), (80, 1))
    found = box_shooting.from_rest(numbers, still, RATE)
    assert found.shape == (3, 80, 4)
    assert float((found - found[:, :1]).abs().max()) < 1e-10
    moved = box_shooting.from_rest(numbers, boxes.short_waves(), RATE)
    assert float((moved - moved[:, :1]).abs().max()) > 0.05


def test_states_of_points_are_the_angles_and_their_rates() -> None:
    """The rate of a cubic through 21 frames: of smooth angles all but exact."""
    joints, times = boxes.short_waves(), np.arange(200) / RATE
    wanted = 0.3 * np.stack((np.sin(3.0 * times), np.cos(2.0 * times)), 1)[: len(joints)]
    rates = 0.3 * np.stack((3.0 * np.cos(3.0 * times), -2.0 * np.sin(2.0 * times)), 1)
    found = box_shooting.states(seen(joints[:200], wanted), joints[:200], RATE)
    np.testing.assert_allclose(found[:, :2], wanted, atol=1e-12)
    np.testing.assert_allclose(found[:, 2:], rates[: len(found)], atol=5e-3)


def test_the_box_that_moved_has_neither_residuals_nor_defects_and_another_has_both() -> None:
    joints, states = recorded()
    kinds = (box_parameters.loaded,)
    shooting = box_shooting.shooting((states,), (joints,), RATE, kinds)
    assert shooting.observable == 2
    assert shooting.windows == (len(joints) - 1) // shooting.steps
    theta = boxes.parameters(2)
    starts = shooting.starts.expand(2, -1, -1, -1)
    shot = shooting.at(theta, starts)
    assert float(shot.residuals[0].abs().max()) < 1e-9
    assert float(shot.defects[0].abs().max()) < 1e-9
    other = shot.residuals[1].square().mean().sqrt()
    assert float(other) > 1e-2


def test_windows_and_recordings_stand_side_by_side() -> None:
    """An empty and a loaded box together are each alone."""
    joints, states = recorded()
    kinds = (box_parameters.empty_of_both, box_parameters.loaded)
    both = box_shooting.shooting((states, states), (joints, joints), RATE, kinds, windows=1)
    theta = boxes.parameters(2)
    shot = both.at(theta, both.starts.expand(2, -1, -1, -1))
    for place, kind in enumerate(kinds):
        one = box_shooting.shooting((states,), (joints,), RATE, (kind,), windows=1)
        alone = one.at(theta, one.starts.expand(2, -1, -1, -1))
        first, second = shot.residuals[:, place] * both.scale[:2], alone.residuals[:, 0]
        torch.testing.assert_close(first, second * one.scale[:2])


def test_limits_of_the_box_alone_are_the_first_of_both() -> None:
    alone, both = box_shooting.limits(weights=False), box_shooting.limits()
    assert len(alone.low) == 11 and len(both.low) == 15
    torch.testing.assert_close(both.low[:11], alone.low)
    torch.testing.assert_close(both.high[:11], alone.high)


def test_recordings_that_tell_nothing_are_refused() -> None:
    joints, states = recorded()
    kinds = (box_parameters.loaded,)
    with pytest.raises(ValueError, match="15 frames, expected at least 21"):
        box_shooting.shooting((states[:15],), (joints[:15],), RATE, kinds)
    with pytest.raises(ValueError, match="nothing that moves, expected a shaken box"):
        box_shooting.shooting((np.zeros_like(states),), (joints,), RATE, kinds)
    with pytest.raises(ValueError, match="20 frames, expected at least 21"):
        box_shooting.slopes(states[:20, :2], RATE)
