"""The rows of the study of the shaken box: a hundred places of its weights, by each method.

`prior` draws all over the limits. `stein_newton` is ours (`inference.linear_newton`): box and
weights are inferred together, with noise, discrepancies and departures from the equations, and what
it predicts has those of its own. All others are given the box as its best fit has it
(`box_placements.first_phase`), as in the paper; those that take a density one sigma too, searched
with their settings (`box_search`).
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

from ricochet.models.inference import budgets
from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.linear_newton import Settings
from ricochet.models.probability.boxes import Box
from ricochet.models.systems.rigid_bodies import box_parameters, box_posterior, box_shooting
from ricochet.models.systems.rigid_bodies.box_parameters import (
    EMPTY,
    WEIGHTS,
    WEIGHTS_HIGH,
    WEIGHTS_LOW,
)
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
from ricochet.tasks.systems.rigid_bodies.studies.methods import PARTICLES as DRAWS
from ricochet.tasks.systems.rigid_bodies.studies.methods import Chosen, Problem

PRIOR, OURS, SYSID = "prior", "stein_newton", "mujoco_sysid"
KINDS: Mapping[str, int | None] = {"ss": 1, "ms": None}
"""Windows by single and by multiple shooting; None for those of `box_shooting`."""
SIGMA = "sigma"
"""Deviation of an observation, over the states' deviations: searched with the settings."""
BEGUN: Mapping[str, Chosen] = {
    row: {**chosen, SIGMA: 0.03} for row, chosen in real_rows.SETTINGS.items()
}
"""With which a search begins: the filmed pendulum's."""
SETTINGS: Mapping[str, Chosen] = {
    "svgd-ss": {"rate": 0.0846, "sigma": 0.0175},
    "svgd-ms": {"rate": 0.0125, "sigma": 0.0808},
    "csvgd-ss": {"rate": 0.0846, "damping": 0.141, "gain": 0.0237, "sigma": 0.0343},
    "csvgd-ms": {"rate": 0.0846, "damping": 0.141, "gain": 0.0237, "sigma": 0.0343},
    "sgld-ss": {"rate": 0.0726, "sigma": 0.03},
    "sgld-ms": {"rate": 0.0258, "sigma": 0.0369},
    "cem-ss": {"elite": 0.0782, "floor": 1.7e-05, "sigma": 0.03},
    "cem-ms": {"elite": 0.117, "floor": 3.77e-05, "sigma": 0.0482},
    "emcee-ss": {"stretch": 5.66, "sigma": 0.0175},
    "emcee-ms": {"stretch": 5.66, "sigma": 0.0175},
    "nuts-ss": {"accepted": 0.729, "sigma": 0.0587},
    "nuts-ms": {"accepted": 0.772, "sigma": 0.0808},
}
"""The best of `BEGUN` and five others at random, by `box_search` with 6 trials of 5 s."""
_SEED = 84_000
_AT_ONCE = 500


@dataclass(frozen=True)
class Job:
    """A row of a placement.

    Attributes:
        seconds: Of processor time, where a method goes on as long as it may.
        particles: Of ours.
        rounds: Of ours, that settle and that are kept.
        discrepancy: Of ours, the deviation of a share by which a number may be off.
        simulations: To learn from, where a method does; its placements are `others` too.
        others: Seeds of the placements that a density is asked for.
    """

    row: str
    motion: str
    seed: int
    seconds: float = 0.0
    particles: int = 0
    rounds: int = 0
    discrepancy: float = 0.0
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


def law(job: Job, at: Placement, draw: np.random.Generator) -> Law:
    """Return what a row that is made for one placement says of it."""
    if job.row == OURS:
        return _ours(job, at, draw)
    numbers = box_placements.first_phase(job.motion, job.seed)
    if job.row == PRIOR:
        share = torch.from_numpy(draw.uniform(size=(DRAWS, 4)))
        return _given(Shares(limits()).parameters(share), numbers)
    if job.row == SYSID:
        problem = problem_of(at, numbers, "ss", 1.0)
        return _given(box_fits.least_squares(problem, DRAWS, draw), numbers)
    return by_density(job.row, at, numbers, job.seconds, draw, SETTINGS[job.row])


def by_density(
    row: str,
    at: Placement,
    numbers: Float[Tensor, " 11"],
    seconds: float,
    draw: np.random.Generator,
    chosen: Chosen,
) -> Law:
    """Return what a method says that is given a density, within seconds of processor time.

    Args:
        numbers: Of the empty box.
        chosen: Its settings, sigma among them.
    """
    name, kind = row.rsplit("-", 1)
    settings = dict(chosen)
    problem = problem_of(at, numbers, kind, settings.pop(SIGMA))
    budget = budgets.processor_time(seconds)
    return _given(methods.infer(name, problem, budget, draw, settings), numbers)


def problem_of(at: Placement, numbers: Float[Tensor, " 11"], kind: str, sigma: float) -> Problem:
    """Return what methods are given; sigma is over the states' deviations."""
    return Problem(at.alone(numbers, KINDS[kind]), Shares(limits()), sigma)


def _laws(job: Job, placements: list[Placement], draw: np.random.Generator) -> list[Law]:
    if job.row not in likelihood_free.NAMES:
        return [law(job, at, draw) for at in placements]
    return _learnt(job, placements, draw)


def _given(places: Float[Tensor, "draw 4"], numbers: Float[Tensor, " 11"]) -> Law:
    """Return draws of places in a box that is given."""
    own = box_parameters.with_weights(numbers.expand(len(places), -1), places)
    return Law(places.numpy(), own)


def _ours(job: Job, at: Placement, draw: np.random.Generator) -> Law:
    settings = Settings(particles=job.particles, settling=job.rounds, rounds=job.rounds)
    posterior = at.posterior(draw, settings, job.discrepancy)
    theta, delta = posterior.theta.flatten(0, 1), posterior.delta.flatten(0, 1)
    chosen = torch.from_numpy(draw.choice(len(theta), min(len(theta), DRAWS), replace=False))
    parameters = len(EMPTY + WEIGHTS)
    picked = box_posterior.further(theta[chosen], parameters, job.discrepancy, draw)
    numbers = box_posterior.off(box_parameters.loaded, parameters, 0)(picked)
    return Law(picked[:, len(EMPTY) : parameters].numpy(), numbers, delta[chosen])


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
    for seed, at in zip(job.others, placements, strict=True):
        share = density.draws(torch.from_numpy(at.loaded), DRAWS, generator)
        own = box_placements.first_phase(job.motion, seed)
        found.append(_given(Shares(limits()).parameters(share), own))
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
