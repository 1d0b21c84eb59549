"""Sessions in order, recorded by the simulated rig: does what two answers say of them come true?

Run by `python -m benchmarks.bouncing_ball.sound_sessions [--sessions N] [--takes N] [--whole N]
[--seed N] [--workers N]`.

Sessions of the default rig in its room are detected and answered as `ricochet calibrate` does, from
three bounces of all takes and from whole ones of the first `--whole` (0 leaves these out). Printed
of each session and answer: the error of restitution and of log10 concentration in stated
deviations, and the predictive p-value. Below, of each answer: mean and root mean square of the
errors, the share of 90 % intervals that hold the truth, and the p-values' mean with the chance of a
set as far from uniform (Kolmogorov and Smirnov). Errors of root mean square one and uniform
p-values are those of a model whose noise is that of the sessions; smaller errors and high p-values
say that it assumes more.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ricochet.models.inference import calibration_checks
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.console.progress import bar
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.systems.bouncing_ball.studies import reality
from ricochet.tasks.systems.bouncing_ball.studies.reality_rows import Judged, Outcome


@dataclass(frozen=True)
class Job:
    """One session."""

    seed: int
    takes: int
    rules: Calibrate


def outcome(job: Job) -> Outcome:
    """Record and answer a session."""
    return reality.recorded("recorded", takes=job.takes, seed=job.seed, rules=job.rules)


def line(answer: Judged | None) -> str:
    """Return one answer's errors and p-value."""
    if answer is None:
        return "refused"
    return f"{answer.error[0]:+6.2f} {answer.error[1]:+6.2f}   p {answer.p_value:.3f}"


def summary(answers: Sequence[Judged]) -> str:
    """Return what the answers of all sessions have in common."""
    errors = np.array([each.error for each in answers])
    levels = np.array([each.level for each in answers])
    chances = np.array([each.p_value for each in answers])
    squares, held = np.sqrt((errors**2).mean(0)), (levels < 0.9).mean(0)
    chance = calibration_checks.uniformity(chances).kolmogorov_p_value
    return (
        f"errors {errors.mean(0).round(2)}, rms {squares.round(2)}, 90 % hold {held.round(2)}, "
        f"p-values {chances.mean():.2f} on average, uniform at a chance of {chance:.3f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--takes", type=int, default=20, help="of a session")
    parser.add_argument("--whole", type=int, default=10, help="takes explained as wholes")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    parser.add_argument("--workers", type=int, help="processes; one for each processor if absent")
    options = parser.parse_args()
    rules = replace(catalogue.load_settings()[Calibrate], whole_takes=options.whole)
    seeds = range(options.seed, options.seed + options.sessions)
    jobs = [Job(seed, options.takes, rules) for seed in seeds]
    with bar("sessions") as progress:
        found = run_all(outcome, jobs, workers=options.workers, progress=progress)
    print("session  three bounces             whole takes               findings")
    for seed, each in zip(seeds, found, strict=True):
        whole = line(each.answer) if options.whole else ""
        said = "; ".join(each.said) or "none"
        print(f"{seed:7d}  {line(each.three_bounces):25s} {whole:25s} {said}")
    three = [each.three_bounces for each in found if each.three_bounces is not None]
    print(f"three bounces: {summary(three)}")
    if options.whole:
        print(f"whole takes:   {summary([each.answer for each in found if each.answer])}")


if __name__ == "__main__":
    main()
