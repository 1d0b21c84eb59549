"""Mass and quantiles of a cut normal, far out in either tail."""

import math

import numpy as np
import torch
from scipy import stats

from ricochet.models.probability import truncated_normals


def test_interval_mass_is_exact_in_both_tails() -> None:
    low = torch.tensor([-40.0, 30.0, -1.0, -300.0, 299.0], dtype=torch.float64)
    high = torch.tensor([-39.0, 31.0, 2.0, -299.0, 300.0], dtype=torch.float64)
    found = truncated_normals.log_mass(low, high)
    near = [stats.norm.logsf(39.0), stats.norm.logsf(30.0), math.log(0.8185946141203637)]
    far = stats.norm.logsf(299.0)
    np.testing.assert_allclose(found.numpy(), [*near, far, far], rtol=1e-12)


def test_quantiles_are_the_inverse_of_the_share_below_them() -> None:
    low = torch.tensor([-40.0, 30.0, -1.0, -6.0, 299.0], dtype=torch.float64)
    high = torch.tensor([-39.0, 31.0, 2.0, 9.0, 300.0], dtype=torch.float64)
    for share in (1e-6, 0.3, 0.5, 0.999):
        z = truncated_normals.quantile(low, high, torch.full_like(low, share))
        below = truncated_normals.log_mass(low, z) - truncated_normals.log_mass(low, high)
        # the log of a mass near z = 300 is -45000: its last digit is 7e-12
        np.testing.assert_allclose(below.exp().numpy(), share, rtol=1e-9, atol=5e-11)


def test_quantiles_of_a_mirrored_interval_are_mirrored() -> None:
    low, high = torch.tensor([-3.0, 5.0]).double(), torch.tensor([1.0, 8.0]).double()
    share = torch.tensor([0.2, 0.7]).double()
    here = truncated_normals.quantile(low, high, share)
    there = truncated_normals.quantile(-high, -low, 1.0 - share)
    torch.testing.assert_close(here, -there, rtol=1e-12, atol=0.0)
