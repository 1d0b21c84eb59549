"""Posteriors inferred again: from the recordings, and from motions simulated at its own draws.

A simulated motion begins where the first piece of a recording began, with the parameters, the noise
and the departures of one draw of the package, and is inferred at reduced size. What is compared is
the eight functions of the parameters that a motion tells (`pendulum_parameters.identified`). Each
inference is a job of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import chain_regions, stein_newton
from ricochet.models.inference.chain_regions import Place
from ricochet.models.inference.limits import Logistic
from ricochet.models.inference.stein_newton import Settings
from ricochet.models.systems.rigid_bodies import pendulum_parameters
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.systems.rigid_bodies import motion_inference, pendulum_inference
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from ricochet.tasks.systems.rigid_bodies.settings import PendulumGate
from ricochet.tasks.systems.rigid_bodies.validation.recordings import Learnt

STREAM = 210
"""Of the gate's randomness; the inference that made the package has another."""

Chains = Float[ndarray, "round particle 8"]


SETTLING, ROUNDS = 20, 15
"""Rounds of moves of a simulated motion's posterior, in place of 40 and 20."""


@dataclass(frozen=True)
class Job:
    """An inference.

    Attributes:
        settings: How much is done.
        truth: Parameters that the motion was simulated with; None of a recorded one.
        seed: Of its randomness.
    """

    runs: Mapping[str, Recorded]
    span: float
    instants: tuple[float, ...]
    settings: Settings
    truth: Float[ndarray, " 11"] | None
    seed: tuple[int, ...]


@dataclass(frozen=True)
class InferredAgain:
    """What was inferred.

    Attributes:
        chains: Of the recordings, what the motion tells.
        places: Of the truths of simulated motions.
    """

    chains: Chains
    places: tuple[Place, ...]


def infer_again(
    draws: Draws,
    runs: Mapping[str, Recorded],
    of: Learnt,
    settings: PendulumGate,
    *,
    seed: int,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> InferredAgain:
    """Infer the recordings with another seed, and motions of some draws."""
    full = Settings(particles=settings.particles)
    whole = Job(runs, of.span, of.instants, full, None, (seed, STREAM))
    generator = np.random.default_rng([seed, STREAM, 1])
    jobs = [whole, *_trials(draws, runs, of, settings, generator, seed)]
    found = run_all(work, jobs, workers=workers, progress=progress)
    return InferredAgain(
        found[0],
        tuple(
            chain_regions.place(chains, told(job.truth))
            for chains, job in zip(found[1:], jobs[1:], strict=True)
        ),
    )


def work(job: Job) -> Chains:
    """Infer a job's recordings."""
    problem = pendulum_inference.problem()
    shooting, _ = motion_inference.windows_of(problem, job.runs, job.span, job.instants)
    found = stein_newton.infer(
        shooting,
        Logistic(problem.limits, problem.logarithmic),
        np.random.default_rng(job.seed),
        settings=job.settings,
        spread_in=problem.spread_in,
        apart=problem.width,
    )
    return told(found.theta.numpy())


def told(theta: Float[ndarray, "*batch 11"] | None) -> Float[ndarray, "*batch 8"]:
    """Return what a motion tells of parameters."""
    return pendulum_parameters.identified(torch.from_numpy(np.asarray(theta)))[0].numpy()


def stated(draws: Draws, particles: int) -> Chains:
    """Return what a package states, by its chains."""
    return told(draws.theta).reshape(-1, particles, 8)


def _trials(
    draws: Draws,
    runs: Mapping[str, Recorded],
    of: Learnt,
    settings: PendulumGate,
    generator: np.random.Generator,
    seed: int,
) -> list[Job]:
    """Return jobs of simulated motions."""
    starts = _starts(list(runs.values()), of)
    chosen = generator.permutation(len(draws.theta))[: settings.trials]
    found = []
    for number, which in enumerate(chosen):
        one = draws[which : which + 1]
        run = simulated(one, starts[number % len(starts)], settings.span, generator)
        reduced = Settings(settings.trial_particles, settling=SETTLING, rounds=ROUNDS)
        own = (seed, STREAM, 2, number)
        found.append(Job({"simulated": run}, settings.span, (0.0,), reduced, one.theta[0], own))
    return found


def simulated(
    one: Draws, start: Float[ndarray, " 4"], span: float, generator: np.random.Generator
) -> Recorded:
    """Return a motion of one draw, seen with its noise, with its departures at every window."""
    bodies, states = Bodies.of(one.theta), [start[None]]
    for begin in range(0, round(span * one.rate), one.window):
        away = one.departure * generator.normal(size=(1, 4)) if begin else 0.0
        states.append(one.moved(bodies, states[-1][-1:] + away, one.window)[:, 0])
    whole = np.concatenate(states)
    return Recorded(whole + one.observation * generator.normal(size=whole.shape), one.rate)


def _starts(runs: Sequence[Recorded], of: Learnt) -> list[Float[ndarray, " 4"]]:
    """Return the states in which the first pieces begin, the most lively ones."""
    return [run.states[round(min(of.instants) * run.rate)] for run in runs]
