"""The trials: candidate and champion decide at the same moments whether to pass a swung pendulum.

The twin (`hardware.twins.swung_pendulum`) plays a draw of a posterior with its departures, those
of both contenders in turn, so that the comparison favours neither. Each moment is of a swing of its
own and is independent of the others.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.swung_pendulum import Camera, Nature, SwungPendulum
from ricochet.models.systems.rigid_bodies.disc_crossing import Crossing
from ricochet.models.systems.rigid_bodies.pendulum_tracking import LATE, ORDER, Draws
from ricochet.tasks.console.progress import bar
from ricochet.tasks.systems.rigid_bodies import particle_packages
from ricochet.tasks.systems.rigid_bodies.settings import PendulumGate
from ricochet.tasks.systems.rigid_bodies.validation.held_out import INTERVAL
from ricochet.tasks.systems.rigid_bodies.validation.results import CrossingResult, Moment
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.judge import RigRequest, RunTrials

STREAM = 211
LONGEST = 1.0
"""Seconds that a pendulum swings before it is watched, at most."""


@dataclass(frozen=True)
class Swing:
    """What is seen until a decision, and what came.

    Attributes:
        seen: Angles, rad.
        coming: True angles of the interval in which the disc is passed.
    """

    seen: Float[ndarray, "frame 2"]
    coming: Float[ndarray, "frame 2"]


def open_twin(request: RigRequest) -> RunTrials[CrossingResult]:
    """Return what lets all contenders decide before the simulated pendulum."""
    return partial(cross, request.settings[PendulumGate])


def cross(settings: PendulumGate, contenders: Contenders, seed: int, _: Path) -> CrossingResult:
    """Let every contender decide at the same moments; nothing is left in the folder."""
    draws = {
        role: particle_packages.draws_of(package) for role, package in contenders.packages.items()
    }
    controllers = {
        role: Crossing(some(each, settings.futures, seed), INTERVAL) for role, each in draws.items()
    }
    roles = list(draws)
    moments: dict[str, list[Moment]] = {role: [] for role in roles}
    with bar(f"{contenders.name} crossings") as progress:
        for number in range(settings.crossings):
            plays = roles[number % len(roles)]
            generator = np.random.default_rng([seed, STREAM, number])
            swing = swung(draws[plays], controllers[plays], generator)
            for role, controller in controllers.items():
                moments[role].append(decided(controller, swing, plays, (seed, STREAM, number)))
            progress(number + 1, settings.crossings)
    return CrossingResult(
        name=contenders.name,
        candidate=contenders.candidate,
        champion=contenders.champion,
        seed=seed,
        moments={role: tuple(each) for role, each in moments.items()},
    )


def some(draws: Draws, count: int, seed: int) -> Draws:
    """Return some draws, any of them."""
    return draws[np.random.default_rng([seed, STREAM]).permutation(len(draws.theta))[:count]]


def swung(draws: Draws, controller: Crossing, generator: np.random.Generator) -> Swing:
    """Let a pendulum of one draw swing until it was watched and passed."""
    one = draws[generator.integers(len(draws.theta), size=1)]
    pendulum = SwungPendulum(nature(one), camera(one), draw=generator.spawn(1)[0])
    first, last = (round(each * one.rate) for each in INTERVAL)
    now = round(generator.uniform(0.0, LONGEST) * one.rate) + controller.frames - 1
    seen = pendulum.swing((now + last) / one.rate)[: now + 1]
    coming = pendulum.truth_for_evaluation()[now + first : now + last + 1, :2]
    return Swing(seen, coming)


def decided(controller: Crossing, swing: Swing, plays: str, seed: tuple[int, ...]) -> Moment:
    """Return a decision, and whether the disc was touched."""
    decision = controller.decide(swing.seen, np.random.default_rng([*seed, 1]))
    touched = bool(controller.disc.touched(swing.coming).any())
    return Moment(decision.chance, decision.passes, touched, plays)


def nature(one: Draws) -> Nature:
    """Return the pendulum of a draw: errors of frames are such that smoothed ones are its noise."""
    powers = np.arange(-LATE, LATE + 1.0)[:, None] ** np.arange(ORDER + 1)
    smoothed = np.linalg.norm(np.linalg.pinv(powers)[0])
    error = one.observation[0, :2] / smoothed
    return Nature(one.theta[0], np.zeros(2), one.departure[0], error)


def camera(one: Draws) -> Camera:
    """Return the clock of a draw."""
    return Camera(one.rate, one.window, one.substeps)
