"""Draws from a posterior in few dimensions by particles and tempering, whatever its shape.

With a uniform prior on the unit cube and a likelihood L, particles go through the densities

    p_b(x) ~ L(x)^b,  0 = b_0 < b_1 < ... = 1

Each step of b leaves half of the particles effective (Del Moral, Doucet and Jasra 2006, "Sequential
Monte Carlo samplers"; the rule for b of Jasra et al. 2011); they are resampled and moved by random
walks of Metropolis in the coordinates u = log x / (1 - x), whose steps have the covariance of the
particles. No gradient is needed, and a coordinate on which the likelihood does not depend keeps its
prior.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize, special

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.probability.systematic_resampling import systematic_rows

LogLikelihood = Callable[[Float[ndarray, "draw parameter"]], Float[ndarray, " draw"]]
"""Of points of the unit cube."""
MOVES = 6  # at each density
LAST_MOVES = 6  # between two sets of particles that are kept
MOST = 500  # densities
ACCEPTED = 0.3  # share of moves, to which their length is led


@dataclass(frozen=True)
class Particles:
    """What is carried from one density to the next."""

    at: Float[ndarray, "draw parameter"]
    log_likelihood: Float[ndarray, " draw"]
    power: float = 0.0
    scale: float = 1.0


def sample(
    log_likelihood: LogLikelihood,
    dimension: int,
    draw: np.random.Generator,
    *,
    particles: int = 1000,
    kept: int = 4,
    progress: Progress = no_progress,
) -> Float[ndarray, "draw parameter"]:
    """Return draws of the posterior, points of the unit cube.

    Args:
        particles: How many go through the densities.
        kept: How many sets of them are returned, some moves apart.

    Raises:
        ValueError: If the likelihood is not finite somewhere, or the densities come to no end.

    >>> narrow = lambda x: -0.5 * ((x[:, 0] - 0.3) / 0.01) ** 2
    >>> found = sample(narrow, 2, np.random.default_rng(0), particles=400)
    >>> bool(abs(found[:, 0].mean() - 0.3) < 0.003), bool(abs(found[:, 1].std() - 0.289) < 0.03)
    (True, True)
    """
    start = np.clip(draw.random((particles, dimension)), 1e-12, 1.0 - 1e-12)
    state = Particles(special.logit(start), _checked(log_likelihood, start))
    for number in range(MOST):
        progress(min(number, 39), 40 + kept)
        if state.power >= 1.0:
            break
        state = _moved(_tempered(state, draw), log_likelihood, draw, MOVES)
    else:
        raise ValueError(f"power {state.power:.2g} after {MOST} densities, expected 1")
    found = []
    for number in range(kept):
        state = _moved(state, log_likelihood, draw, LAST_MOVES)
        found.append(special.expit(state.at))
        progress(40 + number + 1, 40 + kept)
    return np.concatenate(found)


def _checked(
    log_likelihood: LogLikelihood, x: Float[ndarray, "draw parameter"]
) -> Float[ndarray, " draw"]:
    found = log_likelihood(x)
    if not np.isfinite(found).all():
        raise ValueError(f"log_likelihood {found[~np.isfinite(found)][0]}, expected finite numbers")
    return found


def _tempered(state: Particles, draw: np.random.Generator) -> Particles:
    """Return particles of the next density, resampled."""
    excess = state.log_likelihood - state.log_likelihood.max()

    def effective(step: float) -> float:
        weight = np.exp(step * excess)
        return float(weight.sum() ** 2 / (weight**2).sum() / len(weight) - 0.5)

    rest = 1.0 - state.power
    step = rest if effective(rest) >= 0.0 else float(optimize.brentq(effective, 0.0, rest))
    chosen = systematic_rows(np.exp(step * excess), len(excess), draw)
    power = 1.0 if step == rest else state.power + step
    return Particles(state.at[chosen], state.log_likelihood[chosen], power, state.scale)


def _moved(
    state: Particles, log_likelihood: LogLikelihood, draw: np.random.Generator, moves: int
) -> Particles:
    """Return particles after some random walks, none of which changes their density."""
    at, value, scale = state.at.copy(), state.log_likelihood.copy(), state.scale
    count, dimension = at.shape
    spread = np.cov(at.T).reshape(dimension, dimension) + 1e-14 * np.eye(dimension)
    root = np.linalg.cholesky(spread) * (2.38 / np.sqrt(dimension))
    prior = _log_prior(at)
    for _ in range(moves):
        length = scale * draw.choice((0.3, 1.0, 1.0, 2.0), size=(count, 1))
        proposed = at + length * (draw.normal(size=at.shape) @ root.T)
        its_prior = _log_prior(proposed)
        its_value = log_likelihood(special.expit(proposed))
        ratio = state.power * (its_value - value) + its_prior - prior
        taken = np.log(draw.random(count)) < ratio
        at[taken], value[taken], prior[taken] = proposed[taken], its_value[taken], its_prior[taken]
        scale = float(np.clip(scale * np.exp(taken.mean() - ACCEPTED), 0.02, 2.0))
    return Particles(at, value, state.power, scale)


def _log_prior(at: Float[ndarray, "draw parameter"]) -> Float[ndarray, " draw"]:
    """Return the log density of u where x is uniform."""
    return -(np.logaddexp(0.0, at) + np.logaddexp(0.0, -at)).sum(1)
