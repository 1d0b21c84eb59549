r"""Modes of the puck learnt from places alone, as a camera above a table sees them.

Velocities of the puck are those of its flights (`flights`), smoothed; those of the mallet follow
from its places, unless they were measured, by a white jerk of density j, with r of the greatest
evidence (`place_smoothing`):

    a' = a + N(0, j h),     x, v accordingly.

Contacts then follow as from any record (`mode_fitting`). What floats, does not: smoothed velocities
obey the law of flight that smoothed them, and would give it no noise at all. With e = exp(-d h),

    floating   Theta_1 = e I,   theta_1 = 0,   Sigma_1 = q' h I,      airflow_sd = s,

d, s being those of the greatest evidence, and q' the scatter above it at which the log evidence is
less by 1/2 (one standard error): the greatest evidence of a short record is often that of none.

The errors of smoothed velocities scatter the contacts too; that is taken off
(`measurement_errors`). They pull the laws' numbers by their variance over that of the velocities,
1e-4 and less for places seen to a millimetre.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import optimize

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import (
    flights,
    measurement_errors,
    mode_fitting,
    place_smoothing,
)
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.flights import FlightLaw
from ricochet.models.systems.air_hockey.puck.measurement_errors import Errors
from ricochet.models.systems.air_hockey.puck.place_smoothing import Motion, Smoothed
from ricochet.models.systems.air_hockey.puck.segmentation import Recording
from ricochet.models.systems.air_hockey.table import Table

_KNOWN = 0.05  # m/s, standard deviation of a velocity that is of use
_MALLET_SD = (2.0, 3.0, 10.0)  # of its place, velocity and acceleration, m, m/s, m/s^2
_JERK, _NOISE = (1e-3, 1e6), (1e-5, 2e-2)  # m^2/s^5, m: between which they are sought
_MOST_SCATTER = 100.0  # times that of the greatest evidence, or of `_LITTLE`
_LITTLE = 1e-6  # m^2/s^3


@dataclass(frozen=True)
class Places:
    """Episodes as they were seen, NaN where they were not, padded by it to one length.

    Attributes:
        puck, mallet: Places of the centres, m, in the table's frame.
        puck_velocity, mallet_velocity: m/s; None unless they were measured, not derived.
    """

    puck: Float[ndarray, "episode time 2"]
    mallet: Float[ndarray, "episode time 2"]
    puck_velocity: Float[ndarray, "episode time 2"] | None = None
    mallet_velocity: Float[ndarray, "episode time 2"] | None = None


def fit(places: Places, table: Table) -> tuple[PuckModes, FlightLaw]:
    """Return the modes of what was seen, and how pucks fly and are seen.

    Raises:
        ValueError: Too few contacts of a kind, or no three places in a row.
    """
    law, begins = flights.learn(places.puck, table)
    seen, errors = recording(places, law, begins)
    modes = measurement_errors.corrected(mode_fitting.fit(seen, table), seen, errors, table)
    scatter = cautious_scatter(law, places.puck, begins)
    eye = np.eye(2)
    floating = LinearGaussian(np.exp(-law.drag * PERIOD) * eye, np.zeros(2), scatter * PERIOD * eye)
    return replace(modes, floating=floating, airflow_sd=law.airflow_sd), law


def recording(
    places: Places, law: FlightLaw, begins: Bool[ndarray, "episode time"]
) -> tuple[Recording, Errors]:
    """Return what was seen with velocities, NaN where they are not known, and its errors."""
    found = place_smoothing.smooth(law.motion, places.puck, begins)
    flown = _flown(np.isfinite(places.puck).all(-1), begins)
    puck = np.where(flown[..., None], found.mean[..., 0], np.nan)
    known = flown & (found.sd[..., 1] < _KNOWN)
    velocity, errs = np.where(known[..., None], found.mean[..., 1], np.nan), found.sd[..., 1]
    if places.puck_velocity is not None:
        velocity, errs = places.puck_velocity, np.zeros_like(errs)
    mallet = smoothed_mallet(places.mallet)
    slope, slope_errs = mallet.mean[..., 1], mallet.sd[..., 1]
    if places.mallet_velocity is not None:
        slope, slope_errs = places.mallet_velocity, np.zeros_like(slope_errs)
    errors = Errors(found.sd[..., 0], errs, mallet.sd[..., 0], slope_errs)
    return Recording(puck, velocity, mallet.mean[..., 0], slope), errors


def smoothed_by(modes: PuckModes, places: Places, table: Table) -> Recording:
    """Return what was seen with velocities, by flights as known modes have them."""
    drag = modes.drag
    scatter = modes.floating.covariance[0, 0] / PERIOD
    noise = flights.rough_noise(places.puck)
    law = FlightLaw(float(drag), noise, modes.airflow_sd, float(scatter))
    return recording(places, law, flights.partition(law, places.puck, table))[0]


def smoothed_mallet(places: Float[ndarray, "episode time 2"]) -> Smoothed:
    """Return what is known of a mallet, NaN where it was not seen."""
    seen, begins = np.isfinite(places).all(-1), np.zeros(places.shape[:2], bool)
    if not seen.any():
        return Smoothed(np.full((*places.shape, 3), np.nan), np.zeros((*seen.shape, 3)))

    def lacking(logs: ndarray) -> float:
        return -place_smoothing.evidence(_jerked(*np.exp(logs)), places, begins)

    first = np.log((100.0, flights.rough_noise(places)))
    bounds, options = np.log((_JERK, _NOISE)), {"eps": 1e-4, "ftol": 1e-9}
    best = optimize.minimize(lacking, first, method="L-BFGS-B", bounds=bounds, options=options).x
    found = place_smoothing.smooth(_jerked(*np.exp(best)), places, begins)
    return Smoothed(np.where(seen[..., None, None], found.mean, np.nan), found.sd)


def cautious_scatter(
    law: FlightLaw,
    places: Float[ndarray, "episode time 2"],
    begins: Bool[ndarray, "episode time"],
) -> float:
    """Return the scatter above the law's at which the log evidence is less by 1/2, m^2/s^3."""
    most = place_smoothing.evidence(law.motion, places, begins)
    least = max(law.scatter, _LITTLE)

    def excess(factor: float) -> float:
        other = replace(law, scatter=factor * least)
        return most - place_smoothing.evidence(other.motion, places, begins) - 0.5

    if excess(1.0) > 0.0:
        return least
    if excess(_MOST_SCATTER) < 0.0:
        return _MOST_SCATTER * least
    return least * float(optimize.brentq(excess, 1.0, _MOST_SCATTER, rtol=0.02))


def _jerked(jerk: float, noise: float) -> Motion:
    """Return a motion by white jerk, of a density in m^2/s^5, seen with a noise in m."""
    h = PERIOD
    matrix = np.array(((1.0, h, 0.5 * h**2), (0.0, 1.0, h), (0.0, 0.0, 1.0)))
    scatter = np.array(
        (
            (h**5 / 20.0, h**4 / 8.0, h**3 / 6.0),
            (h**4 / 8.0, h**3 / 3.0, h**2 / 2.0),
            (h**3 / 6.0, h**2 / 2.0, h),
        )
    )
    return Motion(matrix, jerk * scatter, noise, _MALLET_SD)


def _flown(
    seen: Bool[ndarray, "episode time"], begins: Bool[ndarray, "episode time"]
) -> Bool[ndarray, "episode time"]:
    """Return which samples lie in a flight: the seen ones, and those before more of the same."""
    flown, more = seen.copy(), np.zeros(len(seen), bool)
    for k in range(seen.shape[1] - 1, -1, -1):
        flown[:, k] |= more
        more = np.where(seen[:, k], ~begins[:, k], more)
    return flown
