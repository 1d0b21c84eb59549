"""The rows of the study of synthetic pendulums: a hundred pairs of lengths by each method.

Every row is inferred from the same data with the same bandwidth. `exact` draws from the density
itself, `truth` from the law of the pendulums, and `population` is ours: the lengths of each
pendulum are inferred, and the next one is predicted by their mean and covariance.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import budgets, stein_newton
from ricochet.models.inference.limits import Logistic, Shares
from ricochet.models.inference.stein_newton import Settings
from ricochet.models.probability.boxes import Box
from ricochet.tasks.systems.rigid_bodies.studies import (
    likelihood_free,
    methods,
    synthetic_lengths,
)
from ricochet.tasks.systems.rigid_bodies.studies.likelihood_free import Simulated
from ricochet.tasks.systems.rigid_bodies.studies.methods import PARTICLES, Chosen, Problem
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_lengths import (
    HIGH,
    LOW,
    NOISE,
    START,
    Data,
    Grid,
    Rolled,
)

WINDOWS = {"ss": 1, "ms": 10}
"""Of single and of multiple shooting: the paper's Fig. 2."""
SETTINGS: Mapping[str, Chosen] = {
    "svgd-ss": {"rate": 0.05},
    "svgd-ms": {"rate": 0.016},
    "csvgd-ss": {"rate": 0.05, "damping": 1.0, "gain": 0.01},
    "csvgd-ms": {"rate": 0.0123, "damping": 0.187, "gain": 0.00866},
    "sgld-ss": {"rate": 0.0726},
    "sgld-ms": {"rate": 0.0726},
    "cem-ss": {"elite": 0.0818, "floor": 2.88e-4},
    "cem-ms": {"elite": 0.0818, "floor": 2.88e-4},
    "emcee-ss": {"stretch": 2.0},
    "emcee-ms": {"stretch": 2.88},
    "nuts-ss": {"accepted": 0.791},
    "nuts-ms": {"accepted": 0.791},
}
"""What `python -m ricochet.tasks.systems.rigid_bodies.studies.synthetic_search` found, 6 trials."""
EXACT, TRUTH, POPULATION = "exact", "truth", "population"
_FITTED = Settings(particles=16, settling=15, rounds=10)
_FITTED_WINDOWS = 20
_SEED = 70_000


@dataclass(frozen=True)
class Job:
    """A row for some sets of data, each by a number.

    Attributes:
        seconds: Of processor time for each, where a method goes on as long as it may.
        simulations: To learn from, where a method does.
    """

    row: str
    seeds: tuple[int, ...]
    seconds: float
    simulations: int


@dataclass(frozen=True)
class Inferred:
    """What a method gave.

    Attributes:
        cpu_s: Processor time of it.
    """

    theta: list[list[float]]
    cpu_s: float

    @property
    def lengths(self) -> Float[ndarray, "particle 2"]:
        """In m."""
        return np.array(self.theta)


@dataclass(frozen=True)
class Known:
    """A set of data, its exact density and the bandwidth chosen."""

    data: Data
    grid: Grid
    sigma: float

    def problem(self, windows: int) -> Problem:
        """Return what the methods are given."""
        shooting = self.data.shooting(windows)
        coordinates = Shares(synthetic_lengths.limits())
        return Problem(shooting, coordinates, self.sigma, mixture=True)


def names() -> tuple[str, ...]:
    """Return the rows of methods that are given a density."""
    return tuple(f"{name}-{kind}" for name in methods.METHODS for kind in WINDOWS)


@lru_cache(maxsize=1)
def _rolled() -> Rolled:
    return synthetic_lengths.rolled()


def data_of(seed: int) -> Data:
    """Return a set of data."""
    return synthetic_lengths.drawn(np.random.default_rng([_SEED, seed]))


@lru_cache(maxsize=1)
def known(seed: int) -> Known:
    """Return a set of data and its exact answer."""
    data, generator = data_of(seed), np.random.default_rng([_SEED, seed, 1])
    grid = _rolled().compared(data)
    return Known(data, grid, grid.bandwidth(generator))


def work(job: Job) -> list[Inferred]:
    """Do a job."""
    if job.row in likelihood_free.NAMES:
        return _learnt(job)
    return [_inferred(job, seed) for seed in job.seeds]


def _inferred(job: Job, seed: int) -> Inferred:
    at, generator = known(seed), np.random.default_rng([_SEED, seed, *job.row.encode()])
    begun = time.process_time()
    if job.row == EXACT:
        found = at.grid.draws(at.sigma, PARTICLES, generator)
    elif job.row == TRUTH:
        found = synthetic_lengths.draws_of_law(generator, PARTICLES)
    elif job.row == POPULATION:
        found = synthetic_lengths.population(_each(at.data, generator), generator)
    else:
        name, kind = job.row.rsplit("-", 1)
        budget = budgets.processor_time(job.seconds)
        problem, chosen = at.problem(WINDOWS[kind]), SETTINGS[job.row]
        found = methods.infer(name, problem, budget, generator, chosen).numpy()
    return Inferred(found.tolist(), time.process_time() - begun)


def _each(data: Data, generator: np.random.Generator) -> Float[ndarray, "draw trajectory 2"]:
    """Draw the lengths of each pendulum from the posterior of its own motion."""
    limits = synthetic_lengths.limits()
    coordinates = Logistic(limits)
    found = []
    for run in data.observed:
        shooting = Data(data.lengths[:1], run[None], data.test_lengths).shooting(_FITTED_WINDOWS)
        posterior = stein_newton.infer(
            shooting, coordinates, generator, settings=_FITTED, known_starts=True
        )
        draws = posterior.theta.flatten(0, 1)
        found.append(draws[generator.integers(len(draws), size=PARTICLES)].numpy())
    return np.stack(found, 1)


def _learnt(job: Job) -> list[Inferred]:
    """Learn once, and draw for all sets of data as many for each trajectory."""
    begun = time.process_time()
    model, statistic = job.row.rsplit("-", 1)
    generator = np.random.default_rng([_SEED, *job.row.encode()])
    draw = torch.Generator().manual_seed(int(generator.integers(2**31)))
    box = Box((LOW, LOW), (HIGH, HIGH))
    simulated = simulate(job.simulations, generator)
    density = likelihood_free.learn(simulated, box, model=model, statistic=statistic, draw=draw)
    spent, found = time.process_time() - begun, []
    for seed in job.seeds:
        observed = data_of(seed).observed
        count = PARTICLES // len(observed)
        draws = torch.cat([density.draws(run, count, draw) for run in observed])
        found.append(Inferred(draws.tolist(), spent))
    return found


def simulate(count: int, generator: np.random.Generator) -> Simulated:
    """Simulate pendulums of all lengths within the limits, seen with noise."""
    theta = torch.from_numpy(generator.uniform(LOW, HIGH, (count, 2)))
    states = synthetic_lengths.moved(theta)
    start = torch.tensor(START, dtype=torch.float64).expand(count, 1, 4)
    noise = NOISE * torch.from_numpy(generator.normal(size=states.shape))
    return Simulated(theta, torch.cat((start, states + noise), 1))
