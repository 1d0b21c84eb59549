"""Frames of a drawer followed a second on one core, beside a particle filter in numpy.

Run by `python -m benchmarks.drawers.following [--seconds S] [--particles N]`.

`belief` is the joint belief on a grid, frame by frame as a controller has it, and whole sessions as
the search of its weights has them; `particles` is what a user would write: openings and directions
drawn by the same equations, weighed and resampled. Errors are those of the mean opening, begun
where the drawer is. `live` is all that a controller does with sound: features, networks, belief.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.systems.drawers import hearing, learning, live
from ricochet.models.systems.drawers.belief import place_and_direction, weighing, whole_sessions
from ricochet.models.systems.drawers.belief.place_and_direction import REST, Grammar, Heard
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.learning import Size
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.studies.recorded import Session

BUFFER = 176  # samples, 11 ms


def learnt(seconds: float) -> tuple[Hearing, Session]:
    """Return a hearing learnt for a moment from two sessions, and a third."""
    setting = Setting("kitchen-large", seconds=seconds, light_off=0.5 * seconds)
    made = [recorded.session(setting, seed) for seed in range(3)]
    usual = Size()
    names = ("speed", "place", "direction")
    few = {name: replace(getattr(usual, name), epochs=8) for name in names}
    cases = [(each.frames.features, each.frames.labels) for each in made[:2]]
    return learning.fit(cases, torch.Generator().manual_seed(0), size=Size(**few)), made[2]


def by_frame(
    heard: list[Heard], grammar: Grammar, start: float
) -> tuple[float, Float[ndarray, " frame"]]:
    """Return the time of the belief frame by frame, s, and its means."""
    belief, means = _begun(grammar, start), []
    begun = time.perf_counter()
    for each in heard:
        belief = place_and_direction.step(belief, each, grammar)
        means.append(belief.mean)
    return time.perf_counter() - begun, np.array(means)


def by_session(session: weighing.Session, grammar: Grammar, start: float) -> float:
    """Return the time of the belief through a whole session, s."""
    count = len(session.heard)
    cells, ways = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def run() -> object:
        return whole_sessions.follow(_begun(grammar, start), session.rows, cells, ways, grammar)

    run()  # compiles
    return _timed(run)


def by_particles(
    heard: list[Heard], grammar: Grammar, start: float, count: int
) -> tuple[float, Float[ndarray, " frame"]]:
    """Return the time of particles, s, and their means."""
    draw = np.random.default_rng(0)
    place, way = np.full(count, start), draw.choice([-1.0, 1.0], count)
    means, begun = [], time.perf_counter()
    for each in heard:
        spread = grammar.widening * each.speed_deviation
        speed = np.maximum(draw.normal(each.speed, spread, count), 0.0)
        way = np.where((speed < REST) & (draw.random(count) < grammar.turning), -way, way)
        moved = place + way * speed * each.duration
        stopped = (moved < grammar.low) | (moved > grammar.high)
        place = np.clip(moved, grammar.low, grammar.high)
        logs = np.where(stopped, np.log(grammar.blocked), 0.0)
        logs -= 0.5 * grammar.weight * ((place - each.place) / each.place_deviation) ** 2
        logs += grammar.direction_weight * each.odds * (way > 0.0) * (speed > REST)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        means.append(float(weights @ place))
        points = np.minimum(np.cumsum(weights), 1.0 - 1e-12)
        chosen = np.searchsorted(points, (np.arange(count) + draw.random()) / count)
        place, way = place[np.minimum(chosen, count - 1)], way[np.minimum(chosen, count - 1)]
    return time.perf_counter() - begun, np.array(means)


def by_sound(heard: Hearing, session: Session) -> float:
    """Return the time of all that a controller does, s."""
    samples = session.take.samples

    def run() -> None:
        stream = live.begin(heard, len(samples))
        for begin in range(0, samples.shape[1], BUFFER):
            stream, _ = live.feed(stream, samples[:, begin : begin + BUFFER])

    return _timed(run)


def _begun(grammar: Grammar, start: float) -> place_and_direction.Belief:
    return place_and_direction.see(place_and_direction.anywhere(grammar), start, weighing.SEEN)


def _timed(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def main() -> None:
    """Print frames a second and errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each session")
    parser.add_argument("--particles", type=int, default=4000)
    given = parser.parse_args()
    torch.set_num_threads(1)
    found, session = learnt(given.seconds)
    heard = hearing.listen(found, session.frames.features).heard()
    labels, grammar = session.frames.labels, found.grammar
    start = float(labels.position[0])
    plain, means = by_frame(heard, grammar, start)
    drawn, others = by_particles(heard, grammar, start, given.particles)
    whole = by_session(weighing.Session(heard, labels), grammar, start)
    rows = (
        ("belief, whole sessions", whole, None),
        ("belief, frame by frame", plain, means),
        (f"{given.particles} particles in numpy", drawn, others),
        ("live, from sound", by_sound(found, session), None),
    )
    print(f"{'':28}{'frames/s':>10}{'of particles':>14}{'error / m':>11}")
    for name, taken, mean in rows:
        error = "" if mean is None else f"{np.sqrt(np.mean((mean - labels.position) ** 2)):.3f}"
        print(f"{name:28}{len(heard) / taken:10.0f}{drawn / taken:14.2f}{error:>11}")


if __name__ == "__main__":
    main()
