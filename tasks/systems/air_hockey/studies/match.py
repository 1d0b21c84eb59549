"""The study of a match: an agent against itself, for minutes, by the rules of the tournament.

Two robots stand at one table (`models.systems.air_hockey.two_robots`). Both agents are of the same
policy and choose by themselves what to do: shoot, push a puck into the open, or stop one. A rally
begins with a puck laid for the side that conceded the last one. Airflow and noise are those of the
settings, and unknown to the agents.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from ricochet.models.core.progress import Progress
from ricochet.models.systems.air_hockey import shot_outcome, two_robots
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.table import Table
from ricochet.models.systems.air_hockey.two_robots import SIDES, Rally
from ricochet.tasks.console.progress import part
from ricochet.tasks.figures import style
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.figures import matches
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.systems.air_hockey.studies import rows, table_one
from ricochet.tasks.systems.interface import StudyRequest

POLICY = "balanced"
MINUTES, MINUTES_QUICK = 10, 1
STREAM = 63
"""Of randomness: serves, airflow and noise."""
FILMED = 14.0
"""Seconds of the film."""
_BETWEEN = 0.1  # s, from point to point of the picture


@dataclass(frozen=True)
class Point:
    """One rally that was played.

    Attributes:
        served: The side that the puck was laid for.
        crossings: How often the puck crossed the middle line.
        shots, pushes, stops: Strikes of both sides.
        limits: Kinds of limit that an arm broke.
    """

    served: int
    seconds: float
    ended: str
    winner: int | None
    crossings: int
    shots: tuple[int, ...]
    pushes: tuple[int, ...]
    stops: tuple[int, ...]
    limits: tuple[str, ...]
    faults: tuple[str, ...]


@dataclass
class Match:
    """A match under way."""

    points: list[Point] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    way: list[ndarray] = field(default_factory=list)
    filmed: Rally | None = None

    @property
    def seconds(self) -> float:
        """For how long was played."""
        return sum(point.seconds for point in self.points)


class Timed:
    """An agent whose steps are timed."""

    def __init__(self, agent: ShootingAgent, steps: list[float]) -> None:
        """Keep the times of steps, s."""
        self.agent, self._steps = agent, steps

    def reset(self) -> None:
        """Begin an episode."""
        self.agent.reset()

    def draw_action(self, observation: ndarray) -> ndarray:
        """Return what the agent commands."""
        began = time.perf_counter()
        command = self.agent.draw_action(observation)
        self._steps.append(time.perf_counter() - began)
        return command


def run(request: StudyRequest) -> dict[str, Any]:
    """Have the policies, play the match, count and draw."""
    settings = table_one.shrunk(request.settings) if request.quick else request.settings
    progress = [part(request.progress, number, 2) for number in range(2)]
    folder = output_folder(request.out / "policies")
    shooters = table_one.policies(settings, folder, request.seed, progress[0])
    minutes = request.count or (MINUTES_QUICK if request.quick else MINUTES)
    make = partial(rows.agent, POLICY, shooters, settings)
    match = play(
        [make() for _ in SIDES],
        seconds=60.0 * minutes,
        hockey=settings[Hockey],
        draw=np.random.default_rng((request.seed, STREAM)),
        progress=progress[1],
    )
    draw_pictures(match, request)
    return {"quick": request.quick, "policy": POLICY, **count(match)}


def play(
    agents: Sequence[ShootingAgent],
    *,
    seconds: float,
    hockey: Hockey,
    draw: np.random.Generator,
    progress: Progress,
) -> Match:
    """Play rallies until so many seconds of play are over."""
    match, hall = Match(), two_robots.build()
    timed = [Timed(agent, match.steps) for agent in agents]
    side = int(draw.integers(2))
    while match.seconds < seconds - PERIOD:
        begun = match.seconds
        puck = two_robots.serve(side, draw=draw)
        rally = two_robots.begin(hall, puck=puck, disturbance=disturbance_of(hockey), draw=draw)

        def watch(rally: Rally, begun: float = begun) -> None:
            progress(min(round(begun + PERIOD * len(rally.trace)), round(seconds)), round(seconds))

        two_robots.play(rally, timed, longest=seconds - begun, watch=watch)
        match.points.append(_point(rally, agents, side))
        _keep(match, rally, begun)
        side = side if rally.winner is None else 1 - rally.winner
    return match


def count(match: Match) -> dict[str, Any]:
    """Return the numbers of a match."""
    points = match.points
    won = {
        what: [sum(p.ended == what and p.winner == side for p in points) for side in SIDES]
        for what in ("goal", "foul")
    }
    median, high = 1e3 * np.quantile(match.steps, (0.5, 0.99))
    strikes = {
        name: sum(sum(getattr(point, name)) for point in points)
        for name in ("shots", "pushes", "stops")
    }
    return {
        "seconds": round(match.seconds, 2),
        "goals": won["goal"],
        "fouls": won["foul"],
        "stuck": sum(point.ended in ("middle", "out") for point in points),
        **strikes,
        "crossings": sum(point.crossings for point in points),
        "longest_rally": max(point.seconds for point in points),
        "constraint_violations": sum(bool(point.limits) for point in points),
        "step_ms": {"median": float(median), "p99": float(high)},
        "rallies": [asdict(point) for point in points],
    }


def draw_pictures(match: Match, request: StudyRequest) -> None:
    """Draw the match as `match.png`, and the end of the rally that was kept as `match.gif`."""
    ends = np.cumsum([point.seconds for point in match.points])
    events = [
        (float(end), point.ended, -1 if point.winner is None else point.winner)
        for end, point in zip(ends, match.points, strict=True)
        if point.ended
    ]
    half_length = Table().half_length
    picture = matches.timeline(np.concatenate(match.way), events, half_length)
    style.write(request.out, {"match": picture})
    if match.filmed is not None:
        matches.film(match.filmed, request.out / "match.gif", last=FILMED)


def _point(rally: Rally, agents: Sequence[ShootingAgent], side: int) -> Point:
    """Return what there is to say of a rally."""
    strikes = [agent.strike_plans for agent in agents]
    x = np.array(rally.trace)[:, 0]
    observed = np.stack((np.array(rally.joints), np.array(rally.speeds)), 2)
    limits = [shot_outcome.violations(observed[:, k], rally.hall.table) for k in SIDES]
    return Point(
        side,
        PERIOD * (len(rally.trace) - 1),
        rally.ended,
        rally.winner,
        int((np.diff(np.sign(x)) != 0.0).sum()),
        tuple(sum(plan.is_shot for plan in plans) for plans in strikes),
        tuple(sum(plan.is_push for plan in plans) for plans in strikes),
        tuple(sum(plan.is_stop for plan in plans) for plans in strikes),
        tuple(sorted({kind for kinds in limits for kind in kinds})),
        tuple(fault for agent in agents for fault in agent.faults),
    )


def _keep(match: Match, rally: Rally, begun: float) -> None:
    """Keep the puck's way, and the rally to be filmed: one with a goal, then the longest."""
    every = round(_BETWEEN / PERIOD)
    x = np.array(rally.trace)[::every, 0]
    match.way.append(np.column_stack((begun + _BETWEEN * np.arange(len(x)), x)))
    match.way.append(np.full((1, 2), np.nan))
    best = match.filmed
    rank = (rally.ended == "goal", len(rally.trace))
    if best is None or rank > (best.ended == "goal", len(best.trace)):
        match.filmed = rally
