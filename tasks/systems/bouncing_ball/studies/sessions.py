"""Coverage of products over many drops: sessions simulated, multiplied and compared with the truth.

Each session is a job of its own with its own seed (`tasks.console.jobs`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import calibration_checks, density_arrays
from ricochet.models.probability import boxes, truncated_mixtures
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, posterior
from ricochet.models.systems.bouncing_ball.calibration.gaussian_product import gaussian_product
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS, PRIOR, Drops
from ricochet.tasks.console.jobs import Journal


@dataclass(frozen=True)
class Session:
    """One simulated session: its seed, number of drops, and truth (None: drawn from the prior)."""

    seed: int
    drops: int
    truth: tuple[float, float] | None = None


@dataclass(frozen=True)
class Outcome:
    """How a session's posterior compares with its truth.

    Attributes:
        level: Mass of the posterior's highest-density region that just holds the truth.
        error: Posterior mean minus truth.
        ranks: Mass below the truth in each marginal.
        paper_level: `level` for the paper's rule; not a number without a network.
    """

    truth: Float[ndarray, " 2"]
    level: float
    error: Float[ndarray, " 2"]
    sd: Float[ndarray, " 2"]
    ranks: Float[ndarray, " 2"]
    paper_level: float


def simulate(session: Session) -> Drops:
    """Simulate a session at the default noise and the paper's height; all rows of theta agree."""
    draw = torch.Generator().manual_seed(session.seed)
    truth = boxes.sample(PRIOR, (), draw=draw)
    if session.truth is not None:
        truth = torch.tensor(session.truth, dtype=torch.float64)
    noise = problem.constant_noise((session.drops,))
    release = problem.constant_release((session.drops,))
    theta = truth.expand(session.drops, 2)
    features = problem.simulate_features(theta, noise, release, draw=draw)
    return Drops(theta, features, noise, release)


def outcome(session: Session, network: dict[str, ndarray] | None = None) -> Outcome:
    """Simulate a session, infer, and compare with the truth; a network gives the paper's rule."""
    drops = simulate(session)
    truth = drops.theta[0].numpy()
    density = posterior.posterior(drops.features, drops.noise, drops.release)
    return Outcome(
        truth=truth,
        level=density.content_above(truth),
        error=density.mean - truth,
        sd=np.sqrt(np.diag(density.covariance)),
        ranks=density.ranks(truth),
        paper_level=_paper_level(network, drops),
    )


def journal(file: Path) -> Journal[Outcome]:
    """Return the journal of sessions that are finished."""

    def encode(found: Outcome) -> dict[str, Any]:
        return {k: v.tolist() if isinstance(v, ndarray) else v for k, v in vars(found).items()}

    def decode(values: dict[str, Any]) -> Outcome:
        fields: dict[str, Any] = {
            k: np.array(v) if isinstance(v, list) else v for k, v in values.items()
        }
        return Outcome(**fields)

    return Journal(file, encode, decode)


def prior_row(results: list[Outcome], drops: int) -> dict[str, Any]:
    """Return the row of sessions whose truth was drawn from the prior."""
    levels = np.array([each.level for each in results])
    ranks = np.array([each.ranks for each in results])
    flat = {name: calibration_checks.uniformity(ranks[:, k]) for k, name in enumerate(PARAMETERS)}
    return {
        "drops": drops,
        "sessions": len(results),
        **_coverage(levels),
        "rank_p_value": {name: test.chi_square_p_value for name, test in flat.items()},
        "paper_rule_coverage_90": _share(results),
    }


def ball_row(results: list[Outcome], drops: int) -> dict[str, Any]:
    """Return the row of repeated sessions of one ball."""
    errors = np.array([each.error for each in results])
    sd = np.array([each.sd for each in results])
    ratio = np.sqrt((errors**2).mean(0)) / np.sqrt((sd**2).mean(0))
    return {
        "drops": drops,
        "repeats": len(results),
        **_coverage(np.array([each.level for each in results])),
        "error_over_sd": dict(zip(PARAMETERS, ratio.tolist(), strict=True)),
        "bias": dict(zip(PARAMETERS, errors.mean(0).tolist(), strict=True)),
        "sd": dict(zip(PARAMETERS, sd.mean(0).tolist(), strict=True)),
        "paper_rule_coverage_90": _share(results),
    }


def _coverage(levels: Float[ndarray, " session"]) -> dict[str, Any]:
    rows = calibration_checks.coverage(levels)
    shares = {f"{row.nominal:g}": row.found for row in rows}
    return {"coverage_90": shares["0.9"], "coverage": shares}


def _share(results: list[Outcome]) -> float | None:
    levels = np.array([each.paper_level for each in results])
    return None if np.isnan(levels).any() else float((levels <= 0.9).mean())


def _paper_level(network: dict[str, ndarray] | None, drops: Drops) -> float:
    if network is None:
        return float("nan")
    density = density_arrays.from_arrays(network)
    mixture = drop_posterior.posterior(density, drops.features, drops.noise, drops.release)
    means, covariances = truncated_mixtures.moments(mixture)
    return gaussian_product(means.numpy(), covariances.numpy()).content_above(
        drops.theta[0].numpy()
    )
