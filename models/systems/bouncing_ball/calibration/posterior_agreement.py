"""Does a packaged posterior say what the recordings say? Measured, whatever the package states.

Two questions, since a posterior is honest only if both answers are yes:

    method     sessions simulated at the posterior and inferred anew: are the truths' levels and
               ranks uniform? (`simulation_checks`,
               simulation-based calibration)
    package    the exact posterior p* is computed again from the recordings' own drops, and
               compared with the packaged density q and the packaged draws

For draws theta ~ p*, the level of the smallest region of q that holds theta is uniform if q = p*.
With the variance of q divided by v and two Gaussian parameters, the region of q of mass m holds
1 - (1 - m)^(1/v) of them: 0.44 of those that should be 0.90 at v = 4. Draws of q have their levels
under p* likewise: 1 - (1 - u)^v is uniform, 0.47 away from the diagonal at v = 4.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference.grid_densities import GridDensity


@dataclass(frozen=True)
class Claim:
    """What a package states of its posterior: density, draws and their moments."""

    density: GridDensity
    samples: Float[ndarray, "sample 2"]
    mean: Float[ndarray, " 2"]
    covariance: Float[ndarray, "2 2"]


@dataclass(frozen=True)
class Agreement:
    """A claim beside the exact posterior.

    Attributes:
        levels: Of each draw of the exact posterior, the mass of the smallest region of the claimed
            density that holds it; 1 outside. Uniform if the claim is right.
        sample_levels: Of each claimed draw, the same under the exact posterior.
        sample_ranks: Of each claimed draw, the exact mass below it in each marginal.
        mean_distance: Mahalanobis distance between the means, in exact standard deviations.
        variance_ratios: Smallest and largest claimed variance over the exact one, of any
            combination of the parameters.
    """

    levels: Float[ndarray, " draw"]
    sample_levels: Float[ndarray, " sample"]
    sample_ranks: Float[ndarray, "sample 2"]
    mean_distance: float
    variance_ratios: tuple[float, float]


def compare(
    claim: Claim, exact: GridDensity, *, draws: int, draw: np.random.Generator
) -> Agreement:
    """Compare a claim with the exact posterior of the same drops.

    Raises:
        ValueError: If a claimed number is not finite or no draw is asked for.
    """
    numbers = (claim.samples, claim.mean, claim.covariance)
    if draws < 1 or not all(np.isfinite(values).all() for values in numbers):
        raise ValueError("claim: samples, mean and covariance must be finite, draws positive")
    spread = np.linalg.cholesky(exact.covariance)
    shift = np.linalg.solve(spread, claim.mean - exact.mean)
    whitened = np.linalg.solve(spread, np.linalg.solve(spread, claim.covariance).T)
    ratios = np.linalg.eigvalsh(0.5 * (whitened + whitened.T))
    return Agreement(
        levels=levels(claim.density, exact.sample(draws, draw=draw)),
        sample_levels=levels(exact, claim.samples),
        sample_ranks=ranks(exact, claim.samples),
        mean_distance=float(np.linalg.norm(shift)),
        variance_ratios=(float(ratios[0]), float(ratios[-1])),
    )


def levels(density: GridDensity, theta: Float[ndarray, "point 2"]) -> Float[ndarray, " point"]:
    """Return the mass of the smallest region of highest density at each point; 1 off the grid."""
    order = np.argsort(-density.log_density, axis=None)
    mass = np.concatenate([[0.0], np.cumsum(density.weights.ravel()[order])])
    sorted_density = density.log_density.ravel()[order]
    above = np.searchsorted(-sorted_density, -density.log_density_at(theta), side="left")
    return np.minimum(mass[above], 1.0)


def ranks(density: GridDensity, theta: Float[ndarray, "point 2"]) -> Float[ndarray, "point 2"]:
    """Return the mass below each point in each marginal."""
    weights = density.weights
    rows = zip(density.points[..., 0], weights, strict=True)
    across = np.sum([_mass_below(values, mass, theta[:, 0]) for values, mass in rows], axis=0)
    along = _mass_below(density.window.rows, weights.sum(1), theta[:, 1])
    return np.minimum(np.stack([across, along], axis=-1), 1.0)


def _mass_below(
    values: Float[ndarray, " n"], weights: Float[ndarray, " n"], places: Float[ndarray, " point"]
) -> Float[ndarray, " point"]:
    """Interpolate the distribution function, each weight spread about its value."""
    return np.interp(places, values, np.cumsum(weights) - 0.5 * weights)
