"""The rows of the study of the shaken box: fifty places of its weights, by each method.

Of ours there are two hundred, and what it predicts is displaced by the departures that it inferred.

`prior` draws all over the limits. `stein_newton` is ours (`inference.linear_newton`): box and
weights are inferred together, with noise and departures from the equations. All others are given
the box as its best fit has it (`box_placements.first_phase`), as in the paper, and one sigma.
`mujoco_sysid` is the least-squares fit of `mujoco.sysid`, and the normal law of its intervals.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference import budgets, linear_newton
from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.linear_newton import Settings
from ricochet.models.probability.boxes import Box
from ricochet.models.systems.rigid_bodies import box_parameters, box_shooting
from ricochet.models.systems.rigid_bodies.box_coordinates import BoxCoordinates
from ricochet.models.systems.rigid_bodies.box_parameters import WEIGHTS_HIGH, WEIGHTS_LOW
from ricochet.tasks.systems.rigid_bodies.studies import (
    box_fits,
    box_judge,
    box_placements,
    likelihood_free,
    methods,
    real_rows,
)
from ricochet.tasks.systems.rigid_bodies.studies.box_judge import SIGMA as ANGLE
from ricochet.tasks.systems.rigid_bodies.studies.box_judge import Law
from ricochet.tasks.systems.rigid_bodies.studies.box_placements import Placement
from ricochet.tasks.systems.rigid_bodies.studies.likelihood_free import Simulated
from ricochet.tasks.systems.rigid_bodies.studies.methods import Chosen, Problem

DRAWS = 50
SIGMA = 0.1
"""Deviation of an observation, over the states' deviations, for all but ours."""
PRIOR, OURS, SYSID = "prior", "stein_newton", "mujoco_sysid"
KINDS: Mapping[str, int | None] = {"ss": 1, "ms": None}
"""Windows by single and by multiple shooting; None for those of `box_shooting`."""
SETTINGS: Mapping[str, Chosen] = real_rows.SETTINGS
"""Those of the filmed pendulum (`real_rows`), where they were searched."""
_SEED = 84_000
_AT_ONCE = 500


@dataclass(frozen=True)
class Job:
    """A row of a placement.

    Attributes:
        seconds: Of processor time, where a method goes on as long as it may.
        particles: Of ours.
        rounds: Of ours, that settle and that are kept.
        simulations: To learn from, where a method does; its placements are `others` too.
        others: Seeds of the placements that a density is asked for.
    """

    row: str
    motion: str
    seed: int
    seconds: float = 0.0
    particles: int = 16
    rounds: int = 30
    simulations: int = 0
    others: tuple[int, ...] = ()


Found = list[dict[str, Any]]
"""How good a row is, a placement each (`box_judge`), and its draws of the places."""


def names() -> tuple[str, ...]:
    """Return the rows of methods that are given a density."""
    return tuple(f"{name}-{kind}" for name in methods.METHODS for kind in KINDS)


def work(job: Job) -> Found:
    """Do a job."""
    draw = np.random.default_rng([_SEED, job.seed, *job.row.encode(), *job.motion.encode()])
    begun = time.process_time()
    seeds = job.others or (job.seed,)
    placements = [box_placements.placement(job.motion, seed) for seed in seeds]
    laws = _laws(job, placements, draw)
    spent = (time.process_time() - begun) / len(seeds)
    return [
        {
            **box_judge.numbers(law, at, draw),
            "cpu_s": spent,
            "places": law.places[:DRAWS].round(6).tolist(),
        }
        for law, at in zip(laws, placements, strict=True)
    ]


def limits() -> Limits:
    """Return those of the weights' places."""
    return Limits(torch.tensor(WEIGHTS_LOW).double(), torch.tensor(WEIGHTS_HIGH).double())


def law(job: Job, at: Placement, draw: np.random.Generator, chosen: Chosen | None = None) -> Law:
    """Return what a row that is made for one placement says of it."""
    if job.row == OURS:
        return _ours(job, at, draw)
    numbers = box_placements.first_phase(job.motion, job.seed)
    if job.row == PRIOR:
        share = torch.from_numpy(draw.uniform(size=(DRAWS, 4)))
        return _given(Shares(limits()).parameters(share), numbers)
    if job.row == SYSID:
        problem = problem_of(at, numbers, "ss")
        return _given(box_fits.least_squares(problem, DRAWS, draw), numbers)
    name, kind = job.row.rsplit("-", 1)
    budget = budgets.processor_time(job.seconds)
    settings = SETTINGS[job.row] if chosen is None else chosen
    found = methods.infer(name, problem_of(at, numbers, kind), budget, draw, settings)
    last = np.linspace(0, len(found) - 1, DRAWS).round().astype(int)
    return _given(found[last], numbers)


def problem_of(at: Placement, numbers: Float[Tensor, " 11"], kind: str) -> Problem:
    """Return what methods are given."""
    return Problem(at.alone(numbers, KINDS[kind]), Shares(limits()), SIGMA)


def _laws(job: Job, placements: list[Placement], draw: np.random.Generator) -> list[Law]:
    if job.row not in likelihood_free.NAMES:
        return [law(job, at, draw) for at in placements]
    return _learnt(job, placements, draw)


def _given(places: Float[Tensor, "draw 4"], numbers: Float[Tensor, " 11"]) -> Law:
    """Return draws of places in a box that is given."""
    own = box_parameters.with_weights(numbers.expand(len(places), -1), places)
    return Law(places.numpy(), own)


def _ours(job: Job, at: Placement, draw: np.random.Generator) -> Law:
    inside = box_shooting.limits()
    posterior = linear_newton.infer(
        at.both(),
        BoxCoordinates(inside),
        draw,
        fitting=BoxCoordinates(inside, fitting=True),
        settings=Settings(particles=job.particles, settling=job.rounds, rounds=job.rounds),
        symmetry=box_parameters.swapped,
    )
    theta, delta = posterior.theta.flatten(0, 1), posterior.delta.flatten(0, 1)
    chosen = torch.from_numpy(draw.choice(len(theta), min(len(theta), 4 * DRAWS), replace=False))
    picked = theta[chosen]
    return Law(picked[:, -4:].numpy(), box_parameters.loaded(picked), delta[chosen])


def _learnt(job: Job, placements: list[Placement], draw: np.random.Generator) -> list[Law]:
    """Learn one density of shares from simulations and ask it for all placements."""
    model, statistic = job.row.rsplit("-", 1)
    generator = torch.Generator().manual_seed(int(draw.integers(2**31)))
    numbers = box_placements.first_phase(job.motion, job.seed)
    simulated = simulate(placements[0].joints, numbers, job.simulations, draw)
    box = Box((0.0,) * 4, (1.0,) * 4)
    density = likelihood_free.learn(
        simulated, box, model=model, statistic=statistic, draw=generator
    )
    found = []
    for at in placements:
        share = density.draws(torch.from_numpy(at.loaded), DRAWS, generator)
        found.append(_given(Shares(limits()).parameters(share), numbers))
    return found


def simulate(
    joints: Float[ndarray, "frame 7"],
    numbers: Float[Tensor, " 11"],
    count: int,
    draw: np.random.Generator,
) -> Simulated:
    """Simulate weights all over the limits; angles err and rates are taken as of a recording."""
    share = torch.from_numpy(draw.uniform(size=(count, 4)))
    places = Shares(limits()).parameters(share)
    boxes = box_parameters.with_weights(numbers.expand(count, -1), places)
    states = torch.cat(
        [
            box_shooting.from_rest(part, joints, box_placements.RATE)
            for part in boxes.split(_AT_ONCE)
        ]
    )
    angles = states[..., : box_shooting.SEEN].numpy()
    seen = angles + ANGLE * draw.normal(size=angles.shape)
    rates = box_shooting.slopes(seen, box_placements.RATE)
    return Simulated(share, torch.from_numpy(np.concatenate((seen, rates), -1)))
