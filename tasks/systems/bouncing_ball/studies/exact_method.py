"""The row of the exact posterior in a table of methods."""

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.problem import Drops
from ricochet.tasks.systems.bouncing_ball.studies.methods import Answers


def answer(cases: Drops) -> Answers:
    """Answer each case with its exact posterior on a grid."""
    rows = []
    for index in range(len(cases.theta)):
        case = cases.rows(slice(index, index + 1))
        density = posterior.posterior(case.features, case.noise, case.release)
        truth = density.log_density_at(case.theta.numpy())[0]
        rows.append((density.points.reshape(-1, 2), density.weights, density.log_density, truth))
    points, weights, levels, truths = zip(*rows, strict=True)
    return Answers(
        torch.from_numpy(np.stack(points, 1)),
        torch.from_numpy(np.stack([each.ravel() for each in weights], -1)),
        torch.from_numpy(np.stack([each.ravel() for each in levels], -1)),
        torch.from_numpy(np.array(truths)),
    )
