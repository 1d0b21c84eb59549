"""InfoNCE: its value against the sum it is, a known policy recovered, the same seed twice."""

import numpy as np
import pytest
import torch

from ricochet.models.systems.air_hockey.shots import energy_network, energy_search, energy_training
from ricochet.models.systems.air_hockey.shots.energy_training import Training

SMALL = Training(hidden=32, epochs=60, batch=64, rate=4e-3, against=16)


def lessons(count: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States and angles of which that next to y - vx / 2 is the best."""
    draw = np.random.default_rng(seed)
    states = draw.uniform(-0.5, 0.5, (count, 6))
    angles = np.sort(draw.uniform(-1.35, 1.35, (count, 50)), 1)
    return states, angles, np.abs(angles - policy(states)[:, None]).argmin(1)


def policy(states: np.ndarray) -> np.ndarray:
    return states[:, 1] - 0.5 * states[:, 2]


@pytest.fixture(scope="module")
def learnt() -> energy_training.Fit:
    draw = torch.Generator().manual_seed(0)
    return energy_training.fit(*lessons(), training=SMALL, draw=draw)


@pytest.mark.proof
def test_a_known_policy_is_recovered(learnt: energy_training.Fit):
    """50 angles are 54 mrad apart: half of that is the most the lessons say of one state."""
    states, *_ = lessons(100, seed=1)
    draw = np.random.default_rng(0)
    found = [energy_search.search(learnt.energy, state, draw=draw) for state in states]
    assert np.median(np.abs(found - policy(states))) < 0.027
    assert np.abs(found - policy(states)).max() < 0.15


def test_the_loss_is_that_of_equations_14_and_15(learnt: energy_training.Fit):
    """The held-out loss of the weights that were kept, by numpy's energies; it beats guessing."""
    states, angles, best = (n[:60] for n in lessons())
    found = energy_network.evaluate(
        learnt.energy, np.repeat(states[:, None], angles.shape[1], 1), angles
    ).astype(float)
    share = np.exp(-found) / np.exp(-found).sum(1, keepdims=True)
    loss = -np.log(share[np.arange(60), best]).mean()
    assert learnt.lowest == pytest.approx(loss, rel=1e-3)
    assert loss < 0.5 * np.log(angles.shape[1])


def test_the_same_seed_gives_the_same_energy():
    rows = lessons(80)
    training = Training(hidden=8, epochs=3, batch=16, against=5)
    one, other = (
        energy_training.fit(*rows, training=training, draw=torch.Generator().manual_seed(7))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.energy.second, other.energy.second)
    assert one.held_out == other.held_out


def test_other_units_of_the_inputs_change_nothing():
    """The inputs are scaled: states in mm give the energies of states in m."""
    states, angles, best = lessons(80)
    training = Training(hidden=8, epochs=3, batch=16, against=5)
    one, other = (
        energy_training.fit(
            factor * states, angles, best, training=training, draw=torch.Generator().manual_seed(7)
        ).energy
        for factor in (1.0, 1000.0)
    )
    found = energy_network.evaluate(one, states, angles[:, 0])
    scaled = energy_network.evaluate(other, 1000.0 * states, angles[:, 0])
    np.testing.assert_allclose(found, scaled, atol=1e-3)


def test_progress_and_held_out_losses_end_with_the_last_step():
    calls: list[tuple[int, int]] = []
    training = Training(hidden=8, epochs=2, batch=16, against=5)
    fit = energy_training.fit(
        *lessons(80),
        training=training,
        draw=torch.Generator().manual_seed(0),
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls[-1] == (10, 10)  # 72 states in batches of 16, twice
    assert len(fit.held_out) == len(fit.training) == len(calls)


def test_bad_training_data_is_refused():
    states, angles, best = lessons(80)
    states[3, 2] = np.nan
    with pytest.raises(ValueError, match="finite"):
        energy_training.fit(states, angles, best, draw=torch.Generator())
    with pytest.raises(ValueError, match="too few"):
        energy_training.fit(*(n[:2] for n in lessons(80)), draw=torch.Generator())
