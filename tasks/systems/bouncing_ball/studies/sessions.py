"""Coverage of products over many drops: sessions simulated, multiplied and compared with the truth.

Each session is a job of its own with its own seed, so that the rows do not depend on how many
processors share the work. Finished sessions are noted in a journal, a line each: a study that was
stopped goes on where it was.
"""

import json
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import calibration_checks, density_arrays
from ricochet.models.inference.mixture_density_networks import ConditionalDensity
from ricochet.models.probability import boxes, truncated_mixtures
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, posterior
from ricochet.models.systems.bouncing_ball.calibration.gaussian_product import gaussian_product
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS, PRIOR, Features, Noise


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
        truth: The parameters.
        level: Mass of the posterior's highest-density region that just holds the truth.
        error: Posterior mean minus truth.
        sd: Posterior standard deviations.
        ranks: Mass below the truth in each marginal.
        paper_level: `level` for the paper's rule; not a number without a network.
    """

    truth: Float[ndarray, " 2"]
    level: float
    error: Float[ndarray, " 2"]
    sd: Float[ndarray, " 2"]
    ranks: Float[ndarray, " 2"]
    paper_level: float


def simulate(session: Session) -> tuple[Float[ndarray, " 2"], Features, Noise]:
    """Simulate the measured features of a session at the default noise."""
    draw = torch.Generator().manual_seed(session.seed)
    truth = boxes.sample(PRIOR, (), draw=draw)
    if session.truth is not None:
        truth = torch.tensor(session.truth, dtype=torch.float64)
    noise = problem.constant_noise((session.drops,))
    theta = truth.expand(session.drops, 2)
    return truth.numpy(), problem.simulate_features(theta, noise, draw=draw), noise


def outcome(session: Session, network: dict[str, ndarray] | None = None) -> Outcome:
    """Simulate a session, infer, and compare with the truth.

    Args:
        session: What to simulate.
        network: Arrays of a density network, for the paper's rule.

    Returns:
        The comparison.
    """
    torch.set_num_threads(1)
    truth, features, noise = simulate(session)
    density = posterior.posterior(features, noise)
    return Outcome(
        truth=truth,
        level=density.content_above(truth),
        error=density.mean - truth,
        sd=np.sqrt(np.diag(density.covariance)),
        ranks=density.ranks(truth),
        paper_level=_paper_level(network, features, noise, truth),
    )


def outcomes(
    sessions: list[Session],
    *,
    network: ConditionalDensity | None = None,
    journal: Path | None = None,
    progress: Callable[[], None] | None = None,
) -> list[Outcome]:
    """Run sessions on all processors and return their outcomes in order.

    Args:
        sessions: What to simulate.
        network: Density network for the paper's rule.
        journal: File of finished sessions, read first and added to.
        progress: Called after each session.

    Returns:
        The outcomes.
    """
    found = _noted(journal)
    left = [each for each in sessions if each not in found]
    for _ in range(len(sessions) - len(left)):
        if progress:
            progress()
    arrays = None if network is None else density_arrays.to_arrays(network)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        jobs = {pool.submit(outcome, each, arrays): each for each in left}
        for job in as_completed(jobs):
            found[jobs[job]] = job.result()
            _note(journal, jobs[job], job.result())
            if progress:
                progress()
    return [found[each] for each in sessions]


def _noted(journal: Path | None) -> dict[Session, Outcome]:
    if journal is None or not journal.exists():
        return {}
    found = {}
    for line in journal.read_text().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # the last line of a run that was killed
            continue
        session, values = entry["session"], entry["outcome"]
        truth = session["truth"] and tuple(session["truth"])
        key = Session(session["seed"], session["drops"], truth)
        arrays: dict[str, Any] = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        found[key] = Outcome(**arrays)
    return found


def _note(journal: Path | None, session: Session, result: Outcome) -> None:
    if journal is None:
        return
    values = {k: v.tolist() if isinstance(v, ndarray) else v for k, v in vars(result).items()}
    with journal.open("a") as file:
        file.write(json.dumps({"session": vars(session), "outcome": values}) + "\n")


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


def _paper_level(
    network: dict[str, ndarray] | None, features: Features, noise: Noise, truth: ndarray
) -> float:
    if network is None:
        return float("nan")
    density = density_arrays.from_arrays(network)
    mixture = drop_posterior.posterior(density, features, noise)
    means, covariances = truncated_mixtures.moments(mixture)
    return gaussian_product(means.numpy(), covariances.numpy()).content_above(truth)
