"""Bounces that were missed: contacts of a chain like the others, of which nothing was detected.

What the flights before and after a missed bounce took together is known; restitution says how they
share it. Such a bounce stands in the chain with weight zero, at a first guess from which the search
for the most likely path starts: its flights last as 1 to r, with r the usual ratio of intervals.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains.observations import Take


def inserted(take: Take, missing: Sequence[int]) -> Take:
    """Return a take with the bounces that were missed put in.

    Args:
        missing: Numbers n of bounces between which and the next one was missed.

    Raises:
        ValueError: If a number is not that of a bounce with another after it.
    """
    gaps = np.array(sorted(set(missing)), dtype=int)
    if len(gaps) and not 0 <= gaps[0] <= gaps[-1] < len(take.times) - 1:
        raise ValueError(f"missing: need bounces 0 to {len(take.times) - 2}, found {list(missing)}")
    durations = np.diff(take.times)
    share = 1.0 / (1.0 + _ratio(durations, np.isin(np.arange(len(durations)), gaps)))
    moved = 0.5 * (take.distortion[gaps] + take.distortion[gaps + 1])
    return replace(
        take,
        times=np.insert(take.times, gaps + 1, take.times[gaps] + share * durations[gaps]),
        places=np.insert(take.places, gaps + 1, _between(take.places, gaps, share), axis=0),
        time_sd=np.insert(take.time_sd, gaps + 1, np.inf),
        place_sd=np.insert(take.place_sd, gaps + 1, np.inf),
        distortion=np.insert(take.distortion, gaps + 1, moved, axis=0),
        areas=np.insert(take.areas, gaps + 1, 0.0, axis=0),
    )


def _between(places: Float[ndarray, "bounce 2"], gaps: ndarray, share: float) -> ndarray:
    return (1.0 - share) * places[gaps] + share * places[gaps + 1]


def _ratio(durations: Float[ndarray, " flight"], double: Bool[ndarray, " flight"]) -> float:
    """Return the usual ratio of intervals that hold one flight, or that of a ball at 0.8."""
    whole = ~(double[1:] | double[:-1])
    ratios = durations[1:][whole] / durations[:-1][whole]
    return float(np.clip(np.median(ratios), 0.3, 1.0)) if len(ratios) else 0.8
