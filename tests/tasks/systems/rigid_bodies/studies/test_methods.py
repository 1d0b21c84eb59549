"""All methods on one problem: what they return, and settings that are theirs."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import budgets, throws
from ricochet.models.inference.limits import Limits, Shares
from ricochet.tasks.systems.rigid_bodies.studies import (
    methods,
    peer_samplers,
    synthetic_rows,
    synthetic_search,
)
from ricochet.tasks.systems.rigid_bodies.studies.methods import Problem

WIDE = torch.full((2,), 9.0, dtype=torch.float64)


@pytest.mark.parametrize("windows", [1, 3])
@pytest.mark.parametrize("name", methods.METHODS)
def test_a_hundred_parameters_come_back_nearer_to_the_truth(name: str, windows: int) -> None:
    if name in peer_samplers.absent():
        pytest.skip(peer_samplers.absent()[name])
    shooting = throws.observed(np.random.default_rng(0), windows=windows)
    problem = Problem(shooting, Shares(Limits(-WIDE, WIDE)), sigma=1.0, delta=1.0)
    generator = np.random.default_rng(1)
    chosen = synthetic_rows.SETTINGS[f"{name}-{'ss' if windows == 1 else 'ms'}"]
    found = methods.infer(name, problem, budgets.steps(100), generator, chosen)
    assert found.shape == (100, 2)
    assert bool((found.abs() <= 9.0).all())
    away = (found - torch.tensor(throws.TRUTH)).square().sum(1).sqrt().median()
    assert float(away) < 5.0  # of places all over the limits: 7


def test_settings_are_within_what_is_searched() -> None:
    assert set(synthetic_rows.SETTINGS) == set(synthetic_rows.names())
    for row, chosen in synthetic_rows.SETTINGS.items():
        ranges = methods.METHODS[row.rsplit("-", 1)[0]].ranges
        assert set(chosen) == set(ranges)
        assert all(low <= chosen[name] <= high for name, (low, high) in ranges.items())


def test_the_data_of_the_search_are_not_the_study_s() -> None:
    assert synthetic_search.SEED >= 1_000
