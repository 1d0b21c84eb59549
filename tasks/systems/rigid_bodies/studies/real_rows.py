"""The rows of the study of the filmed pendulum: a hundred parameters by each method.

`prior` draws all over the limits. `stein_newton` is ours, with noise, departures and the first
state inferred, and states are displaced by the departures as particles are rolled out; in
`stein_newton_parameters` they are not. All others are given the density of one sigma, from the
first state as it was observed. Those that learn from simulations draw them evenly in shares of the
limits' range, of its logarithm for moments of inertia. `paper_limits` is the best fit within the
limits of the paper.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference import budgets, gauss_newton, stein_newton
from ricochet.models.inference.gauss_newton import Schedule
from ricochet.models.inference.limits import Coordinates, Limits, Logistic, Shares
from ricochet.models.inference.shooting_density import ShootingDensity
from ricochet.models.inference.stein_newton import Settings
from ricochet.models.probability.boxes import Box
from ricochet.models.systems.rigid_bodies import marked_motion
from ricochet.models.systems.rigid_bodies.pendulum_coordinates import PendulumCoordinates
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS
from ricochet.tasks.systems.rigid_bodies import pendulum_inference
from ricochet.tasks.systems.rigid_bodies.studies import filmed_pendulum, likelihood_free, methods
from ricochet.tasks.systems.rigid_bodies.studies.filmed_pendulum import WINDOWS, Film
from ricochet.tasks.systems.rigid_bodies.studies.likelihood_free import Simulated
from ricochet.tasks.systems.rigid_bodies.studies.methods import PARTICLES, Chosen, Problem

SIGMA = 0.1
"""Deviation of an observation, over the states' deviations: about what the best fit misses by."""
PRIOR, OURS, PAPER_LIMITS = "prior", "stein_newton-ms", "paper_limits"
PARAMETERS_ALONE = "stein_newton_parameters-ms"
SETTINGS: Mapping[str, Chosen] = {
    "svgd-ss": {"rate": 0.0269},
    "svgd-ms": {"rate": 0.01},
    "csvgd-ss": {"rate": 0.00585, "damping": 2.37, "gain": 0.00386},
    "csvgd-ms": {"rate": 0.0123, "damping": 0.187, "gain": 0.00866},
    "sgld-ss": {"rate": 0.0726},
    "sgld-ms": {"rate": 0.0726},
    "cem-ss": {"elite": 0.0782, "floor": 1.7e-05},
    "cem-ms": {"elite": 0.1, "floor": 1e-05},
    "emcee-ss": {"stretch": 2.37},
    "emcee-ms": {"stretch": 3.17},
    "nuts-ss": {"accepted": 0.772},
    "nuts-ms": {"accepted": 0.8},
}
"""What `python -m ricochet.tasks.systems.rigid_bodies.studies.real_search` found, 6 trials."""
_SEED = 71_000
_FITTED = 32
_NEAR = 1.1


@dataclass(frozen=True)
class Job:
    """A row.

    Attributes:
        folder: Of the recordings.
        seconds: Of processor time, where a method goes on as long as it may.
        particles: Of ours, whose draws of all rounds the hundred are of.
        simulations: To learn from, where a method does.
    """

    row: str
    seed: int
    folder: str
    seconds: float = 0.0
    particles: int = PARTICLES
    simulations: int = 0
    sigma: float = SIGMA


@dataclass(frozen=True)
class Found:
    """What a row gave.

    Attributes:
        fit_rmse: Least root mean square of the residuals, over the states' deviations.
        starts_at_best: Share of the particles, or of the starts of fits, within 1.1 of it.
        cpu_s: Processor time, s.
        departure: Deviations by which states depart from the equations, where they were inferred.
    """

    theta: list[list[float]]
    fit_rmse: float
    starts_at_best: float
    cpu_s: float
    departure: list[list[float]] | None = None

    @property
    def departures(self) -> Float[ndarray, "particle 4"] | None:
        """In rad and rad/s."""
        return None if self.departure is None else np.array(self.departure)

    @property
    def parameters(self) -> Float[ndarray, "particle 11"]:
        """In their units."""
        return np.array(self.theta)


def names() -> tuple[str, ...]:
    """Return the rows of methods that are given a density."""
    return tuple(f"{name}-{kind}" for name in methods.METHODS for kind in WINDOWS)


@lru_cache(maxsize=1)
def film_of(folder: str) -> Film:
    """Return the recordings of a folder."""
    return filmed_pendulum.read(Path(folder))


def problem(film: Film, kind: str, sigma: float = SIGMA) -> Problem:
    """Return what methods are given."""
    return Problem(film.shooting(WINDOWS[kind]), filmed_pendulum.coordinates(), sigma)


def work(job: Job) -> Found:
    """Do a job."""
    film = film_of(job.folder)
    generator = np.random.default_rng([_SEED, job.seed, *job.row.encode()])
    begun, departure = time.process_time(), None
    if job.row == PAPER_LIMITS:
        theta, fits = _within_the_papers_limits(film, generator)
    elif job.row == OURS:
        theta, departure, fits = _ours(film, job.particles, generator)
    else:
        theta = _others(film, job, generator)
        fits = film.misses(theta)
    spent = time.process_time() - begun
    at_best = float((fits <= _NEAR * fits.min()).mean()) if np.isfinite(fits.min()) else 0.0
    return Found(theta.tolist(), float(fits.min()), at_best, spent, departure)


def _others(film: Film, job: Job, generator: np.random.Generator) -> Float[ndarray, "particle 11"]:
    if job.row == PRIOR:
        share = torch.from_numpy(generator.uniform(size=(PARTICLES, len(PARAMETERS))))
        return Shares(pendulum_inference.limits()).parameters(share).numpy()
    if job.row in likelihood_free.NAMES:
        return _learnt(film, job, generator)
    name, kind = job.row.rsplit("-", 1)
    budget = budgets.processor_time(job.seconds)
    given = problem(film, kind, job.sigma)
    return methods.infer(name, given, budget, generator, SETTINGS[job.row]).numpy()


def _ours(
    film: Film, particles: int, generator: np.random.Generator
) -> tuple[Float[ndarray, "particle 11"], list[list[float]], Float[ndarray, " start"]]:
    """Return draws of the posterior, departures, and what the best fit of each start misses by."""
    shares = filmed_pendulum.coordinates()
    posterior = stein_newton.infer(
        film.shooting(WINDOWS["ms"]),
        Logistic(shares.limits, shares.logarithmic),
        generator,
        settings=Settings(particles=particles),
        spread_in=PendulumCoordinates(shares.limits),
        apart=marked_motion.WINDOW,
    )
    draws = posterior.theta.flatten(0, 1)
    chosen = generator.choice(len(draws), PARTICLES, replace=False)
    departure = posterior.delta.flatten(0, 1)[chosen].tolist()
    return draws[chosen].numpy(), departure, posterior.fits.numpy()


def _within_the_papers_limits(
    film: Film, generator: np.random.Generator
) -> tuple[Float[ndarray, "particle 11"], Float[ndarray, " start"]]:
    limits = Limits(torch.from_numpy(LOW.copy()), torch.from_numpy(HIGH.copy()))
    theta = fitted(film, Logistic(limits), _FITTED, generator).numpy()
    return theta, film.misses(theta)


def fitted(
    film: Film, coordinates: Coordinates, count: int, generator: np.random.Generator
) -> Float[Tensor, "start 11"]:
    """Return the best fit from each of some starts, the first state as it was observed."""
    density = ShootingDensity(film.shooting(WINDOWS["ms"]), coordinates, known_starts=True)
    begun = stein_newton.begun(density, count, generator)
    return coordinates.parameters(gauss_newton.fit(density, begun, Schedule()).x)


def _learnt(film: Film, job: Job, generator: np.random.Generator) -> ndarray:
    """Learn a density of shares from simulations of recording 0's first state, and draw."""
    model, statistic = job.row.rsplit("-", 1)
    draw = torch.Generator().manual_seed(int(generator.integers(2**31)))
    box = Box((0.0,) * len(PARAMETERS), (1.0,) * len(PARAMETERS))
    simulated = simulate(film, job.simulations, generator)
    density = likelihood_free.learn(simulated, box, model=model, statistic=statistic, draw=draw)
    share = density.draws(torch.from_numpy(film.seen), PARTICLES, draw)
    return filmed_pendulum.coordinates().parameters(share).numpy()


def simulate(film: Film, count: int, generator: np.random.Generator) -> Simulated:
    """Simulate pendulums all over the limits; those without a motion are left out."""
    share = torch.from_numpy(generator.uniform(size=(count, len(PARAMETERS))))
    theta = filmed_pendulum.coordinates().parameters(share).numpy()
    parts = np.array_split(theta, max(1, count // 1000))
    moved = np.concatenate([filmed_pendulum.rolled(part, film.seen[:1])[:, 0] for part in parts])
    noise = SIGMA * film.scale.numpy() * generator.normal(size=moved.shape)
    start = np.broadcast_to(film.seen[0], (count, 1, 4))
    states = np.concatenate((start, moved + noise), 1)
    dense = np.isfinite(states).all((1, 2))
    return Simulated(share[torch.from_numpy(dense)], torch.from_numpy(states[dense]))
