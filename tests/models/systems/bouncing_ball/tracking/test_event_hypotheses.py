"""The hypotheses about an event exhaust what it may be, and say what the sensor model says."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.tracking import event_hypotheses
from ricochet.models.systems.bouncing_ball.tracking.event_hypotheses import (
    Detection,
    EventHypothesis,
    SensorModel,
)
from ricochet.models.systems.bouncing_ball.tracking.late_arrivals import PositionEstimate

SENSOR = SensorModel()
PLACED = Detection(1.0, 1.001, np.array([0.1, 0.0]), 1e-6 * np.eye(2), flagged=False)
LATE = tuple(
    PositionEstimate(np.array([x, 0.0]), 1e-4 * np.eye(2), stretch)
    for x, stretch in ((0.0, 0.2), (0.2, -0.3))
)


def total(detection: Detection) -> float:
    """Probability of all readings, with densities integrated over the sensor's area.

    A late arrival's density over the detected position integrates to its own share: its stretch is
    the Jacobian of that density.
    """
    area = 1.0 if detection.position is None else SENSOR.outlier_area
    found = event_hypotheses.hypotheses(detection, SENSOR)
    sums = [event_hypotheses.false_alarm(detection, SENSOR).probability * area]
    for each in found:
        if each.kind == EventHypothesis.LATE_ARRIVAL:
            assert each.position is not None
            sums.append(each.probability / np.exp(each.position.log_stretch))
        else:
            sums.append(each.probability * (area if each.position is None else 1.0))
    return sum(sums)


@pytest.mark.parametrize("flagged", [False, True])
@pytest.mark.parametrize("late", [(), LATE, LATE[:1]])
def test_probabilities_sum_to_one(late: tuple[PositionEstimate, ...], flagged: bool) -> None:
    detection = replace(PLACED, late=late, flagged=flagged)
    assert total(detection) == pytest.approx(1.0)


def test_a_flag_moves_probability_from_inliers_to_outliers() -> None:
    odds = [
        {h.kind: h.probability for h in event_hypotheses.hypotheses(each, SENSOR)}
        for each in (PLACED, replace(PLACED, flagged=True))
    ]
    assert odds[0][EventHypothesis.INLIER] > odds[1][EventHypothesis.INLIER]
    assert odds[0][EventHypothesis.OUTLIER] < odds[1][EventHypothesis.OUTLIER]


def test_an_event_without_a_position_is_no_inlier() -> None:
    nowhere = replace(PLACED, position=None, covariance=None)
    kinds = [h.kind for h in event_hypotheses.hypotheses(nowhere, SENSOR)]
    assert kinds == [EventHypothesis.OUTLIER]
    kinds = [h.kind for h in event_hypotheses.hypotheses(nowhere, SENSOR, after_miss=True)]
    assert kinds == [EventHypothesis.OUTLIER_AFTER_MISS]


def test_after_a_miss_there_are_the_same_odds_but_no_late_arrival() -> None:
    """A late arrival after a miss is rare twice and left out; it counts neither way."""
    detection = replace(PLACED, late=LATE)
    plain = event_hypotheses.hypotheses(detection, SENSOR)
    missed = event_hypotheses.hypotheses(detection, SENSOR, after_miss=True)
    assert [h.kind for h in missed] == [
        EventHypothesis.INLIER_AFTER_MISS,
        EventHypothesis.OUTLIER_AFTER_MISS,
    ]
    assert [h.probability for h in missed] == [h.probability for h in plain[:2]]


def test_an_inlier_is_as_exact_as_its_covariance_and_the_survey() -> None:
    (inlier, _) = event_hypotheses.hypotheses(PLACED, SENSOR)
    assert inlier.position is not None
    np.testing.assert_allclose(inlier.position.covariance, (1e-6 + 9e-6) * np.eye(2))
    (unstated, _) = event_hypotheses.hypotheses(replace(PLACED, covariance=None), SENSOR)
    assert unstated.position is not None
    np.testing.assert_allclose(unstated.position.covariance, 25e-6 * np.eye(2))
