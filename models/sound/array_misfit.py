r"""Errors of an array from the misfit of arrivals, where four microphones or more are redundant.

Arrivals tau of an impact, less what an array with errors f explains at the best place and time, are

    r = N (tau - t - |P - p| / c) = N D (f_true - f) + noise,    N = 1 - J (J' J)^-1 J',

all whitened by the arrivals' deviations, D being the derivatives of the arrivals by the errors and
J those by place and time (`array_errors`). Gauss and Newton's steps from f = 0 with the prior
N(0, 1) give the posterior of f. Impacts whose misfit is far above the median's (another sound, an
echo) lose their weight (Cauchy's law). What N D does not see stays as uncertain as it was.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.sound import array_errors, multilateration
from ricochet.models.sound.array_errors import Spread
from ricochet.models.sound.arrays import Microphones

LEAST_SD = 1e-6  # s; what no model of an arrival explains, 0.3 mm
STEPS = 12
ENOUGH = 0.01  # prior standard deviations
TAIL = 4.0  # squares over the median's at which an impact counts half


@dataclass(frozen=True)
class ErrorPosterior:
    """Mean and covariance of errors, in units of their prior standard deviations."""

    mean: Float[ndarray, " error"]
    covariance: Float[ndarray, "error error"]


def infer(
    arrivals: Float[ndarray, "impact channel"],
    sd: Float[ndarray, "impact channel"],
    *,
    microphones: Microphones,
    spread: Spread | None = None,
) -> ErrorPosterior:
    """Infer the errors of an array from arrivals alone; three microphones tell nothing.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> found = infer(np.zeros((0, 3)), np.zeros((0, 3)), microphones=array)
    >>> bool((found.mean == 0.0).all() and (np.diag(found.covariance) == 1.0).all())
    True

    Args:
        arrivals, sd: At each channel after the start of the impact's recording, and standard
            deviations, s.
    """
    sizes = array_errors.errors(len(microphones.positions), spread).sd
    f, prior = np.zeros(len(sizes)), np.eye(len(sizes))
    information = prior
    deviation = np.hypot(sd, LEAST_SD)
    for _ in range(STEPS):
        residual, by, freedom = _projected(arrivals, deviation, f * sizes, microphones)
        squares = np.sum(residual**2, axis=1) / max(freedom, 1)
        scale = max(float(np.median(squares)), 1.0) if len(squares) else 1.0
        weight = 1.0 / (scale + squares / TAIL)
        by = by * sizes
        information = prior + np.einsum("i,ice,icg->eg", weight, by, by)
        pull = np.einsum("i,ice,ic->e", weight, by, residual) - f
        step = np.linalg.solve(information, pull)
        f = f + step
        if np.abs(step).max() < ENOUGH:
            break
    return ErrorPosterior(f, np.linalg.inv(information))


def _projected(
    arrivals: Float[ndarray, "impact channel"],
    sd: Float[ndarray, "impact channel"],
    errors: Float[ndarray, " error"],
    microphones: Microphones,
) -> tuple[Float[ndarray, "kept channel"], Float[ndarray, "kept channel error"], int]:
    """Return misfits of the impacts that have a place, their derivatives, and the freedom of each.

    Errors are in SI units; both results are whitened and free of place and time.
    """
    array, delays, drifts = array_errors.corrected(microphones, errors)
    clean = arrivals / (1.0 + drifts) - delays
    region = multilateration.surroundings(array, margin=array_errors.FAR)
    places, kept = _places(clean, sd, array, region)
    clean, sd = clean[kept], sd[kept]
    travel, slope = multilateration.gradients(places, microphones=array)
    late = clean - travel
    weight = sd**-2
    emission = np.sum(late * weight, axis=1) / np.sum(weight, axis=1)
    residual = (late - emission[:, None]) / sd
    by = array_errors.arrival_slopes(places, emission, microphones=array) / sd[..., None]
    speed = array.speed_of_sound  # metres throughout: well conditioned
    jacobian = np.concatenate([slope * speed, np.ones((*slope.shape[:-1], 1))], axis=-1)
    basis, _ = np.linalg.qr(jacobian / sd[..., None])
    across = np.swapaxes(basis, 1, 2)
    residual = residual - (basis @ (across @ residual[..., None]))[..., 0]
    return residual, by - basis @ (across @ by), arrivals.shape[1] - 3


def _places(
    arrivals: Float[ndarray, "impact channel"],
    sd: Float[ndarray, "impact channel"],
    array: Microphones,
    region: multilateration.Region,
) -> tuple[Float[ndarray, "kept 2"], Bool[ndarray, " impact"]]:
    places = np.full((len(arrivals), 2), np.nan)
    for row, (times, deviation) in enumerate(zip(arrivals, sd, strict=True)):
        fixes = multilateration.solve(times, deviation, microphones=array, region=region)
        if fixes:
            places[row] = fixes[0].position
    kept = np.isfinite(places).all(axis=1)
    return places[kept], kept
