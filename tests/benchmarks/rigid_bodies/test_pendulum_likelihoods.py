"""The benchmark of likelihoods compares like with like."""

import numpy as np
import pytest
import torch

from benchmarks.rigid_bodies import pendulum_likelihoods


@pytest.mark.parametrize("windows", pendulum_likelihoods.WINDOWS)
def test_both_give_the_same_gradient(windows: int) -> None:
    problem = pendulum_likelihoods.density(windows)
    share = torch.full((3, 11), 0.3, dtype=torch.float64)
    share[1:] += 0.01
    u = problem.begun(share, np.random.default_rng(0))
    expected = pendulum_likelihoods.by_autograd(problem, u)
    torch.testing.assert_close(pendulum_likelihoods.ours(problem, u), expected)


def test_it_counts_likelihoods() -> None:
    found = pendulum_likelihoods.measured(2, 0.05)
    assert [each.windows for each in found] == [1, 20]
    assert all(each.ours > 0.0 and each.autograd > 0.0 for each in found)
