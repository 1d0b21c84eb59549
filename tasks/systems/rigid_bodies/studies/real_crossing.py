"""How often a disc that the filmed pendulum swings through is passed, and how often in vain.

A decision is made every fifth of a second of each recording's first 22 seconds, by four rules:
`posterior` is the controller (`disc_crossing`), `best` the draw of the highest density alone and
without departures, `constant_rates` lets both angles go on as they last moved, and `oracle` passes
wherever the film has no contact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.rigid_bodies.disc_crossing import INTERVALS, Crossing, Disc
from ricochet.models.systems.rigid_bodies.pendulum_tracking import LATE, Draws

SECONDS, EVERY = 22.0, 0.2
_EDGES = (0.0, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0)
"""Of the chances whose frequencies are counted."""
ORACLE = "oracle"

Rule = Callable[[Crossing, ndarray, np.random.Generator], float]
"""Returns the chance of contact by frames of states."""


@dataclass(frozen=True)
class Judged:
    """Decisions.

    Attributes:
        chance: Of contact, of each decision, by rule.
        touched: Whether there was one.
    """

    chance: Mapping[str, Float[ndarray, " decision"]]
    touched: Bool[ndarray, " decision"]
    tolerated: float

    def to_json(self) -> dict[str, Any]:
        """Return passes, contacts, contacts a pass, and contact-free passes over the oracle's."""
        free = int((~self.touched).sum())
        found: dict[str, Any] = {ORACLE: _counted(~self.touched, self.touched, free)}
        for rule, chance in self.chance.items():
            found[rule] = _counted(chance <= self.tolerated, self.touched, free)
        return {**found, "decisions": len(self.touched), "calibration": self.calibration()}

    def calibration(self) -> list[dict[str, float]]:
        """Return how often the controller's chances came true, by classes of them."""
        chance, found = self.chance["posterior"], []
        place = np.clip(np.digitize(chance, _EDGES, right=True), 1, len(_EDGES) - 1)
        for number in range(1, len(_EDGES)):
            inside = place == number
            if inside.any():
                found.append(
                    {
                        "chance": float(chance[inside].mean()),
                        "contacts": float(self.touched[inside].mean()),
                        "decisions": int(inside.sum()),
                    }
                )
        return found


def evaluate(
    draws: Draws,
    best: Draws,
    recordings: Sequence[Float[ndarray, "frame 4"]],
    generator: np.random.Generator,
    *,
    disc: Disc = Disc(),  # noqa: B008
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return `to_json` of each interval.

    Args:
        draws: Of the posterior, a future each.
        best: A single draw.
        recordings: States by polynomials through frames about each (`marked_motion`). Only those
            are looked at that frames up to the decision make.
    """
    rules: dict[str, tuple[Rule, Draws]] = {
        "posterior": (_by_futures, draws),
        "best": (_by_futures, replace(best, departure=0.0 * best.departure)),
        "constant_rates": (_by_rates, draws),
    }
    found = {}
    for number, (name, interval) in enumerate(INTERVALS.items()):
        controllers = {
            rule: (run, Crossing(own, interval, disc)) for rule, (run, own) in rules.items()
        }
        judged = []
        for place, states in enumerate(recordings):
            judged.append(_judged(controllers, states, generator))
            progress(number * len(recordings) + place + 1, len(INTERVALS) * len(recordings))
        chance = {rule: np.concatenate([each[0][rule] for each in judged]) for rule in rules}
        touched = np.concatenate([each[1] for each in judged])
        tolerated = controllers["posterior"][1].tolerated
        found[name] = Judged(chance, touched, tolerated).to_json()
    return found


def _judged(
    controllers: Mapping[str, tuple[Rule, Crossing]],
    states: Float[ndarray, "frame 4"],
    generator: np.random.Generator,
) -> tuple[dict[str, ndarray], ndarray]:
    """Decide all along a recording."""
    _, some = controllers["posterior"]
    rate, (first, last) = some.draws.rate, some.interval
    begin, end = round(first * rate), round(last * rate)
    whole = min(len(states) - end, round(SECONDS * rate))
    chance: dict[str, list[float]] = {rule: [] for rule in controllers}
    touched = []
    for now in range(some.frames - 1, whole, round(EVERY * rate)):
        seen = states[now - some.frames + 1 + LATE : now + 1 - LATE]
        for rule, (run, crossing) in controllers.items():
            chance[rule].append(run(crossing, seen, generator))
        touched.append(some.disc.touched(states[now + begin : now + end + 1, :2]).any())
    return {rule: np.array(each) for rule, each in chance.items()}, np.array(touched)


def _by_futures(crossing: Crossing, seen: ndarray, generator: np.random.Generator) -> float:
    return float(crossing.disc.touched(crossing.futures(seen, generator)).any(0).mean())


def _by_rates(crossing: Crossing, seen: ndarray, _: np.random.Generator) -> float:
    rate = crossing.draws.rate
    first, last = (round(each * rate) + LATE for each in crossing.interval)
    time = np.arange(first, last + 1)[:, None] / rate
    return float(crossing.disc.touched(seen[-1, :2] + time * seen[-1, 2:]).any())


def _counted(passes: ndarray, touched: ndarray, free: int) -> dict[str, Any]:
    count, contacts = int(passes.sum()), int((passes & touched).sum())
    return {
        "passes": count,
        "contacts": contacts,
        "contacts_a_pass": contacts / count if count else None,
        "of_oracle": (count - contacts) / free if free else None,
    }
