"""The posterior of the law of impact from measured impacts, and what it predicts of others.

Before anything is seen restitution is uniform from 0 to 1, tangential restitution from -1 to 1,
friction from 0 to a limit, and the shares of noise, normal and tangential, are uniform in their
logarithm (`LEAST_NOISE` to 1). With the likelihood of `likelihood` the posterior is drawn by
tempered particles: it is as wide as the prior in what impacts do not identify, as friction is where
all of them stick and tangential restitution where all of them slide.

**Regions.** The 90 % region of some parameters is the ellipsoid about the draws' mean, in their
covariance, that holds nine of ten draws, in the coordinates log x / (1 - x) of the priors' shares.
That of an impulse is the same of predicted impulses in the plane of normal and tangent: given the
impulse, Newton's balance has no freedom left, so that (dvx, dvy, dspin) has two degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import special

from ricochet.models.core.compiled import compiled
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import tempered_particles
from ricochet.models.systems.batting.impact_law import Contact, Law, impulse, noisy_impulse
from ricochet.models.systems.batting.impacts import likelihood
from ricochet.models.systems.batting.impacts.parameters import (
    FRICTION_LIMIT,
    NOISE,
    PARAMETERS,
)
from ricochet.models.systems.batting.impacts.recorded import Impacts, changes, observed_changes

LEAST_NOISE = 1e-4
LEAST_IMPACTS = 10
"""Impacts that are needed."""
PARTICLES = 1000
REGION = 0.9
PREDICTIVE = 1000  # draws of each predicted impact
UNIDENTIFIED = 0.5
"""Share of the prior's deviation above which a parameter is unidentified."""


@dataclass(frozen=True)
class ImpactPosterior:
    """Draws of the law's coefficients.

    Attributes:
        theta: Restitution, tangential restitution, friction, normal and tangential share of noise.
        friction_limit: Of the prior.
    """

    theta: Float[ndarray, "draw 5"]
    friction_limit: float = FRICTION_LIMIT

    @property
    def shares(self) -> Float[ndarray, "draw 5"]:
        """Draws as shares of the priors' ranges."""
        return shares_of(self.theta, self.friction_limit)

    @property
    def unidentified(self) -> list[str]:
        """Parameters, noise among them, that the impacts hardly identify beyond the prior."""
        wide = self.shares.std(0) > UNIDENTIFIED / np.sqrt(12.0)
        return [name for name, each in zip((*PARAMETERS, *NOISE), wide, strict=True) if each]

    def nearer(self, truth: Float[ndarray, " 5"], parameters: int = 5) -> float:
        """Return the share of draws nearer to their mean than a truth, of the first parameters.

        The truth is in the 90 % region where this is at most 0.9.
        """
        at = special.logit(np.clip(self.shares, 1e-12, 1.0 - 1e-12))[:, :parameters]
        shares = np.clip(shares_of(truth[None], self.friction_limit), 1e-12, 1.0 - 1e-12)
        away = distances(at, special.logit(shares)[:, :parameters])
        return float((away[:-1] < away[-1]).mean())


@dataclass(frozen=True)
class Predicted:
    """Predictions of some impacts beside what was measured.

    Attributes:
        mean: Predicted changes of vx, vy and radius of gyration times spin, m/s.
        observed: The measured ones.
        deviation: Of the predictions.
        needed: Squared distance of the impulse from the predictions' mean, over that at which the
            90 % region of the law ends.
        widening: Of the regions, in the same measure.
    """

    mean: Float[ndarray, "impact 3"]
    observed: Float[ndarray, "impact 3"]
    deviation: Float[ndarray, "impact 3"]
    needed: Float[ndarray, " impact"]
    widening: float = 1.0

    @property
    def inside(self) -> Bool[ndarray, " impact"]:
        """Whether the impulse lies in the 90 % region."""
        return self.needed <= self.widening

    @property
    def rms(self) -> float:
        """Root mean square of what the means miss, over impacts and all three changes, m/s."""
        return float(np.sqrt(((self.mean - self.observed) ** 2).mean()))

    @property
    def coverage(self) -> float:
        """Share of the impacts in their 90 % regions."""
        return float(self.inside.mean())


def infer(
    impacts: Impacts,
    draw: np.random.Generator,
    *,
    friction_limit: float = FRICTION_LIMIT,
    particles: int = PARTICLES,
    progress: Progress = no_progress,
) -> ImpactPosterior:
    """Return the posterior of the law from impacts whose contacts approach the surface.

    Raises:
        ValueError: If there are fewer than `LEAST_IMPACTS`, or one whose contact does not approach.
    """
    contacts, observed = impacts.contacts, impacts.impulse
    if len(impacts) < LEAST_IMPACTS:
        raise ValueError(f"impacts {len(impacts)}, expected at least {LEAST_IMPACTS}")
    if not contacts[:, 4].max() < 0.0:
        raise ValueError(f"normal velocity {contacts[:, 4].max():.3g}, expected below 0")

    def value(x: Float[ndarray, "draw 5"]) -> Float[ndarray, " draw"]:
        theta = _of_shares(x, friction_limit)
        return likelihood.log_likelihoods(theta, contacts, observed)

    x = tempered_particles.sample(value, 5, draw, particles=particles, progress=progress)
    return ImpactPosterior(_of_shares(x, friction_limit), friction_limit)


def outlier_probabilities(
    posterior: ImpactPosterior, impacts: Impacts
) -> Float[ndarray, " impact"]:
    """Return the probability of each impact to be far from the law."""
    few = posterior.theta[:: max(1, len(posterior.theta) // 100)]
    return likelihood.outlier_probabilities(few, impacts.contacts, impacts.impulse)


def predict(
    posterior: ImpactPosterior,
    impacts: Impacts,
    draw: np.random.Generator,
    *,
    widening: float = 1.0,
) -> Predicted:
    """Predict the velocities after some impacts, which the posterior was not learnt from.

    Args:
        posterior: Of the law.
        impacts: Of which the velocities after impact are looked at only to compare.
        draw: Source of draws and their noise.
        widening: Of the regions (`widening_of`).
    """
    count = len(impacts)
    mean, deviation, needed = np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
    observed = impacts.impulse
    for place, row in enumerate(impacts.contacts):
        chosen = posterior.theta[draw.integers(len(posterior.theta), size=PREDICTIVE)]
        drawn = predicted_impulses(chosen, row, draw.normal(size=(PREDICTIVE, 2)))
        change = changes(impacts.take(np.full(1, place)), drawn[:, None])[:, 0]
        mean[place], deviation[place] = change.mean(0), change.std(0)
        away = distances(drawn, observed[place][None])
        needed[place] = away[-1] / np.quantile(away[:-1], REGION)
    return Predicted(mean, observed_changes(impacts), deviation, needed, widening)


def widening_of(posterior: ImpactPosterior, learnt: Impacts, draw: np.random.Generator) -> float:
    """Return by how much regions must grow to hold nine of ten of the impacts learnt from.

    Where impacts follow the law it is about 1, and it is not less. Where they do not, impacts that
    scatter otherwise than the law's noise are held too, if further ones are like those learnt from
    (split conformal prediction, Lei et al. 2018, but on the impacts that were learnt from).
    """
    needed = np.sort(predict(posterior, learnt, draw).needed)
    place = min(int(np.ceil((len(needed) + 1) * REGION)), len(needed)) - 1
    return max(1.0, float(needed[place]))


def distances(
    draws: Float[ndarray, "draw n"], others: Float[ndarray, "other n"]
) -> Float[ndarray, " all"]:
    """Return squared Mahalanobis distances of draws, then of others, from the draws' mean."""
    away = np.concatenate([draws, others]) - draws.mean(0)
    spread = np.cov(draws.T).reshape(draws.shape[1], -1)
    scale = np.sqrt(np.diag(spread)) + 1e-300
    factor = np.linalg.cholesky(spread / np.outer(scale, scale) + 1e-12 * np.eye(len(scale)))
    return (np.linalg.solve(factor, (away / scale).T) ** 2).sum(0)


def shares_of(theta: Float[ndarray, "draw 5"], friction_limit: float) -> Float[ndarray, "draw 5"]:
    """Return parameters as shares of the priors' ranges, noise in its logarithm."""
    noise = 1.0 - np.log(theta[:, 3:]) / np.log(LEAST_NOISE)
    first = np.stack([theta[:, 0], 0.5 * (theta[:, 1] + 1.0), theta[:, 2] / friction_limit], axis=1)
    return np.concatenate([first, noise], axis=1)


def _of_shares(x: Float[ndarray, "draw 5"], friction_limit: float) -> Float[ndarray, "draw 5"]:
    first = np.stack([x[:, 0], 2.0 * x[:, 1] - 1.0, friction_limit * x[:, 2]], axis=1)
    return np.concatenate([first, np.exp((1.0 - x[:, 3:]) * np.log(LEAST_NOISE))], axis=1)


@compiled
def predicted_impulses(
    theta: Float[ndarray, "draw 5"], row: Float[ndarray, " 6"], noise: Float[ndarray, "draw 2"]
) -> Float[ndarray, "draw 2"]:
    """Return impulses at one contact, each by a draw of the law and standard normal numbers."""
    found = np.empty(noise.shape)
    contact = Contact(row[0], row[1], row[2], row[3], row[4], row[5])
    for i in range(len(theta)):
        law = Law(theta[i, 0], theta[i, 1], theta[i, 2], 0.0, theta[i, 3], theta[i, 4])
        found[i, 0], found[i, 1] = noisy_impulse(law, contact, noise[i, 0], noise[i, 1])
    return found


@compiled
def expected_impulses(
    theta: Float[ndarray, " 5"], contacts: Float[ndarray, "impact 6"]
) -> Float[ndarray, "impact 2"]:
    """Return the law's impulses without noise."""
    found = np.empty((len(contacts), 2))
    law = Law(theta[0], theta[1], theta[2], 0.0, theta[3], theta[4])
    for i in range(len(contacts)):
        row = contacts[i]
        contact = Contact(row[0], row[1], row[2], row[3], row[4], row[5])
        found[i, 0], found[i, 1] = impulse(law, contact)
    return found
