"""What a study of batting does many times: a trial of a row, or a flight that a filter follows."""

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from ricochet.models.systems.batting import trial
from ricochet.models.systems.batting.belief import flights
from ricochet.models.systems.batting.belief.localiser import PAPER, FilterSettings
from ricochet.models.systems.batting.trial import Start
from ricochet.models.systems.batting.world import World, paper_world
from ricochet.tasks.systems.batting.studies import rows

FILTERS = {
    "paper_200": PAPER,
    "ours": FilterSettings(),
    "truth_started": FilterSettings(draws=0, particles=40_000, early=40_000, bandwidth=0.0),
}


@dataclass(frozen=True)
class Job:
    """One trial or flight.

    Attributes:
        row: Of Table I or "ours"; of the filters for a flight.
        mode: "filter" or "known" for a trial, "flight".
        number: Which start; equal numbers of one seed have the same start and noise.
        code: Digest of what plays it: an edit makes other jobs, which a journal does not hold.
    """

    row: str
    mode: str
    number: int
    seconds: float
    screen_noise: float
    seed: int
    code: str = ""


@dataclass(frozen=True)
class Done:
    """What is kept of a trial or a flight; errors in metres.

    Attributes:
        soon, shape: Probability of the right shape after `flights.SOON` and at the end.
        plan_ms, update_ms: Mean, 99th percentile and largest of the times, ms; or none.
    """

    passes: tuple[int, ...] = ()
    bats: int = 0
    looks: int = 0
    plan_ms: tuple[float, ...] = ()
    update_ms: tuple[float, ...] = ()
    error: float = 0.0
    shape: float = 0.0
    inside: bool = False
    soon: float = 0.0


def do(job: Job) -> Done:
    """Play a trial or follow a flight."""
    start = trial.random_start(job.seed, job.number, job.seconds, job.screen_noise)
    believed = _believed(job.seed, job.screen_noise)
    draw = np.random.default_rng([job.seed, job.number, 1])
    return (
        _fly(job, start, believed, draw)
        if job.mode == "flight"
        else _play(job, start, believed, draw)
    )


def warm_up() -> None:
    """Have everything compiled, so that no trial is timed while it waits for machine code."""
    for row in (*rows.CLOSED, "E"):
        do(Job(row, "filter", 0, 1.5, 0.02, 0))
    do(Job("ours", "known", 0, 0.5, 0.02, 0))


def encode(done: Done) -> dict[str, Any]:
    """Return what a journal can hold."""
    return asdict(done)


def decode(held: dict[str, Any]) -> Done:
    """Return what a journal held."""
    lists = {key: tuple(value) for key, value in held.items() if isinstance(value, list)}
    return Done(**{**held, **lists})


def _play(job: Job, start: Start, believed: World, draw: np.random.Generator) -> Done:
    true = Start(start.state, start.kind, rows.world_of(job.row, start.world), start.screen)
    settings = FilterSettings() if job.mode == "filter" and job.row in rows.CLOSED else None
    policy = rows.policy(job.row, job.mode == "known", job.seconds)
    planned = rows.world_of(job.row, believed)
    played = trial.run(true, policy, settings, planned, draw)
    return Done(
        tuple(int(count) for count in played.passes),
        played.bats,
        played.looks,
        _milliseconds(played.plan_times),
        _milliseconds(played.update_times),
    )


def _fly(job: Job, start: Start, believed: World, draw: np.random.Generator) -> Done:
    flight = flights.localise(
        start.state,
        start.kind,
        start.screen,
        (start.world, believed),
        FILTERS[job.row],
        draw,
        from_truth=job.row == "truth_started",
    )
    return Done(
        update_ms=_milliseconds(flight.update_times),
        error=flight.error,
        shape=flight.shape,
        inside=flight.inside,
        soon=flight.soon,
    )


@cache
def _believed(seed: int, screen_noise: float) -> World:
    """Return the world that filters and planners believe in: the true law, other random numbers."""
    world = paper_world(np.random.default_rng([seed, 2**31]))
    return world._replace(table=world.table._replace(screen_noise=screen_noise))


def _milliseconds(seconds: np.ndarray) -> tuple[float, ...]:
    if not len(seconds):
        return ()
    found = (seconds.mean(), np.quantile(seconds, 0.99), seconds.max())
    return tuple(round(1e3 * float(each), 3) for each in found)
