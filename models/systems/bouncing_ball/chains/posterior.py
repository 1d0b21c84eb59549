"""The posterior of one member of the family: importance sampling about its most likely point.

The posterior density of theta, likelihood (`laplace`) times prior, is searched for its maxima
(`peaks`), about which `importance_sampling` draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import (
    importance_sampling,
    parameters,
    peaks,
    preparation,
)
from ricochet.models.systems.bouncing_ball.chains.importance_sampling import Draws
from ricochet.models.systems.bouncing_ball.chains.least_squares import Group
from ricochet.models.systems.bouncing_ball.chains.log_density import Density
from ricochet.models.systems.bouncing_ball.chains.observations import Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from ricochet.models.systems.bouncing_ball.chains.paths import Paths
from ricochet.models.systems.bouncing_ball.chains.peaks import Mode

_ENOUGH = 300.0  # effective draws, which tell a deviation to 4 %
_UNSAMPLED = 6.0  # nats below the best law at which one has no say
_SLIGHT, _FEW = 2.0, 60.0  # nats below the best law at which one has hardly a say, and its draws
_BETTER = 2.0  # nats by which a draw beats the peaks that were found
_SEARCHES = 3
_HOPELESS = 12.0  # nats by which a maximum is lower than the highest
_NEGLIGIBLE = 8.0  # nats by which a maximum's evidence is less than the best one's
_APART = 1.0  # deviations between maxima that are two


@dataclass(frozen=True)
class Member:
    """The posterior of one law: weighted draws, and how well it explains the takes.

    Attributes:
        theta: Draws in the coordinates of `parameters`.
        weights: Of the draws; they sum to one.
        log_evidence: Log of the prior's mean likelihood.
        effective: Number of equally weighted draws that are worth as much.
        peak, at_peak: The most likely point, and the covariance of the free coordinates that the
            curvature there means.
        groups, paths: The takes as integrated, and their paths at the most likely point.
    """

    prior: Prior
    theta: Float[ndarray, "draw parameter"]
    weights: Float[ndarray, " draw"]
    log_evidence: float
    effective: float
    peak: Float[ndarray, " parameter"]
    at_peak: Float[ndarray, "free free"]
    groups: tuple[Group, ...]
    paths: Paths

    @property
    def mean(self) -> Float[ndarray, " parameter"]:
        """Posterior mean of every coordinate."""
        return np.asarray(self.weights @ self.theta)

    @property
    def covariance(self) -> Float[ndarray, "parameter parameter"]:
        """Posterior covariance of the coordinates."""
        centred = self.theta - self.mean
        return np.asarray((self.weights[:, None] * centred).T @ centred)

    def sample(self, count: int, *, draw: np.random.Generator) -> Float[ndarray, "draw parameter"]:
        """Return equally weighted draws."""
        return np.asarray(self.theta[draw.choice(len(self.theta), count, p=self.weights)])


def explain(
    chains: Sequence[Chains],
    prior: Prior,
    starts: Float[ndarray, "*start parameter"],
    *,
    draw: np.random.Generator,
    best: float = -np.inf,
) -> Member:
    """Infer the parameters of one law from chains of bounces.

    Args:
        starts: Coordinates near to likely ones; drag and the slope of restitution explain nearly
            the same, so that several may be needed.
        best: Log evidence of the best law so far. One that explains the takes far worse is sampled
            less, or not at all: then its only draw is the most likely point.
    """
    return sampled(chains, modes(chains, prior, np.atleast_2d(starts)), draw=draw, best=best)


def sampled(
    chains: Sequence[Chains],
    maxima: Sequence[Mode],
    *,
    draw: np.random.Generator,
    best: float = -np.inf,
) -> Member:
    """Draw about the maxima of one law's density, and about better ones that turn up.

    Args:
        best: As in `explain`.
    """
    prior = maxima[0].density.prior
    for _ in range(_SEARCHES):
        mode, behind = maxima[0], best - maxima[0].log_evidence
        if behind > _UNSAMPLED:
            return _member(mode, _alone(mode))
        enough = _ENOUGH if behind < _SLIGHT else _FEW
        found = importance_sampling.about(maxima, draw=draw, enough=enough)
        if found.log_density.max() < max(mode.height for mode in maxima) + _BETTER:
            break
        another = peaks.find(chains, prior, found.theta[np.argmax(found.log_density)])
        maxima = _distinct([*maxima, *([another] if another else [])])
    return _member(mode, found)


def at_point(chains: Sequence[Chains], prior: Prior, point: Float[ndarray, " parameter"]) -> Member:
    """Return the member whose only draw is a point, for what needs no posterior."""
    groups, paths = preparation.prepare(chains, prior.law, parameters.values(point[None]))
    unknown = np.diag(prior.spread[prior.free] ** 2)
    mode = Mode(Density(groups, paths, prior, point), unknown, -np.inf, -np.inf)
    return _member(mode, _alone(mode))


def modes(
    chains: Sequence[Chains], prior: Prior, starts: Float[ndarray, "start parameter"]
) -> list[Mode]:
    """Return the maxima that searches from some starts find, the best first, no hopeless ones."""
    found: list[Mode] = []
    for start in starts:
        least = max((mode.height for mode in found), default=-np.inf) - _HOPELESS
        mode = peaks.find(chains, prior, start, least=least)
        found += [mode] if mode is not None else []
    return _distinct(found)


def _alone(mode: Mode) -> Draws:
    return Draws(mode.density.point[None], np.ones(1), np.array([mode.height]), mode.log_evidence)


def _member(mode: Mode, drawn: Draws) -> Member:
    density = mode.density
    return Member(
        density.prior, drawn.theta, drawn.weights, drawn.log_evidence, drawn.effective,
        density.point, mode.covariance, density.groups, density.paths,
    )  # fmt: skip


def _distinct(modes: Sequence[Mode]) -> list[Mode]:
    """Return the maxima that differ and matter, the greatest evidence first."""
    found: list[Mode] = []
    for mode in sorted(modes, key=lambda mode: -mode.log_evidence):
        if found and mode.log_evidence < found[0].log_evidence - _NEGLIGIBLE:
            break
        free, sd = mode.density.prior.free, np.sqrt(np.diag(mode.covariance))
        point = mode.density.point
        gaps = [np.abs((point - other.density.point)[free] / sd).max() for other in found]
        if not gaps or min(gaps) > _APART:
            found.append(mode)
    groups = found[0].density.groups  # one integration for all
    return [replace(mode, density=replace(mode.density, groups=groups)) for mode in found]
