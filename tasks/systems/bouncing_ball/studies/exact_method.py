"""The row of the exact posterior in a table of methods."""

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor

from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.problem import Drops
from ricochet.tasks.systems.bouncing_ball.studies.methods import Answers


def answer(cases: Drops) -> Answers:
    """Answer each case with its exact posterior on a grid."""
    found, truths = [], []
    for index in range(len(cases.theta)):
        case = cases.rows(slice(index, index + 1))
        found.append(posterior.posterior(case.features, case.noise, case.release))
        truths.append(found[-1].log_density_at(case.theta.numpy())[0])
    most = max(density.weights.size for density in found)
    return Answers(
        _columns([density.points.reshape(-1, 2) for density in found], most),
        _columns([density.weights.ravel() for density in found], most),
        _columns([density.log_density.ravel() for density in found], most, fill=-np.inf),
        torch.from_numpy(np.array(truths)),
    )


def _columns(tables: list[ndarray], most: int, *, fill: float = 0.0) -> Tensor:
    """Put tables side by side; one of fewer points, of fewer modes, is filled up."""
    padded = np.full((most, len(tables), *tables[0].shape[1:]), fill)
    for number, table in enumerate(tables):
        padded[: len(table), number] = table
    return torch.from_numpy(padded)
