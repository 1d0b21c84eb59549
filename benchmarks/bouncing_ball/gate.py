"""How often the gate refuses whom: `python -m benchmarks.bouncing_ball.gate`.

What is measured of a candidate is drawn by its law instead of being computed: levels and ranks of a
Gaussian posterior in two dimensions whose variance was divided by c (1 - (1 - U)^c inside, uniform
U), tosses that are touched independently with a given chance, cups that hold with a chance of 0.95.
Printed: the share of candidates that `tasks.systems.bouncing_ball.validation.gate` refuses, with
its standard error.

Rows of tosses compare with a champion that meets 0.7 of them, on the same seeds, or, without one,
with a stationary paddle; on a real rig the tosses are counted apart, 60 each.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems.bouncing_ball.validation import gate
from ricochet.tasks.systems.bouncing_ball.validation.results import TwinResult
from ricochet.tasks.validation.checks import not_worse
from ricochet.tasks.validation.outcomes import REAL, Paired
from tests.tasks.systems.bouncing_ball.gate_cases import CHAMPION, evidence, first, twin

DIVISORS = (1.25, 1.5, 2.0, 4.0)
TOSSES = (60, 100, 200)
FIRST = {"as good as staying": (0.20, 0.20), "moon ball": (0.46, 0.20), "tennis": (0.93, 0.40)}
"""Shares of all tosses that a first candidate and staying meet (`ricochet study ball-tracking`)."""

Judge = Callable[[np.random.Generator], tuple[Check, ...]]


def apart(draw: np.random.Generator, *, tosses: int, candidate: float) -> TwinResult:
    """Tosses met on a real rig, where no cup is tried."""
    both = twin(draw, tosses=tosses, candidate=candidate)
    return replace(both, rig=REAL, positions=(), inside_90=Paired((), ()))


def rows() -> dict[str, Judge]:
    """Each kind of candidate, and what judges one of it."""
    found: dict[str, Judge] = {
        "sound, by what is measured again": lambda draw: gate.judge_evidence(evidence(draw)),
        "sound, by tosses and cups": lambda draw: gate.judge_trials(twin(draw, tosses=TOSSES[-1])),
    }
    for c in DIVISORS:
        found[f"packaged variance divided by {c:g}"] = lambda draw, c=c: gate.judge_evidence(
            evidence(draw, package=c)
        )
    for c in DIVISORS:
        found[f"method whose variance is divided by {c:g}"] = lambda draw, c=c: gate.judge_evidence(
            evidence(draw, method=c)
        )
    for fewer in (0.1, 0.2):
        for n in TOSSES:
            found[f"{100 * fewer:g} points fewer tosses met, of {n}"] = (
                lambda draw, n=n, share=CHAMPION - fewer: (
                    not_worse("", twin(draw, tosses=n, candidate=share).success),
                )
            )
    for name, (met, stay) in FIRST.items():
        for n in (TOSSES[0], TOSSES[-1]):
            found[f"first, {name}, {n} tosses"] = lambda draw, n=n, met=met, stay=stay: (
                gate.judge_trials(first(draw, tosses=n, met=met, stay=stay))[1],
            )
    for share in (0.7, 0.6, 0.5):
        found[f"real rig, {share:g} of 60 for 0.7"] = lambda draw, share=share: (
            gate.judge_trials(apart(draw, tosses=60, candidate=share))[1],
        )
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    count = arguments.candidates
    print(f"{'candidate':45s} refused  (of {count})")
    for name, judged in rows().items():
        draw = np.random.default_rng(arguments.seed)
        fates = [all(check.passed for check in judged(draw)) for _ in range(count)]
        share = fates.count(False) / count
        print(f"{name:45s} {share:7.3f}  +- {np.sqrt(share * (1 - share) / count):.3f}")


if __name__ == "__main__":
    main()
