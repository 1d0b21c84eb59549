"""How often regions of what a pendulum's motion tells hold the truth.

Run by `python -m benchmarks.rigid_bodies.pendulum_coverage --runs N [--any] [--particles N]
[--seed N] [--workers N] [--journal FILE]`; with a journal a run that was stopped goes on.

The pendulums are like the recorded one (every size and mass up to a third or so off it, joints with
little friction), or with `--any` from all over the limits of Heiden et al., Fig. 7a, where many
hardly move and little can be told. First angles are of a whole turn, first rates 10 rad/s wide;
both are seen for a second at 400 Hz with errors of 0.005 rad and 0.2 rad/s, and inferred by
particles that begin all over the limits, inertias from 1e-5.

Printed: the share of 90 % regions of the eight identified functions together (by the distance from
their mean that nine of ten draws keep, in their covariance) and of the central 90 % intervals of
each that hold the truth, with the exact 95 % interval of a share of 0.9 among so many runs; shares
of the starts that came to the best fit; how well particles mixed.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy import stats

from ricochet.models.inference import stein_newton
from ricochet.models.inference.limits import Limits, Logistic
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.stein_newton import Posterior, Settings
from ricochet.models.systems.rigid_bodies import double_pendulum, pendulum_parameters
from ricochet.models.systems.rigid_bodies.pendulum_coordinates import PendulumCoordinates
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.progress import bar

STEPS, WINDOWS, PERIOD, SUBSTEPS = 400, 20, 2.5e-3, 4
ERRORS = torch.tensor([0.005, 0.005, 0.2, 0.2], dtype=torch.float64)
LIKE = (0.35, 1e-3, 0.1, 0.0, 1e-4, 0.145, 0.35, 7e-4, 0.028, 0.0, 2e-4)
"""In the order of the parameters: a pendulum that moves as the recorded one does."""
ASIDE = (3, 9)
"""Centres of mass beside the links: 5 mm wide, either way."""
_WIDEST = 60.0
"""Rates beyond which a motion counts as none, rad/s."""
SIMULATE = partial(double_pendulum.move, duration=PERIOD, substeps=SUBSTEPS)


@dataclass(frozen=True)
class Job:
    """One recording."""

    seed: int
    particles: int
    any: bool


@dataclass(frozen=True)
class Outcome:
    """Shares of the draws nearer to the mean, and below the truth; of starts; the worst mixing."""

    nearer: float
    below: list[float]
    at_best: float
    mixing: float


def coordinates() -> Logistic:
    """Return those of the limits, moments of inertia by their magnitude."""
    low = torch.from_numpy(LOW.copy())
    inertias = torch.tensor(["inertia" in name for name in PARAMETERS])
    low[inertias] = 1e-5
    return Logistic(Limits(low, torch.from_numpy(HIGH)), inertias)


def pendulum(limits: Limits, draw: np.random.Generator) -> torch.Tensor:
    """Draw one like that which was recorded."""
    sizes = np.array(LIKE) * np.exp(draw.normal(0.0, 0.2, len(LIKE)))
    aside = draw.normal(0.0, 0.005, len(LIKE))
    sizes[list(ASIDE)] = aside[list(ASIDE)]
    return torch.from_numpy(sizes).clamp(limits.low, limits.high)


def recording(limits: Limits, job: Job) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw parameters and simulate what is seen of their motion."""
    draw = np.random.default_rng([job.seed, 0])
    while True:
        share = torch.from_numpy(draw.uniform(size=len(PARAMETERS)))
        theta = limits.low + share * (limits.high - limits.low)
        theta = (theta if job.any else pendulum(limits, draw))[None]
        begun = np.concatenate((draw.uniform(-np.pi, np.pi, 2), draw.normal(0.0, 10.0, 2)))
        start = torch.from_numpy(begun)[None]
        moved = double_pendulum.roll_out(
            theta, start, steps=STEPS, duration=PERIOD, substeps=SUBSTEPS
        )
        states = torch.cat((start, moved[0]))
        if bool(torch.isfinite(states).all()) and float(states[:, 2:].abs().max()) < _WIDEST:
            return theta[0], states + ERRORS * torch.from_numpy(draw.normal(size=states.shape))


def inferred(job: Job) -> tuple[torch.Tensor, Posterior]:
    """Draw a recording and infer it."""
    whole = coordinates()
    theta, seen = recording(whole.limits, job)
    problem = Shooting(SIMULATE, seen[None], WINDOWS, seen.std(0))
    settings = Settings(particles=job.particles, settling=40, rounds=30)
    generator = np.random.default_rng([job.seed, 1])
    found = stein_newton.infer(
        problem, whole, generator, settings=settings, spread_in=PendulumCoordinates(whole.limits)
    )
    return theta, found


def outcome(job: Job) -> Outcome:
    """Say where among the draws the truth lies."""
    theta, found = inferred(job)
    truth = pendulum_parameters.identified(theta)[0].numpy()
    draws = pendulum_parameters.identified(found.theta.flatten(0, 1))[0].numpy()
    mean, factor = draws.mean(0), np.linalg.cholesky(np.cov(draws.T))
    away = [np.linalg.norm(np.linalg.solve(factor, (x - mean).T), axis=0) for x in (draws, truth)]
    return Outcome(
        float((away[0] < away[1]).mean()),
        (draws < truth).mean(0).tolist(),
        float((found.fits <= 1.1 * found.fits.min()).double().mean()),
        float(found.mixing.max()),
    )


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what some recordings say."""
    low, high = np.array(stats.binom(len(outcomes), 0.9).interval(0.95)) / len(outcomes)
    together = np.mean([each.nearer <= 0.9 for each in outcomes])
    below = np.array([each.below for each in outcomes])
    each = ((below > 0.05) & (below < 0.95)).mean(0)
    starts = np.quantile([one.at_best for one in outcomes], (0.0, 0.1, 0.5))
    mixing = np.quantile([one.mixing for one in outcomes], (0.5, 0.9, 1.0))
    return [
        f"{len(outcomes)} recordings; of them a share of 0.9 is within {low:.2f} to {high:.2f}",
        f"90 % regions of all eight hold the truth: {together:.2f}",
        "90 % intervals of b, u, v, p, q, l, d_1, d_2: " + " ".join(f"{x:.2f}" for x in each),
        "starts at the best fit, least, tenth and half: " + " ".join(f"{x:.2f}" for x in starts),
        "mixing, half, nine tenths, worst: " + " ".join(f"{x:.2f}" for x in mixing),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, infer and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--any", action="store_true")
    parser.add_argument("--particles", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--journal", type=Path)
    given = parser.parse_args(arguments)
    journal = given.journal and Journal(given.journal, vars, lambda entry: Outcome(**entry))
    jobs = [Job(given.seed + number, given.particles, given.any) for number in range(given.runs)]
    with bar("recordings") as progress:
        found = run_all(outcome, jobs, workers=given.workers, journal=journal, progress=progress)
    print(*lines(found), sep="\n")


if __name__ == "__main__":
    main()
