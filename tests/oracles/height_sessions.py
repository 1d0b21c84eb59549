"""Sessions from known heights, rightly or wrongly stated, and what is inferred from them."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.probability import boxes
from ricochet.models.systems.bouncing_ball.calibration import posterior, release_height
from ricochet.models.systems.bouncing_ball.calibration.calibrate import MeasuredDrops
from ricochet.models.systems.bouncing_ball.calibration.release_height import SessionHeight
from ricochet.models.systems.bouncing_ball.problem import PRIOR
from tests.oracles import planted_sessions

RELEASE_SD = 5e-3
"""Error of a height that is set by hand, m: the default of `calibrate.release_sd`."""


@dataclass(frozen=True)
class Case:
    """One kind of session.

    Attributes:
        height: Height that the operator aims at, m.
        stated: What is stated over that; None states nothing.
        release_sd: Error of the height that the inference assumes, m.
        shared_sd: Error that all takes share in truth, m.
        single_sd: Error of each take's own in truth, m.
        theta: Restitution and log10 concentration; None draws them from the prior.
        drops: Number of takes.
    """

    height: float
    stated: float | None = 1.0
    release_sd: float = RELEASE_SD
    shared_sd: float = RELEASE_SD
    single_sd: float = 0.0
    theta: tuple[float, float] | None = None
    drops: int = 10

    def heights(self, draw: torch.Generator) -> Float[Tensor, " drop"]:
        """Draw the heights from which the balls really fall, m."""
        shared = self.shared_sd * torch.randn((), generator=draw, dtype=torch.float64)
        single = self.single_sd * torch.randn(self.drops, generator=draw, dtype=torch.float64)
        return self.height * ((shared + single) / self.height).exp()

    def session(self, seed: int) -> tuple[Float[ndarray, " 2"], MeasuredDrops]:
        """Simulate a session; return its truth too."""
        draw = torch.Generator().manual_seed(seed)
        truth = boxes.sample(PRIOR, (), draw=draw)
        if self.theta is not None:
            truth = torch.tensor(self.theta, dtype=torch.float64)
        drops = planted_sessions.session(
            truth,
            self.drops,
            seed + 10**6,
            height=self.heights(draw),
            stated=None if self.stated is None else self.stated * self.height,
            release_sd=self.release_sd,
        )
        return truth.numpy(), drops


@dataclass(frozen=True)
class Outcome:
    """How a session's posterior compares with the truth.

    Attributes:
        level: Mass of the highest-density region that just holds the truth.
        ranks: Mass below the truth in each marginal.
        error: Posterior mean less truth.
        sd: Posterior standard deviations.
        height: How the session came to its height.
    """

    level: float
    ranks: Float[ndarray, " 2"]
    error: Float[ndarray, " 2"]
    sd: Float[ndarray, " 2"]
    height: SessionHeight


def outcome(case: Case, seed: int) -> Outcome:
    """Simulate a session and infer its parameters."""
    truth, drops = case.session(seed)
    release, (height,) = release_height.settle(
        drops.times, drops.positions, drops.noise, drops.release
    )
    found = posterior.posterior(drops.features, drops.noise, release)
    sd = np.sqrt(np.diag(found.covariance))
    level, ranks = found.content_above(truth), found.ranks(truth)
    return Outcome(level, ranks, found.mean - truth, sd, height)


def share(outcomes: list[Outcome], nominal: float) -> float:
    """Return the share of posteriors whose region of this mass holds the truth."""
    return float(np.mean([one.level <= nominal for one in outcomes]))


def standard_error(nominal: float, count: int) -> float:
    """Return the binomial standard error of such a share."""
    return math.sqrt(nominal * (1.0 - nominal) / count)
