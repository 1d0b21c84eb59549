"""What a bounce event may be, and how probable that is before it is compared with a belief.

The microphones err (`SensorModel`). An event is, with the probabilities that are products of these,

    inlier             its position is right to within its covariance        1 - outlier_rate
    outlier            its position is anywhere on an area                   outlier_rate
    late arrival       an outlier whose right position follows               outlier_rate late_share
    false alarm        it is no contact                                      false_alarm_rate
    ... after a miss   a contact between the event before and it made none   miss_rate

A hypothesis without a position carries the density of the detected one, 1 / area.
"""

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.tracking.late_arrivals import PositionEstimate


class EventHypothesis(IntEnum):
    """What an event is taken for; the numbers fill `Belief.hypotheses`."""

    INLIER = 0
    OUTLIER = 1
    FALSE_ALARM = 2
    INLIER_AFTER_MISS = 3
    OUTLIER_AFTER_MISS = 4
    LATE_ARRIVAL = 5


_AFTER_MISS = {
    EventHypothesis.INLIER: EventHypothesis.INLIER_AFTER_MISS,
    EventHypothesis.OUTLIER: EventHypothesis.OUTLIER_AFTER_MISS,
}


@dataclass(frozen=True)
class SensorModel:
    """How the microphones err.

    Attributes:
        outlier_rate: Probability that an event's position is wrong.
        flagged_outlier_rate: The same where the localiser doubts it.
        late_share: Share of outliers that come of one late arrival, where one may explain them.
        outlier_area: Area over which the other outliers spread, m^2.
        false_alarm_rate: Probability that an event is no contact.
        miss_rate: Probability that a contact makes no event.
        survey_sd: Error of a position through the microphones' own positions, m, added to its
            covariance.
        unstated_sd: Error of a position that comes without covariance, m.
        restitution_sd: By how much one contact's restitution differs from the ball's.
    """

    outlier_rate: float = 0.15
    flagged_outlier_rate: float = 0.9
    late_share: float = 0.8
    outlier_area: float = 0.4
    false_alarm_rate: float = 0.003
    miss_rate: float = 0.003
    survey_sd: float = 3e-3
    unstated_sd: float = 5e-3
    restitution_sd: float = 0.005


@dataclass(frozen=True)
class Detection:
    """One event.

    Attributes:
        time: When the contact was, if the position is right, s.
        position, covariance: m and m^2, or None.
        flagged: Whether the localiser doubts the position.
        late: Where the contact may have been if its sound reached a microphone late.
    """

    time: float
    arrival: float
    position: Float[ndarray, " 2"] | None
    covariance: Float[ndarray, "2 2"] | None
    flagged: bool
    late: tuple[PositionEstimate, ...] = ()


@dataclass(frozen=True)
class Hypothesis:
    """One reading of an event.

    Attributes:
        kind: What the event is taken for.
        probability: Before it is compared with a belief; times a density per m^2 where the
            detected position is not explained by `position`.
        position: Where the contact was; None where that is unknown, and the sound's travel with it.
    """

    kind: EventHypothesis
    probability: float
    position: PositionEstimate | None = None


def hypotheses(
    detection: Detection, sensor: SensorModel, *, after_miss: bool = False
) -> tuple[Hypothesis, ...]:
    """Return what an event may be if it is a contact, or the one after a contact without event."""
    wrong = sensor.flagged_outlier_rate if detection.flagged else sensor.outlier_rate
    share = sensor.late_share if detection.late else 0.0
    own, late = _own_position(detection, sensor), () if after_miss else detection.late
    table = (
        (EventHypothesis.INLIER, 1.0 - wrong, (own,) if own else ()),
        (EventHypothesis.OUTLIER, wrong * (1.0 - share) / _area(detection, sensor), (None,)),
        (EventHypothesis.LATE_ARRIVAL, wrong * share / max(len(late), 1), late),
    )
    contact = 1.0 - sensor.false_alarm_rate
    return tuple(
        Hypothesis(
            _AFTER_MISS[kind] if after_miss else kind,
            odds * math.exp(position.log_stretch if position else 0.0) * contact,
            position,
        )
        for kind, odds, positions in table
        for position in positions
    )


def false_alarm(detection: Detection, sensor: SensorModel) -> Hypothesis:
    """Return the hypothesis that an event is no contact."""
    probability = sensor.false_alarm_rate / _area(detection, sensor)
    return Hypothesis(EventHypothesis.FALSE_ALARM, probability)


def _area(detection: Detection, sensor: SensorModel) -> float:
    """Area over which an unexplained position may lie, m^2; 1 where there is no position."""
    return 1.0 if detection.position is None else sensor.outlier_area


def _own_position(detection: Detection, sensor: SensorModel) -> PositionEstimate | None:
    """Return the detected position with the covariance that it has if it is right."""
    if detection.position is None:
        return None
    if detection.covariance is None:
        covariance = sensor.unstated_sd**2 * np.eye(2)
    else:
        covariance = detection.covariance + sensor.survey_sd**2 * np.eye(2)
    return PositionEstimate(detection.position, covariance, 0.0)
