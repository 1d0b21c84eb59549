"""How often 90 % regions of the law of impact, and of velocities after impacts, hold the truth.

Run by `python -m benchmarks.batting.impact_coverage [--tables 200] [--impacts 300] [--seed 0]
[--departure NAME]`.

Each table has impacts of the seven shapes with moving surfaces and a law anywhere: restitution 0.4
to 0.95, tangential restitution -0.2 to 0.9, friction 0.1 to 1 and shares of noise 0.01 to 0.2 (by
magnitude). Every second impact is held out. With `--departure` the impacts are not of the law that
is learnt: `speed`, restitution falls by a third from slow to fast impacts; `mirrored`, x of the
contacts has the wrong sign; `inertia`, it is stated 2.5 times too large; `mass`, stated 20 % too
large; `wrong-rows`, 3 % of the rows have the impulse of another row; `heavy-tail`, noise is
Student's with three degrees of freedom; `frame-rate`, velocities after are 3 % too small; `late`,
bodies have slid for 20 ms on a table, 0.06 m/s; `half`, velocities after are 10 % too small in the
first half of the rows.

Printed: the share of tables whose region holds the truth, of the three coefficients, of these and
the noise, and by mean and covariance alone (chi square, as a reader of `result.json` has it); each
central 90 % interval; the share of held-out impacts in their regions, all together and from table
to table; errors beside what the truth itself would miss; how many tables have a misfit; the time.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import balance, inference, misfits, recorded
from ricochet.models.systems.batting.impacts.inference import ImpactPosterior
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.tasks.console.progress import bar

LOW = np.array((0.4, -0.2, 0.1, 0.01, 0.01))
HIGH = np.array((0.95, 0.9, 1.0, 0.2, 0.2))
DEPARTURES = (
    "none", "speed", "mirrored", "inertia", "mass", "wrong-rows", "heavy-tail", "frame-rate",
    "late", "half",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What one table says."""

    nearer: tuple[float, float]
    gaussian: bool
    within: list[bool]
    held_out: float
    rms: float
    least_rms: float
    misfit: list[str]
    seconds: float


def truth(draw: np.random.Generator) -> np.ndarray:
    """Return coefficients and shares of noise."""
    found = draw.uniform(LOW, HIGH)
    found[3:] = np.exp(draw.uniform(np.log(LOW[3:]), np.log(HIGH[3:])))
    return found


def law_of(theta: np.ndarray) -> Law:
    """Return the law, whose noise is a share of the impulse alone."""
    e, e_t, friction, normal, tangential = map(float, theta)
    return Law(e, e_t, friction, 0.0, normal, tangential)


def table(theta: np.ndarray, count: int, draw: np.random.Generator, departure: str) -> Impacts:
    """Return impacts as a table has them."""
    found = recorded.simulate(law_of(theta), seven_shapes(), count, draw)
    if departure == "speed":
        speed, rows = -found.contacts[:, 4], []
        for place, each in enumerate(stats.rankdata(speed) / count):
            own = theta * np.array((1.0 - each / 3.0, 1.0, 1.0, 1.0, 1.0))
            noise = draw.normal(size=(1, 2))
            row = found.contacts[place : place + 1]
            rows.append(recorded.impulses(law_of(own), row, noise)[0])
        return recorded.struck(found, np.array(rows))
    if departure == "heavy-tail":
        noise = draw.standard_t(3, size=(count, 2))
        impulse = recorded.impulses(law_of(theta), found.contacts, noise)
        return recorded.struck(found, impulse)
    if departure == "mirrored":
        return replace(found, contact=found.contact * np.array((-1.0, 1.0)))
    if departure == "inertia":
        return replace(found, inertia=2.5 * found.inertia)
    if departure == "mass":
        return replace(found, mass=1.2 * found.mass)
    if departure in {"frame-rate", "late", "half"}:
        return replace(found, after=after(found, departure))
    if departure == "wrong-rows":
        impulse = found.impulse
        wrong = np.flatnonzero(draw.random(count) < 0.03)
        impulse[wrong] = impulse[draw.permutation(count)[: len(wrong)]]
        return recorded.struck(found, impulse)
    return found


def after(found: Impacts, departure: str) -> np.ndarray:
    """Return velocities after that are not those at the moment of impact."""
    if departure == "frame-rate":
        return 0.97 * found.after
    if departure == "half":
        return np.where(np.arange(len(found)) < len(found) // 2, 0.9, 1.0)[:, None] * found.after
    slower = np.maximum(1.0 - 0.06 / np.hypot(*found.after[:, :2].T), 0.0)[:, None]
    return found.after * np.hstack([slower, slower, np.ones_like(slower)])


def outcome(seed: int, count: int, departure: str) -> Outcome:
    """Simulate a table, infer from half of it and predict the other half."""
    draw = np.random.default_rng([seed, 0])
    theta = truth(draw)
    found = table(theta, count, draw, departure)
    found = found.take((found.contacts[:, 4] < 0.0) & (found.impulse[:, 0] > 0.0))
    learnt, held = (found.take(np.arange(first, len(found), 2)) for first in (0, 1))
    begun = time.process_time()
    posterior = inference.infer(learnt, np.random.default_rng([seed, 1]))
    seconds = time.process_time() - begun
    predicted = inference.predict(posterior, held, np.random.default_rng([seed, 2]))
    exact = ImpactPosterior(theta[None], posterior.friction_limit)
    least = inference.predict(exact, held, np.random.default_rng([seed, 3]))
    first = posterior.theta[:, :3]
    away = inference.distances(first, theta[None, :3])[-1]
    low, high = np.quantile(posterior.theta, (0.05, 0.95), axis=0)
    outlier = inference.outlier_probabilities(posterior, found)
    unbalanced = balance.misfit(found, balance.of(found))
    return Outcome(
        (posterior.nearer(theta, 3), posterior.nearer(theta)),
        bool(away <= stats.chi2(3).ppf(0.9)),
        ((low <= theta) & (theta <= high)).tolist(),
        predicted.coverage,
        predicted.rms,
        least.rms,
        unbalanced
        + misfits.of(posterior, found, outlier, predicted, np.random.default_rng([seed, 4])),
        seconds,
    )


def lines(found: Sequence[Outcome]) -> list[str]:
    """Return what all tables say."""
    low, high = np.array(stats.binom(len(found), 0.9).interval(0.95)) / len(found)
    nearer = np.mean([np.array(each.nearer) <= 0.9 for each in found], axis=0)
    gaussian = np.mean([each.gaussian for each in found])
    within = np.mean([each.within for each in found], axis=0)
    held = np.array([each.held_out for each in found])
    rms, least = (np.median([getattr(e, n) for e in found]) for n in ("rms", "least_rms"))
    kinds: dict[str, int] = {}
    for line in (line for each in found for line in each.misfit):
        words = " ".join(word for word in line.split()[:7] if not any(map(str.isdigit, word)))
        kinds[words] = kinds.get(words, 0) + 1
    return [
        f"{len(found)} tables; of them a share of 0.9 is within {low:.3f} to {high:.3f}",
        f"regions hold the three coefficients {nearer[0]:.3f}, with noise {nearer[1]:.3f},"
        f" by mean and covariance {gaussian:.3f}",
        "intervals of e, e_t, friction and noise: " + " ".join(f"{x:.3f}" for x in within),
        f"held-out impacts in their regions: {held.mean():.4f}, of a table"
        f" {np.quantile(held, 0.05):.2f} to {np.quantile(held, 0.95):.2f} (nine of ten)",
        f"rms of changes, median: {rms:.4f} m/s; by the truth {least:.4f} m/s",
        f"tables with a misfit: {np.mean([bool(each.misfit) for each in found]):.3f}",
        *(f"  {count:4d}  {words}" for words, count in sorted(kinds.items())),
        f"{np.median([each.seconds for each in found]):.2f} s of a processor each",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, infer and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--impacts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--departure", choices=DEPARTURES, default="none")
    given = parser.parse_args(arguments)
    found = []
    with bar("tables") as progress:
        for number in range(given.tables):
            found.append(outcome(given.seed + number, given.impacts, given.departure))
            progress(number + 1, given.tables)
    print(*lines(found), sep="\n")


if __name__ == "__main__":
    main()
