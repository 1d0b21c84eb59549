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

from ricochet.models.systems.bouncing_ball.calibration.posterior_agreement import Agreement
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems.bouncing_ball.validation import gate
from ricochet.tasks.systems.bouncing_ball.validation.gate import CalibrationEvidence
from ricochet.tasks.systems.bouncing_ball.validation.results import TwinResult
from ricochet.tasks.validation.checks import not_worse
from ricochet.tasks.validation.outcomes import REAL, SIMULATED, Paired

SESSIONS, DRAWS, SAMPLES = 80, 500, 4000
CUPS, HELD, CHAMPION = 40, 0.95, 0.7
DIVISORS = (1.25, 1.5, 2.0, 4.0)
TOSSES = (60, 100, 200)
FIRST = {"as good as staying": (0.20, 0.20), "moon ball": (0.46, 0.20), "tennis": (0.93, 0.40)}
"""Shares of all tosses that a first candidate and staying meet (`ricochet study ball-tracking`)."""

Judge = Callable[[np.random.Generator], tuple[Check, ...]]


def evidence(
    draw: np.random.Generator, *, method: float = 1.0, package: float = 1.0
) -> CalibrationEvidence:
    """What is measured of a posterior whose variance was divided, by the law of a Gaussian."""
    product = ProductChecks(
        levels=1 - (1 - draw.random(SESSIONS)) ** method, ranks=draw.random((SESSIONS, 2)), drops=20
    )
    agreement = Agreement(
        levels=1 - (1 - draw.random(DRAWS)) ** package,
        sample_levels=1 - (1 - draw.random(SAMPLES)) ** (1 / package),
        sample_ranks=draw.random((SAMPLES, 2)),
        mean_distance=0.01,
        variance_ratios=(1.0 / package, 1.0 / package),
    )
    return CalibrationEvidence(agreement, product, float(draw.random()))


def twin(
    draw: np.random.Generator,
    *,
    tosses: int = 100,
    candidate: float = CHAMPION,
    champion: float = CHAMPION,
    cups: float = HELD,
) -> TwinResult:
    """Tosses met independently, and cups."""
    return TwinResult(
        name="ping-pong-table",
        candidate="2",
        champion="1",
        rig=SIMULATED,
        seeds=tuple(range(tosses)),
        success=Paired(outcomes(draw, tosses, candidate), outcomes(draw, tosses, champion)),
        positions=tuple((0.1 * place, 0.0) for place in range(CUPS)),
        inside_90=Paired(outcomes(draw, CUPS, cups), outcomes(draw, CUPS, HELD)),
    )


def first(draw: np.random.Generator, *, tosses: int, met: float, stay: float) -> TwinResult:
    """A candidate without a champion, compared with a stationary paddle."""
    compared = twin(draw, tosses=tosses, candidate=met, champion=stay)
    alone = {
        name: Paired(getattr(compared, name).candidate, None) for name in ("success", "inside_90")
    }
    return replace(compared, champion=None, stay=compared.success.champion, **alone)


def apart(draw: np.random.Generator, *, tosses: int, candidate: float) -> TwinResult:
    """Tosses met on a real rig, where no cup is tried."""
    both = twin(draw, tosses=tosses, candidate=candidate)
    return replace(both, rig=REAL, positions=(), inside_90=Paired((), ()))


def outcomes(draw: np.random.Generator, count: int, share: float) -> tuple[bool, ...]:
    """Independent trials that are good with a chance."""
    return tuple(bool(value) for value in draw.random(count) < share)


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
