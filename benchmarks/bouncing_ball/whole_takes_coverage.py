"""How often the whole takes' intervals hold the truth, over the priors of all that is inferred.

Run by `python -m benchmarks.bouncing_ball.whole_takes_coverage --sessions N [--takes N]
[--bounces N] [--seed N] [--workers N] [--journal FILE]`; with a journal a run that was stopped
goes on.

Every parameter, the law and the errors that takes share are drawn from their priors
(`tests/oracles/prior_chains.py`), a session is simulated and inferred as `ricochet calibrate`
infers whole takes. Printed of restitution at the reference speed and log10 concentration: the share
of central 50 and 90 % intervals that hold the truth, with the exact 95 % interval of such a share
among so many sessions; the rank of the truth among the draws, whose greatest distance from
uniformity and its chance are those of Kolmogorov and Smirnov; the root mean square of error over
stated deviation. Answers that are said to be weak are counted apart, and shares with a finding are
given: sessions of the model should have none of `misfit`, `take` and `disagreement`.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ricochet.models.inference import calibration_checks
from ricochet.models.systems.bouncing_ball.calibration import whole_chains
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball
from ricochet.models.systems.bouncing_ball.chains.parameters import BOX
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.progress import bar
from tests.oracles import prior_chains

NEAR = (0.005, 0.2)
"""How near to the truth the search starts: about what three bounces tell."""


@dataclass(frozen=True)
class Job:
    """One session."""

    seed: int
    takes: int
    bounces: int


@dataclass(frozen=True)
class Outcome:
    """Ranks, errors in deviations, the names of the findings, and whether it is weak."""

    ranks: list[float]
    errors: list[float]
    findings: list[str]
    weak: bool


def outcome(job: Job) -> Outcome:
    """Draw a session from the priors and infer it."""
    session = prior_chains.session(job.takes, job.bounces, seed=job.seed)
    truth, draw = session.theta[:2], np.random.default_rng([job.seed, 1])
    answer = whole_chains.infer(
        session.takes,
        [f"take-{number:02d}" for number in range(job.takes)],
        first=np.clip(truth + draw.normal(0.0, NEAR), BOX[0] + 0.01, BOX[1] - 0.01),
        ball=Ball(),
        draw=draw,
    )
    draws = answer.family.pair
    ranks = calibration_checks.ranks(draws[None], truth[None], draw=draw)[0]
    errors = (draws.mean(0) - truth) / np.maximum(draws.std(0), 1e-12)
    names = [finding.name for finding in answer.findings]
    return Outcome(ranks.tolist(), errors.tolist(), names, bool(answer.weak))


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the rows of some sessions."""
    if not outcomes:
        return []
    ranks = np.array([each.ranks for each in outcomes])
    errors = np.array([each.errors for each in outcomes])
    rows = []
    for name, own, error in zip(PARAMETERS, ranks.T, errors.T, strict=True):
        shares = calibration_checks.coverage(np.abs(2.0 * own - 1.0), nominal=(0.5, 0.9))
        even = calibration_checks.uniformity(own)
        text = "  ".join(
            f"{share.nominal:.0%}: {share.found:.2f} ({share.low:.2f} to {share.high:.2f})"
            for share in shares
        )
        rows.append(
            f"{name:22s}{text}  ranks off by {even.distance:.2f}, chance "
            f"{even.kolmogorov_p_value:.3f}  error over sd {np.sqrt(np.mean(error**2)):.2f}"
        )
    said = Counter(name for each in outcomes for name in set(each.findings))
    shares_said = ", ".join(f"{name} {count / len(outcomes):.2f}" for name, count in said.items())
    return [*rows, f"findings: {shares_said or 'none'}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--takes", type=int, default=10, help="of a session")
    parser.add_argument("--bounces", type=int, default=6, help="of a take")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    parser.add_argument("--journal", type=Path, help="file that keeps finished sessions")
    parser.add_argument("--workers", type=int, help="processes; one for each processor if absent")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.sessions)
    jobs = [Job(seed, options.takes, options.bounces) for seed in seeds]
    journal = None
    if options.journal:
        journal = Journal(options.journal, encode=asdict, decode=lambda row: Outcome(**row))
    with bar("sessions") as progress:
        found = run_all(outcome, jobs, workers=options.workers, journal=journal, progress=progress)
    for title, weak in (("answered", False), ("said to be weak", True)):
        chosen = [each for each in found if each.weak is weak]
        print(f"{title}: {len(chosen)} of {len(found)} sessions")
        for line in lines(chosen):
            print(f"  {line}")


if __name__ == "__main__":
    main()
