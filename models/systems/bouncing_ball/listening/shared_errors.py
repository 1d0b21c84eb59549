"""What the takes of one session share: their array's errors, and the order of its channels.

The localiser states errors that hold the survey of the microphones (`Tolerances.place_sd`) as if
each bounce had one of its own. `own_errors` takes it out again, and `distortion` says what it does
to all bounces together. With weights 1 / (e_m^2 + (p / c)^2), e_m being the arrivals' own errors
and p the survey's, least squares has the own covariance

    (J' W J)^-1 J' W diag(e_m^2) W J (J' W J)^-1,

which is (J' W J)^-1 for three microphones at p = 0.

For chains of bounces (`chains.observations`) the first `LEADING` errors are those of the release;
they move no place that was located, and the array's follow in the order of `array_errors.errors`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.sound import array_errors, multilateration
from ricochet.models.sound.array_errors import Spread
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.channel_order import Impacts
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake

LEADING = len(SHARED)


@dataclass(frozen=True)
class OwnErrors:
    """Errors of each bounce of a take that no other bounce shares.

    Attributes:
        time_sd: s.
        covariances: Of the places, m^2; infinite without a place.
    """

    time_sd: Float[ndarray, " bounce"]
    covariances: Float[ndarray, "bounce 2 2"]

    @property
    def place_sd(self) -> Float[ndarray, " bounce"]:
        """Root mean square over the axes, m."""
        return np.asarray(np.sqrt(np.trace(self.covariances, axis1=1, axis2=2) / 2.0))


def own_errors(take: DetectedTake, microphones: Microphones, *, place_sd: float) -> OwnErrors:
    """Take the survey out of the errors that a take states.

    Args:
        place_sd: `Tolerances.place_sd` with which the take was detected, m.

    Raises:
        ValueError: If the take has no places.
    """
    if take.positions is None or take.arrival_sd is None:
        raise ValueError("positions must be known, got a take of times alone")
    placed = _placed(take)
    covariances = np.broadcast_to(np.diag([np.inf, np.inf]), (len(placed), 2, 2)).copy()
    variance = take.time_sd**2
    sd, survey = take.arrival_sd[placed], place_sd / microphones.speed_of_sound
    points = take.positions[placed]
    whole = multilateration.bound(points, np.hypot(sd, survey), microphones=microphones)
    _, slope = multilateration.gradients(points, microphones=microphones)
    jacobian = np.concatenate([slope, np.ones((*slope.shape[:-1], 1))], axis=-1)
    answer = whole @ np.swapaxes(jacobian / (sd**2 + survey**2)[..., None], 1, 2)
    own = answer @ (np.swapaxes(answer, 1, 2) * sd[..., None] ** 2)
    covariances[placed] = own[:, :2, :2]
    located = ~take.outliers[placed]
    variance[placed] -= np.where(located, whole[:, 2, 2] - own[:, 2, 2], 0.0)
    return OwnErrors(np.sqrt(variance), covariances)


def distortion(
    take: DetectedTake,
    microphones: Microphones,
    *,
    place_sd: float = 0.0,
    spread: Spread | None = None,
) -> Float[ndarray, "bounce 2 error"]:
    """Return A, how errors of one standard deviation each move the places of a take, m.

    Its columns are `LEADING` zeros, then the array's errors; a bounce without a place has zeros.

    Args:
        place_sd: `Tolerances.place_sd` with which the take was detected, m.
        spread: Standard deviations of the errors.

    Raises:
        ValueError: If the take has no places.
    """
    return _distorted(take, microphones, place_sd, spread)[0]


def _distorted(
    take: DetectedTake, microphones: Microphones, place_sd: float, spread: Spread | None
) -> tuple[Float[ndarray, "bounce 2 error"], Float[ndarray, "bounce error"]]:
    """Return what errors add to the places of a take, and relatively to areas about them."""
    if take.positions is None or take.arrival_sd is None:
        raise ValueError("positions must be known, got a take of times alone")
    sizes = array_errors.errors(len(microphones.positions), spread).sd
    found = np.zeros((len(take.times), 2, LEADING + len(sizes)))
    areas = np.zeros((len(take.times), LEADING + len(sizes)))
    placed = _placed(take)
    survey = place_sd / microphones.speed_of_sound
    each = array_errors.distortion(
        take.positions[placed],
        take.times[placed],
        microphones=microphones,
        arrival_sd=np.hypot(take.arrival_sd[placed], survey),
        spread=spread,
    )
    found[placed, :, LEADING:], areas[placed, LEADING:] = each.places, each.areas
    return found, areas


@dataclass(frozen=True)
class Linearised:
    """A take about given errors f of its array: true place = places - distortion f.

    Attributes:
        times: Of emission without these errors, s.
        places: m; NaN without a place.
        distortion: As `distortion` has it.
        areas: What errors of one standard deviation add to areas about each place, relative.
    """

    times: Float[ndarray, " bounce"]
    places: Float[ndarray, "bounce 2"]
    distortion: Float[ndarray, "bounce 2 error"]
    areas: Float[ndarray, "bounce error"]


def linearised(
    take: DetectedTake,
    microphones: Microphones,
    *,
    about: Float[ndarray, " error"],
    place_sd: float = 0.0,
    spread: Spread | None = None,
) -> Linearised:
    """Locate a take anew without errors f of its array, and return the first order about them.

    Where the errors found are many millimetres, chains inferred about zero are inferred again about
    what was found, until that stays.

    Args:
        about: The errors f of the release and the array, in units of their standard deviations.
    """
    if take.positions is None or take.arrival_sd is None:
        raise ValueError("positions must be known, got a take of times alone")
    sizes = about[LEADING:] * array_errors.errors(len(microphones.positions), spread).sd
    placed = _placed(take)
    weights = np.hypot(take.arrival_sd, place_sd / microphones.speed_of_sound)
    places, times = np.full(take.positions.shape, np.nan), take.times.copy()
    places[placed], anew = array_errors.relocated(
        take.positions[placed],
        take.times[placed],
        sizes,
        microphones=microphones,
        arrival_sd=weights[placed],
    )
    located = placed & np.isfinite(places).all(axis=1) & ~take.outliers
    times[located] = anew[located[placed]]
    array, _, _ = array_errors.corrected(microphones, sizes)
    moved = replace(take, positions=places, times=times)
    by, areas = _distorted(moved, array, place_sd, spread)
    return Linearised(times, places + by @ about, by, array_errors.about(areas, about))


def impacts(takes: Sequence[DetectedTake], microphones: Microphones) -> Impacts:
    """Return what arrived of all bounces that were located, for the order of the channels.

    Three microphones fit anything, so that their outliers are other sounds; the outliers of more
    may be the wrong order's own, and stay.
    """
    parts = [_arrived(take, microphones) for take in takes if take.positions is not None]
    empty = np.zeros((0, len(microphones.positions)))
    arrivals, sd, loudness = (
        np.concatenate([empty, *part]) for part in zip(*parts, strict=True)
    ) if parts else (empty, empty, empty)  # fmt: skip
    return Impacts(arrivals, sd, loudness)


def _arrived(
    take: DetectedTake, microphones: Microphones
) -> tuple[Float[ndarray, "bounce channel"], ...]:
    if take.positions is None or take.arrivals is None:
        raise ValueError("positions must be known, got a take of times alone")
    if take.arrival_sd is None or take.gains is None:
        raise ValueError("arrivals must be known, got places alone")
    used = _placed(take)
    if len(microphones.positions) == 3:
        used &= ~take.outliers
    travel, _ = multilateration.gradients(take.positions[used], microphones=microphones)
    loudness = take.gains[used] - np.log(travel)
    return take.arrivals[used], take.arrival_sd[used], loudness


def _placed(take: DetectedTake) -> Bool[ndarray, " bounce"]:
    """Return which bounces were located, outliers among them."""
    if take.positions is None or take.arrival_sd is None:
        return np.zeros(len(take.times), dtype=bool)
    known = np.isfinite(take.arrival_sd).all(axis=1)
    return np.asarray(np.isfinite(take.positions).all(axis=1) & known)
