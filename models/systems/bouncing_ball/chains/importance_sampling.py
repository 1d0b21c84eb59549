"""Weighted draws from a density about its maxima: adaptive multiple importance sampling.

The curvature at each maximum gives Student's t law of five degrees of freedom. Draws from these
laws are weighed by the density over the mixture of all laws that were drawn from, in proportion to
their draws (Cornuet et al. 2012); weighed means and covariances give the next laws (Cappe et al.
2008 for mixtures). Two rules keep few draws of great weight from spoiling that:

- the greatest weights are cut where laws adapt, since a few draws would narrow the next ones to
  themselves (Koblents and Miguez 2015);
- a draw that carries much of the weight stands where the density reaches out and no law does: from
  then on a law of its own draws about it (Raftery and Bao 2010, incremental mixture importance
  sampling).

Laws that follow draws make these seem likelier to draw than they were, so that a density's arms are
given too little weight. The answer is therefore of draws made after the laws stayed as they are.
The mean weight is the integral of the density.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.bouncing_ball.chains import peaks
from ricochet.models.systems.bouncing_ball.chains.log_density import Density
from ricochet.models.systems.bouncing_ball.chains.peaks import Mode

_FREEDOM = 5.0
_DRAWS, _FEWEST = 200, 40  # of a round: of all maxima, and the fewest of a law
_ROUNDS = 15
_CLIPPED = 8  # draws whose weights are cut to the least of them to adapt
_CARRIES = 25.0  # equal draws of enough that are worth a draw that gets a law of its own
_ADAPTED = 0.8  # share of enough effective draws from which laws stay as they are
_SETTLED = 0.01  # nats by which the paths of a draw may miss the most likely ones


@dataclass(frozen=True)
class Draws:
    """Weighted draws.

    Attributes:
        weights: They sum to one.
        log_density: At each, not normalised.
        log_evidence: Log of the density's integral.
    """

    theta: Float[ndarray, "draw parameter"]
    weights: Float[ndarray, " draw"]
    log_density: Float[ndarray, " draw"]
    log_evidence: float

    @property
    def effective(self) -> float:
        """Number of equally weighted draws that are worth as much."""
        return 1.0 / float((self.weights**2).sum())


@dataclass(frozen=True)
class _Law:
    """A law to draw from, in units of the first maximum's deviations, and the density about it."""

    density: Density
    centre: Float[ndarray, " free"]
    covariance: Float[ndarray, "free free"]
    count: int

    def chances(self, rows: Float[ndarray, "draw free"]) -> Float[ndarray, " draw"]:
        """Return its density at points."""
        return np.asarray(stats.multivariate_t(self.centre, self.covariance, df=_FREEDOM).pdf(rows))


@dataclass(frozen=True)
class _Batch:
    """Draws from one law as it was, and the place of that law among all."""

    number: int
    law: _Law
    rows: Float[ndarray, "draw free"]
    log_density: Float[ndarray, " draw"]


def about(modes: Sequence[Mode], *, draw: np.random.Generator, enough: float) -> Draws:
    """Draw about maxima until the draws are worth enough equally weighted ones, or too many.

    Args:
        modes: Maxima of one density, the best first.
        enough: Effective draws.
    """
    unit = np.sqrt(np.diag(modes[0].covariance))  # of sizes apart, no covariance is regular
    laws, batches, adapting = _first_laws(modes, unit), list[_Batch](), 0
    for _ in range(_ROUNDS):
        batches += [_batch(number, law, unit, draw) for number, law in enumerate(laws)]
        all_draws = _weighed(batches, unit)
        few = all_draws.effective < _ADAPTED * enough
        if few or all_draws.weights.max() * enough > _CARRIES:
            laws = _next_laws(laws, batches, all_draws.weights, carries=_CARRIES / enough)
            adapting = len(batches)
        elif (found := _weighed(batches[adapting:], unit)).effective > enough:
            return found
    return all_draws


def _weighed(batches: Sequence[_Batch], unit: Float[ndarray, " free"]) -> Draws:
    """Weigh draws by the density over the mixture of the laws that they come from."""
    density = batches[0].law.density
    rows = np.concatenate([batch.rows for batch in batches])
    logs = np.concatenate([batch.log_density for batch in batches])
    counts = np.array([batch.law.count for batch in batches])
    chances = np.array([batch.law.chances(rows) for batch in batches])
    ratio = logs - np.log(counts @ chances / counts.sum())
    weights = np.exp(ratio - ratio.max())
    log_evidence = float(ratio.max() + np.log(weights.mean() * unit.prod()))
    theta = peaks.at_free(density.point, density.prior.free, unit * rows)
    return Draws(theta, weights / weights.sum(), logs, log_evidence)


def _first_laws(modes: Sequence[Mode], unit: Float[ndarray, " free"]) -> list[_Law]:
    """Return a law of each maximum, which draws as often as its evidence says."""
    logs = np.array([mode.log_evidence for mode in modes])
    shares = np.exp(logs - logs.max())
    counts = np.maximum(_FEWEST, np.round(_DRAWS * shares / shares.sum())).astype(int)
    free = modes[0].density.prior.free
    return [
        _Law(
            replace(mode.density, enough=_SETTLED),
            mode.density.point[free] / unit,
            mode.covariance / np.outer(unit, unit),
            int(count),
        )
        for mode, count in zip(modes, counts, strict=True)
    ]


def _batch(
    number: int, law: _Law, unit: Float[ndarray, " free"], draw: np.random.Generator
) -> _Batch:
    student = stats.multivariate_t(law.centre, law.covariance, df=_FREEDOM)
    rows = np.atleast_2d(student.rvs(law.count, random_state=draw))
    density = law.density
    theta = peaks.at_free(density.point, density.prior.free, unit * rows)
    return _Batch(number, law, rows, density(theta))


def _next_laws(
    laws: Sequence[_Law], batches: Sequence[_Batch], weights: ndarray, *, carries: float
) -> list[_Law]:
    """Adapt each law to the draws that it made likely, and add one about a draw that carries."""
    rows = np.concatenate([batch.rows for batch in batches])
    by_law = np.zeros((len(laws), len(rows)))
    for batch in batches:
        by_law[batch.number] += batch.law.chances(rows)
    clipped = np.minimum(weights, np.sort(weights)[-_CLIPPED])
    adapted = [
        _adapted(law, rows, clipped * share)
        for law, share in zip(laws, by_law / by_law.sum(0), strict=True)
    ]
    heaviest = int(np.argmax(weights))
    if weights[heaviest] > carries:
        nearest = adapted[int(np.argmax(by_law[:, heaviest]))]
        adapted.append(replace(nearest, centre=rows[heaviest], count=_FEWEST))
    return adapted


def _adapted(law: _Law, rows: Float[ndarray, "draw free"], weights: ndarray) -> _Law:
    """Return the law with centre and scale of weighed draws, trusting few of them little."""
    total = weights.sum()
    if not total > 0.0:
        return law
    weights = weights / total
    mean = weights @ rows
    away = rows - mean
    own = (weights[:, None] * away).T @ away
    few = min(1.0, 1.0 / (weights**2).sum() / (5.0 * rows.shape[1]))
    mixed = few * own * (_FREEDOM - 2.0) / _FREEDOM + (1.0 - few) * law.covariance
    return replace(law, centre=few * mean + (1.0 - few) * law.centre, covariance=mixed)
