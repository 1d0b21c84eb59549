"""The exact posterior as a row of the study's tables."""

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import Drops
from ricochet.tasks.systems.bouncing_ball.studies import exact_method

TWO_MODES, ONE_MODE = (0.8526, 0.4242, 0.1709, 0.446), (0.85, 0.08, 0.06, 0.3)


@pytest.mark.proof
def test_drops_of_one_and_of_two_modes_stand_in_one_table() -> None:
    """Their grids differ in size: the full study failed at the first drop of two modes."""
    rows = torch.tensor([TWO_MODES, ONE_MODE], dtype=torch.float64)
    features, noise = Features(*rows.T), problem.constant_noise((2,))
    release = problem.constant_release((2,), height=0.6)
    theta = torch.tensor([[0.62, 2.0], [0.85, 3.0]], dtype=torch.float64)
    cases = Drops(theta, features, noise, release)
    found = exact_method.answer(cases)
    sizes = (found.weights > 0.0).sum(0)
    assert sizes[0] != sizes[1]
    torch.testing.assert_close(found.weights.sum(0), torch.ones(2, dtype=torch.float64))
    for number in range(2):
        one = cases.rows(slice(number, number + 1))
        alone = posterior.posterior(one.features, one.noise, one.release)
        mean = (found.weights[:, number, None] * found.points[:, number]).sum(0)
        np.testing.assert_allclose(mean, alone.mean, rtol=1e-12)
        best = found.log_density[:, number].argmax()
        assert float(found.log_density[best, number]) == alone.log_density.max()
