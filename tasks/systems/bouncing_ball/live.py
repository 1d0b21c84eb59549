"""What is known of a ball while it bounces: the answer to a bare recording, on the sound so far.

Each look detects the onsets of all sound so far and, if there are new ones, infers restitution from
them as `times_only` does for a whole recording. It leaves out the second hearing for alike clicks,
which the calibration of the finished recording has.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32
from numpy import ndarray

from ricochet.models.sound import onsets
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration import times_only
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import NoBallError
from ricochet.models.systems.bouncing_ball.calibration.times_only import BareCalibration
from ricochet.models.systems.bouncing_ball.chains import parameters

TEMPERATURE = 20.0
"""Of the air, degrees Celsius."""


@dataclass(frozen=True)
class Look:
    """What one look found.

    Attributes:
        first: Number of the first bounce that is new, from 1.
        before: When the bounce before it was, s; None if there was none.
        times: When the new bounces were, s from the begin of the sound.
        answer: Restitution by all bounces so far.
    """

    first: int
    before: float | None
    times: Float[ndarray, " bounce"]
    answer: BareCalibration


class LiveCalibration:
    """The sound of a ball so far and the bounces that were reported."""

    def __init__(self, sample_rate: int, size: Size | None = None) -> None:
        """Begin without sound.

        Args:
            sample_rate: Hz.
            size: Of the ball; None if it is not known.
        """
        self.reported: Float[ndarray, " bounce"] = np.zeros(0)
        self._drag = parameters.drag_prior(size, TEMPERATURE)
        self._rate = sample_rate
        self._parts: list[Float32[ndarray, "channel frame"]] = []
        self._onsets = 0

    @property
    def seconds(self) -> float:
        """Return the length of the sound so far."""
        return sum(part.shape[1] for part in self._parts) / self._rate

    @property
    def peak(self) -> float:
        """Return the largest sample so far, 0 without sound."""
        return max((float(np.abs(part).max()) for part in self._parts), default=0.0)

    def add(self, samples: Float32[ndarray, "channel frame"]) -> None:
        """Append sound."""
        self._parts.append(samples)

    def look(self) -> Look | None:
        """Return what is new; None if there is no new onset, no new bounce or no ball."""
        answer = self._answer() if self._parts else None
        if answer is None:
            return None
        found = np.sort(np.concatenate([drop.times for drop in answer.drops]))
        times = new_bounces(self.reported, found)
        if len(times) == 0:
            return None
        before = float(self.reported[-1]) if len(self.reported) else None
        first, self.reported = len(self.reported) + 1, np.concatenate([self.reported, times])
        return Look(first, before, times, answer)

    def _answer(self) -> BareCalibration | None:
        self._parts = [np.concatenate(self._parts, axis=1)]
        found = onsets.detect(self._parts[0].astype(np.float64), self._rate)
        if len(found.times) == self._onsets:
            return None
        self._onsets = len(found.times)
        try:
            return times_only.calibrate_recording(found, (), self._drag)
        except NoBallError:
            return None


def new_bounces(
    reported: Float[ndarray, " before"], times: Float[ndarray, " bounce"]
) -> Float[ndarray, " new"]:
    """Return the times after the last one reported; two nearer than onsets can be are one.

    >>> new_bounces(np.array([1.0, 1.5]), np.array([1.0, 1.2, 1.5001, 1.9]))
    array([1.9])
    """
    last = reported[-1] if len(reported) else -np.inf
    return times[times > last + onsets.DEAD_TIME / 2.0]
