"""What figures of synthetic pendulums show beside rows: landscapes, sums, inputs, motions."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import budgets
from ricochet.models.inference.limits import Shares
from ricochet.tasks.systems.rigid_bodies.studies import (
    likelihood_free,
    methods,
    synthetic_lengths,
    synthetic_rows,
)
from ricochet.tasks.systems.rigid_bodies.studies.methods import Problem
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_lengths import (
    HIGH,
    LOW,
    NOISE,
    START,
    Data,
)

TWO = np.array(((1.2, 2.4), (1.9, 1.5)))
"""Lengths of two pendulums that no one pair of lengths explains, m."""
_SIDE = 90
_SHARP = 1.0
_BOTH_SIGMA = 3.0


@dataclass(frozen=True)
class Landscape:
    """A log density over both lengths, each along an axis in m."""

    axis: Float[ndarray, " cell"]
    log_density: Float[ndarray, "first second"]
    points: Float[ndarray, "point 2"]
    particles: Float[ndarray, "particle 2"] | None = None


def landscapes(seed: int) -> dict[str, Landscape]:
    """Return those of the first trajectory by single and multiple shooting (Fig. 2)."""
    data = synthetic_rows.data_of(seed)
    axis, centres = _plane()
    one = Data(data.lengths[:1], data.observed[:1], data.test_lengths)
    found = {}
    for kind, windows in synthetic_rows.WINDOWS.items():
        problem = Problem(one.shooting(windows), Shares(synthetic_lengths.limits()), _SHARP)
        density = problem.density
        seen = (problem.shooting.starts / problem.shooting.scale)[:, 1:].flatten()
        share = density.coordinates.of(centres)
        u = torch.cat((share, seen.expand(len(share), -1)), 1)
        value = torch.cat([density.value(part) for part in u.split(1000)])
        found[kind] = Landscape(axis, value.reshape(_SIDE, _SIDE).numpy(), data.lengths[:1])
    return found


def sum_and_product(seconds: float) -> dict[str, Landscape]:
    """Return the densities of two trajectories, multiplied and added, with particles (Fig. 6)."""
    axis, centres = _plane()
    generator = np.random.default_rng(0)
    states = synthetic_lengths.moved(torch.from_numpy(TWO))
    noise = NOISE * torch.from_numpy(generator.normal(size=states.shape))
    start = torch.tensor(START, dtype=torch.float64).expand(2, 1, 4)
    data = Data(TWO, torch.cat((start, states + noise), 1), TWO)
    rolled = synthetic_lengths.Rolled(centres, synthetic_lengths.moved(centres).flatten(1).float())
    grid, found = rolled.compared(data), {}
    for name, mixture in (("product", False), ("sum", True)):
        shooting = data.shooting(synthetic_rows.WINDOWS["ms"])
        coordinates = Shares(synthetic_lengths.limits())
        problem = Problem(shooting, coordinates, _BOTH_SIGMA, delta=_BOTH_SIGMA, mixture=mixture)
        chosen = synthetic_rows.SETTINGS["csvgd-ms"]
        budget = budgets.processor_time(seconds)
        particles = methods.infer("csvgd", problem, budget, generator, chosen).numpy()
        value = grid.log_density(_BOTH_SIGMA, mixture=mixture).reshape(_SIDE, _SIDE).numpy()
        found[name] = Landscape(axis, value, TWO, particles)
    return found


def inputs(seed: int) -> dict[str, Float[ndarray, " input"]]:
    """Return what likelihood-free methods see of the first trajectory (Fig. 11)."""
    data = synthetic_rows.data_of(seed)
    states = data.observed[:1] / data.scale
    return {
        name: likelihood_free.numbers(name, states)[0].numpy()
        for name in likelihood_free.STATISTICS
    }


def motions(lengths: Float[ndarray, "case 2"]) -> Float[ndarray, "case 400 4"]:
    """Return how pendulums of some lengths move."""
    return synthetic_lengths.moved(torch.from_numpy(np.ascontiguousarray(lengths))).numpy()


def _plane() -> tuple[Float[ndarray, " cell"], torch.Tensor]:
    axis = torch.linspace(LOW, HIGH, _SIDE + 1, dtype=torch.float64)
    middle = 0.5 * (axis[1:] + axis[:-1])
    return middle.numpy(), torch.cartesian_prod(middle, middle)
