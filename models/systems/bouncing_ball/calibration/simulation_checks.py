"""Is the posterior of many drops honest at this very pair?

Sessions like the recorded one are simulated: the truth drawn from the posterior, as many drops,
each with the noise of the take it stands for, and from a height as uncertain. Each is inferred
afresh under the prior, and the truth's place in its posterior is kept: the level of the
highest-density region that just holds it, and its rank in each marginal. Where the data outweigh
the prior both are uniform (Talts et al. 2018, simulation-based calibration).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.problem import Noise, Release


@dataclass(frozen=True)
class ProductChecks:
    """Where the truth fell in the posteriors of simulated sessions.

    Attributes:
        levels: Mass of the highest-density region that just holds the truth.
        ranks: Mass below the truth in each marginal.
    """

    levels: Float[ndarray, " session"]
    ranks: Float[ndarray, "session 2"]
    drops: int


def check(
    theta: Float[ndarray, "sample 2"],
    noise: Noise,
    release: Release,
    *,
    sessions: int,
    draw: torch.Generator,
    progress: Progress = no_progress,
) -> ProductChecks:
    """Simulate sessions at draws of a posterior, infer each again and see where the truths fell.

    Raises:
        ValueError: If no session is asked for.
    """
    if sessions < 1:
        raise ValueError(f"sessions: need at least one, got {sessions}")
    levels, ranks = [], []
    for done in range(1, sessions + 1):
        truth = theta[int(torch.randint(len(theta), (1,), generator=draw))]
        rows = torch.from_numpy(np.array(truth)).expand(len(noise.time_sd), 2)
        features = problem.simulate_features(rows, noise, release, draw=draw)
        density = posterior.posterior(features, noise, release)
        levels.append(density.content_above(truth))
        ranks.append(density.ranks(truth))
        progress(done, sessions)
    return ProductChecks(np.array(levels), np.array(ranks), len(noise.time_sd))
