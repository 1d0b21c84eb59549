"""How well a motion of the arm tells where weights lie."""

import numpy as np
import pytest
import torch

from ricochet.models.systems.rigid_bodies import (
    box_planning,
    box_shooting,
    shaking,
)
from ricochet.models.systems.rigid_bodies.shaking import RATE, TELLING
from tests.models.systems.rigid_bodies import boxes


def planned(joints: np.ndarray, theta: torch.Tensor, discrepancy: float = 5e-4) -> float:
    return box_planning.planned_deviation(joints, RATE, theta, discrepancy=discrepancy)


@pytest.mark.slow
def test_larger_motions_tell_more_and_larger_departures_less(monkeypatch) -> None:
    theta = box_planning.likely(2)
    usual, larger = (planned(boxes.short_waves(size), theta) for size in (0.5, 1.0))
    assert larger < usual
    wider = tuple(5.0 * each for each in box_planning.DEPARTURE)
    monkeypatch.setattr(box_planning, "DEPARTURE", wider)
    assert planned(boxes.short_waves(), theta) > 1.2 * larger


@pytest.mark.slow
def test_whatever_is_off_twice_as_much_leaves_deviations_twice_as_wide(monkeypatch) -> None:
    """The law is normal about the plan, and the prior far wider than what is told."""
    joints, theta = shaking.waves(TELLING, 5.8), box_planning.likely(2)
    monkeypatch.setattr(box_shooting, "POINT_ERROR", 1e-5)
    monkeypatch.setattr(box_planning, "DEPARTURE", (1e-6, 1e-6, 2e-5, 2e-5))
    narrow = planned(joints, theta, 1e-6)
    monkeypatch.setattr(box_shooting, "POINT_ERROR", 2e-5)
    monkeypatch.setattr(box_planning, "DEPARTURE", (2e-6, 2e-6, 4e-5, 4e-5))
    wide = planned(joints, theta, 2e-6)
    assert wide / narrow == pytest.approx(2.0, rel=0.01)


@pytest.mark.slow
def test_the_motion_that_tells_most_tells_more_than_joints_in_turn() -> None:
    paper, theta = shaking.in_turn(), box_planning.likely(4)
    ours = shaking.waves(TELLING, len(paper) / RATE)
    told = [planned(each, theta) for each in (paper, ours)]
    assert told[1] < 0.7 * told[0]


def test_likely_boxes_are_within_the_limits_and_always_the_same() -> None:
    found, inside = box_planning.likely(64), box_shooting.limits()
    assert bool(((found > inside.low) & (found < inside.high)).all())
    torch.testing.assert_close(box_planning.likely(64), found, rtol=0.0, atol=0.0)
    torch.testing.assert_close(box_planning.likely(8), found[:8], rtol=0.0, atol=0.0)
    assert len(np.unique(found.numpy(), axis=0)) == 64


@pytest.mark.slow
def test_the_more_a_model_may_be_off_the_less_a_motion_tells() -> None:
    joints, theta = shaking.waves(TELLING, 5.8), box_planning.likely(2)
    found = []
    for deviation in (1e-6, 1e-3, 1e-2):
        found.append(planned(joints, theta, deviation))
    assert found[0] < found[1] < 0.7 * found[2]
