"""The filmed pendulum of Asseman et al.: what fits reach from anywhere, and what they tell."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from ricochet.models.inference import gauss_newton, stein_newton
from ricochet.models.inference.gauss_newton import Schedule
from ricochet.models.inference.limits import Limits, Logistic
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import ShootingDensity
from ricochet.models.systems.rigid_bodies import double_pendulum, marked_motion
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS

RATE, STEPS, WINDOWS = 400.0, 400, 20


@pytest.fixture(scope="module")
def recorded() -> torch.Tensor:
    """Run 0, from its first frame on."""
    root = Path(__file__).resolve().parents[4]
    data = Path(os.environ.get("RICOCHET_REAL_DATA", root.parent / "shared" / "data"))
    file = data / "double_pendulum" / "ibm_chaotic" / "0.csv"
    if not file.is_file():
        pytest.skip("the films of the pendulum are not here (RICOCHET_REAL_DATA)")
    places = np.loadtxt(file, delimiter=",")
    angles = marked_motion.angles(places[:, :2], places[:, 2:4], places[:, 4:])
    return torch.from_numpy(marked_motion.states(angles, RATE)[: STEPS + 1])


def problem(recorded: torch.Tensor, windows: int, substeps: int) -> Shooting:
    simulate = partial(double_pendulum.move, duration=1.0 / RATE, substeps=substeps)
    return Shooting(simulate, recorded[None], windows, recorded.std(0))


def coordinates() -> Logistic:
    low, inertias = torch.from_numpy(LOW.copy()), torch.tensor(["inertia" in x for x in PARAMETERS])
    low[inertias] = 1e-5
    return Logistic(Limits(low, torch.from_numpy(HIGH)), inertias)


@pytest.mark.proof
def test_as_the_paper_has_it_nine_of_ten_starts_come_to_the_best_fit(recorded) -> None:
    """From the first state as it was observed, a step a frame: 0.0789 state deviations."""
    density = ShootingDensity(problem(recorded, WINDOWS, 1), coordinates(), known_starts=True)
    start = stein_newton.begun(density, 32, np.random.default_rng(0))
    found = density.coordinates.parameters(gauss_newton.fit(density, start, Schedule()).x)
    whole = problem(recorded, 1, 1)
    shot = whole.at(found, whole.starts.expand(len(found), *whole.starts.shape))
    errors = shot.residuals.square().mean((1, 2, 3, 4)).sqrt().nan_to_num(torch.inf)
    assert float(errors.min()) <= 0.08
    assert float((errors <= 1.1 * errors.min()).double().mean()) >= 0.85


@pytest.mark.proof
def test_with_its_first_state_inferred_and_smaller_steps_it_fits_four_times_as_well(
    recorded,
) -> None:
    density = ShootingDensity(problem(recorded, WINDOWS, 4), coordinates())
    start = stein_newton.begun(density, 8, np.random.default_rng(0))
    fits = stein_newton.residuals(density, gauss_newton.fit(density, start, Schedule()))
    assert float(fits.min()) <= 0.021
    assert float((fits <= 1.1 * fits.min()).double().mean()) >= 0.75
