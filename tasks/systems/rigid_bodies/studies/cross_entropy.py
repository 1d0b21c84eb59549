"""The cross-entropy method: draw from a mixture, fit it to the best draws, again and again.

The mixture is fitted by expectation maximisation, the covariances diagonal where unknowns are more
than elites can tell the correlations of.

Source: Rubinstein 1999; as Heiden et al., appendix I-C, three Gaussians.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from torch import Tensor

from ricochet.models.inference import stein
from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity


@dataclass(frozen=True)
class Settings:
    """How draws are made.

    Attributes:
        elite: Share of the draws that the mixture is fitted to.
        floor: Least variance of a component: shares, and states over their scale, squared.
    """

    population: int = 400
    elite: float = 0.1
    components: int = 3
    floor: float = 1e-6


def narrowed(
    density: FixedNoiseDensity,
    u: Float[Tensor, "particle unknown"],
    budget: Iterator[float],
    generator: np.random.Generator,
    settings: Settings,
) -> Float[Tensor, "particle unknown"]:
    """Return as many draws of the last mixture as there were particles.

    Args:
        density: In `Shares`.
        u: The first draws.
        budget: Shares of what may be done (`budgets`).
    """
    drawn, count, kept = u, len(u), max(2, int(settings.elite * settings.population))
    for _ in budget:
        best = drawn[density.value(drawn).argsort(descending=True)[:kept]].numpy()
        population = max(settings.population, count)
        drawn = stein.within_limits(
            density, torch.from_numpy(_refitted(best, population, generator, settings))
        )
    return drawn[:count]


def _refitted(
    best: Float[ndarray, "elite unknown"],
    population: int,
    generator: np.random.Generator,
    settings: Settings,
) -> Float[ndarray, "draw unknown"]:
    """Draw from the mixture that fits the best draws."""
    components = min(settings.components, len(best))
    shape = "full" if len(best) > 2 * best.shape[1] * components else "diag"
    mixture = GaussianMixture(
        components,
        covariance_type=shape,
        reg_covar=settings.floor,
        random_state=int(generator.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # elites that are all but one point
        mixture.fit(best)
    found = mixture.sample(population)[0]
    return generator.permutation(found)
