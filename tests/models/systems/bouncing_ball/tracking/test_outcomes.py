"""How tosses are judged and counted."""

import math

import numpy as np
import pytest

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.tracking import outcomes as ball_tracking
from ricochet.models.systems.bouncing_ball.tracking.outcomes import KINDS, Outcome
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

REACH = 0.05715 + 0.02


def _judge(crossing: tuple[float, float] | None, outliers: tuple[int, ...] = ()) -> str:
    place = None if crossing is None else np.array(crossing)
    kind, _ = ball_tracking.judge(
        place, np.array([0.0, 0.2]), workspace=Workspace(), ball_radius=0.02, outliers=outliers
    )
    return kind


@pytest.mark.parametrize(
    "crossing, outliers, kind",
    [
        ((0.0, 0.2 + 0.999 * REACH), (), "success"),
        ((0.0, 0.2 + 1.001 * REACH), (), "missed"),
        ((0.0, 0.2 + 1.001 * REACH), (2,), "outliers"),
        ((0.6 * REACH, 0.2 - 0.79 * REACH), (1,), "success"),
        ((0.35 + 1.001 * REACH, 0.2), (), "boundaries"),
        ((0.35 + 0.999 * REACH, 0.2), (), "missed"),
        ((0.0, -1.001 * REACH), (3,), "boundaries"),
        ((0.0, -0.999 * REACH), (3,), "outliers"),
        ((0.35 + 0.8 * REACH, 0.5 + 0.8 * REACH), (), "boundaries"),
        (None, (), "boundaries"),
    ],
)
def test_a_toss_is_judged_by_where_the_ball_crosses(crossing, outliers, kind) -> None:
    assert _judge(crossing, outliers) == kind


def _event(time: float, place: tuple[float, float] | None) -> BounceEvent:
    position = None if place is None else np.array(place)
    return BounceEvent(time, time + 1e-3, position, np.eye(2) * 1e-6, place is None, 20.0)


def test_bounces_that_were_mislocated_or_missed_are_counted_from_one() -> None:
    times = np.array([0.1, 0.5, 0.8, 1.0])
    positions = np.zeros((4, 2))
    events = [
        _event(0.1, (0.001, 0.0)),
        _event(0.5, (0.0, 0.051)),
        _event(0.8, None),
        _event(1.3, (0.0, 0.0)),
    ]
    assert ball_tracking.mislocated(times, positions, events) == (2, 3, 4)
    assert ball_tracking.mislocated(times, positions, []) == (1, 2, 3, 4)


def test_shares_are_taken_within_the_boundaries() -> None:
    kinds = ["success"] * 6 + ["outliers"] * 3 + ["missed"] + ["boundaries"] * 5
    outcomes = [Outcome(kind, 0.1 * i, 0.1, (1, 3)) for i, kind in enumerate(kinds)]
    row = ball_tracking.row(outcomes)
    assert (row["success"], row["outliers"], row["missed"]) == (0.6, 0.3, 0.1)
    assert row["boundaries"] == pytest.approx(1 / 3)
    assert sum(row["counts"][kind] for kind in KINDS) == 15
    assert row["energy"] == pytest.approx(0.7)
    assert row["energy_successes"] == pytest.approx(0.25)
    assert row["outliers_by_bounce"] == {"first": 3, "second": 0, "later": 0}
    low, high = row["success_interval"]
    assert low < 0.6 < high
    # Clopper and Pearson: as likely as not to see so many or more at the low end, 2.5 %
    at_least = sum(math.comb(10, k) * low**k * (1 - low) ** (10 - k) for k in range(6, 11))
    assert at_least == pytest.approx(0.025, rel=1e-6)


def test_no_toss_is_no_share() -> None:
    row = ball_tracking.row([])
    assert row["energy"] is None
    assert row["success_interval"] == (0.0, 1.0)
