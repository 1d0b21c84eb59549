"""The workspace and the targets refuse what cannot be."""

import math

import pytest

from ricochet.models.systems.bouncing_ball.tracking import workspace
from ricochet.models.systems.bouncing_ball.tracking.workspace import MotionTarget, Workspace


def test_bounds_belong_to_the_workspace_and_nan_does_not() -> None:
    place = Workspace()
    assert workspace.contains(place, 0.35, 0.0) and workspace.contains(place, *place.home)
    assert not workspace.contains(place, 0.3501, 0.2)
    assert not workspace.contains(place, 0.0, -0.0001)
    assert not workspace.contains(place, math.nan, 0.2)


@pytest.mark.parametrize(
    "change",
    [{"y": (0.1, 0.1)}, {"z": (math.nan, 1.0)}, {"paddle_radius": 0.0}, {"home": (1.0, 1.0)}],
)
def test_a_workspace_without_room_is_refused(change: dict) -> None:
    with pytest.raises(ValueError, match="workspace: "):
        Workspace(**change)


@pytest.mark.parametrize(
    "y, z, duration", [(math.nan, 0.1, 1.0), (0.0, math.inf, 1.0), (0.0, None, 0.0)]
)
def test_a_target_that_is_not_finite_or_due_already_cannot_be_made(
    y: float, z: float | None, duration: float
) -> None:
    with pytest.raises(ValueError, match="target: "):
        MotionTarget(issued=0.0, y=y, z=z, duration=duration, reason="test")


@pytest.mark.parametrize(
    "place, away",
    [
        ((0.30, -0.25, 0.0762), 0.0),
        ((0.25, -0.30, 0.0762), 0.05),
        ((0.30, 0.0, 0.60), 0.1 - 0.05715),
        ((0.34, 0.43, 0.56), math.hypot(0.04, 0.1 - 0.05715)),
    ],
)
def test_how_far_a_thing_stands_from_all_that_the_paddle_can_strike(
    place: tuple[float, float, float], away: float
) -> None:
    assert workspace.clearance(Workspace(), place) == pytest.approx(away, abs=1e-12)
