"""Is the posterior of many drops honest at this very pair?

Sessions like the recorded one are simulated: the truth drawn from the posterior, as many drops,
each with the noise of the take it stands for, and from a height as uncertain. Each is inferred
afresh under the prior, and the truth's place in its posterior is kept: the level of the
highest-density region that just holds it, and its rank in each marginal. Where the data outweigh
the prior both are uniform (Talts et al. 2018, simulation-based calibration).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.features import Features
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


@dataclass(frozen=True)
class SimulatedSession:
    """Drops simulated at a truth, as they were measured."""

    truth: Float[ndarray, " 2"]
    features: Features
    noise: Noise
    release: Release


@dataclass(frozen=True)
class Place:
    """Where a truth fell in its session's posterior, as in `ProductChecks`."""

    level: float
    ranks: Float[ndarray, " 2"]


PlaceAll = Callable[[Sequence[SimulatedSession], Progress], Sequence[Place]]
"""Infers sessions in any way and returns where their truths fell, in order."""


def place(session: SimulatedSession) -> Place:
    """Infer a session afresh and see where its truth fell."""
    density = posterior.posterior(session.features, session.noise, session.release)
    return Place(density.content_above(session.truth), density.ranks(session.truth))


def one_by_one(sessions: Sequence[SimulatedSession], progress: Progress) -> list[Place]:
    """Infer sessions one after the other."""
    found = []
    for session in sessions:
        found.append(place(session))
        progress(len(found), len(sessions))
    return found


def check(
    theta: Float[ndarray, "sample 2"],
    noise: Noise,
    release: Release,
    *,
    sessions: int,
    draw: torch.Generator,
    progress: Progress = no_progress,
    place_all: PlaceAll = one_by_one,
) -> ProductChecks:
    """Simulate sessions at draws of a posterior, infer each again and see where the truths fell.

    Raises:
        ValueError: If no session is asked for.
    """
    if sessions < 1:
        raise ValueError(f"sessions: need at least one, got {sessions}")
    simulated = [_simulated(theta, noise, release, draw) for _ in range(sessions)]
    found = place_all(simulated, progress)
    levels, ranks = (np.array([getattr(one, name) for one in found]) for name in ("level", "ranks"))
    return ProductChecks(levels, ranks, len(noise.time_sd))


def _simulated(
    theta: Float[ndarray, "sample 2"], noise: Noise, release: Release, draw: torch.Generator
) -> SimulatedSession:
    truth = theta[int(torch.randint(len(theta), (1,), generator=draw))]
    rows = torch.from_numpy(np.array(truth)).expand(len(noise.time_sd), 2)
    features = problem.simulate_features(rows, noise, release, draw=draw)
    return SimulatedSession(truth, features, noise, release)
