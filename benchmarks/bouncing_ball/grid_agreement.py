"""How well packaged grids are densities: integral, moments and draws, of 1 to 200 drops.

    python -m benchmarks.bouncing_ball.grid_agreement

A row a session: the integral over the grid, how far the stated mean and covariance are from those
of the grid, in its deviations, and the largest distance of the draws' levels from uniform ones.
"""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball.calibration import calibrate
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.tasks.registry.packages import Arrays
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import grid_agreement
from ricochet.tasks.systems.bouncing_ball.calibration import posterior
from tests.oracles.planted_sessions import PING_PONG, session

DROPS, SEEDS = (1, 2, 3, 10, 50, 200), (3, 4)


def packaged(drops: int, seed: int) -> Arrays:
    """Return the arrays of the package that `ricochet calibrate` makes of simulated drops."""
    found = calibrate.calibrate(
        session(PING_PONG, drops, seed), draw=torch.Generator().manual_seed(1)
    )
    request: Any = SimpleNamespace(settings=catalogue.load_settings(), seed=1)
    checked = ProductChecks(np.array([0.5]), np.array([[0.5, 0.5]]), 10)
    target: Any = SimpleNamespace(name="ping-pong-table", digest="0" * 32)
    return posterior._package(target, request, found, {"findings": []}, cast(Any, checked)).arrays


def main() -> None:
    """Print a row a session."""
    for drops in DROPS:
        for seed in SEEDS:
            arrays = packaged(drops, seed)
            measured = grid_agreement.measure(arrays)
            distance = max(measured.distances)
            print(
                f"{drops:4} drops, seed {seed}: integral {measured.integral:.5f}, mean off by"
                f" {measured.mean_off:.1e}, covariance by {measured.covariance_off:.1e}, draws at"
                f" {distance:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
