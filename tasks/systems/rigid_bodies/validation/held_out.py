"""Pieces of the recordings that a posterior was not learnt from, predicted as a controller does.

Each is watched for a tenth of a second (`disc_crossing`). An interval of 90 % of an angle is that
between draws' quantiles, errors of observation added. At the same moments the controller decides
whether something may pass the disc, and the recording says whether it would have been touched.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import dependent_outcomes
from ricochet.models.systems.rigid_bodies.disc_crossing import INTERVALS, WATCHED, Crossing
from ricochet.models.systems.rigid_bodies.pendulum_tracking import LATE, Draws
from ricochet.tasks.systems.rigid_bodies.validation.recordings import HeldOut

AHEAD = (0.25, 0.5)
"""Seconds after the last frame that is seen."""
INTERVAL = INTERVALS["short"]
"""In which the disc is passed."""


@dataclass(frozen=True)
class Predicted:
    """What was predicted, and what came.

    Attributes:
        error: What came less the median of the draws, rad, at each of `AHEAD`.
        half: Half of the 90 % interval, rad.
        inside: Whether the interval holds what came.
        recording: The number of each place's recording.
        passes: Whether the controller passed.
        touched: Whether a link was in the disc.
    """

    error: Float[ndarray, "place ahead 2"]
    half: Float[ndarray, "place ahead 2"]
    inside: Bool[ndarray, "place ahead 2"]
    recording: Int[ndarray, " place"]
    passes: Bool[ndarray, " place"]
    touched: Bool[ndarray, " place"]

    def held(self, ahead: int) -> tuple[float, float]:
        """Return the share that intervals hold, and the number of outcomes it is worth."""
        outcomes = self.inside[:, ahead].astype(float)
        series = [outcomes[self.recording == each] for each in np.unique(self.recording)]
        return float(outcomes.mean()), dependent_outcomes.effective(series)

    @property
    def median_error(self) -> Float[ndarray, " ahead"]:
        """Median size of the errors, rad."""
        return np.asarray(np.median(np.abs(self.error), (0, 2)))

    @property
    def free(self) -> tuple[bool, ...]:
        """Whether each pass was without contact."""
        return tuple(bool(each) for each in ~self.touched[self.passes])


def predict(
    draws: Draws,
    held: Sequence[HeldOut],
    generator: np.random.Generator,
    *,
    progress: Progress = no_progress,
) -> Predicted:
    """Predict all places, a future of each draw."""
    places = [(number, each, now) for number, each in enumerate(held) for now in each.now]
    rows = []
    for done, (_, each, now) in enumerate(places):
        rows.append(_predicted(draws, each.run.states, now, generator))
        progress(done + 1, len(places))
    found = (np.array(column) for column in zip(*rows, strict=True))
    error, half, inside, passes, touched = found
    recording = np.array([number for number, _, _ in places])
    return Predicted(error, half, inside, recording, passes, touched)


def _predicted(
    draws: Draws, states: Float[ndarray, "frame 4"], now: int, generator: np.random.Generator
) -> tuple[ndarray, ndarray, ndarray, bool, bool]:
    crossing, later = Crossing(draws, INTERVAL), Crossing(draws, AHEAD)
    seen = states[now - crossing.frames + 1 + LATE : now + 1 - LATE]
    at = [round(each * draws.rate) for each in AHEAD]
    angles = later.futures(seen, generator)[[0, at[1] - at[0]]]
    blurred = angles + draws.observation[:, :2] * generator.normal(size=angles.shape)
    low, middle, high = np.quantile(blurred, (0.05, 0.5, 0.95), axis=1)
    came = states[[now + each for each in at], :2]
    chance = float(crossing.disc.touched(crossing.futures(seen, generator)).any(0).mean())
    first, last = (now + round(each * draws.rate) for each in INTERVAL)
    touched = bool(crossing.disc.touched(states[first : last + 1, :2]).any())
    inside = (came >= low) & (came <= high)
    return came - middle, 0.5 * (high - low), inside, chance <= crossing.tolerated, touched


def places(held: Sequence[HeldOut]) -> int:
    """Return how many there are."""
    return sum(len(each.now) for each in held)


SURROUNDINGS = {"watched": WATCHED, "ahead": max(AHEAD)}
"""Seconds of a recording that a place takes."""
