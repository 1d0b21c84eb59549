"""The vectorised ball and the ball inside MuJoCo are the same law."""

import functools
import math

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.spatial.distance import cdist

from ricochet.models.systems.bouncing_ball import mujoco_simulator, simulator
from ricochet.models.systems.bouncing_ball.features import form_features
from ricochet.models.systems.bouncing_ball.simulator import Bounces

DROPS = 1000
SIZE = 0.01  # of all comparisons of one family together (Bonferroni)
CASES = ((0.85, 10.0**3.5, 0.0), (0.72, 1e3, 0.0), (0.6, 10.0, 0.0), (0.8, 100.0, 0.15))
NAMES = ("first time", "ratio", "first distance", "second distance", "turn", "downhill")


def _features(bounces: Bounces) -> np.ndarray:
    """The four features, and two that they leave out: the first time and the place downhill."""
    four = form_features(bounces.times, bounces.positions)
    columns = (
        bounces.times[:, 0],
        four.ratio,
        four.first_distance,
        four.second_distance,
        four.turn,
        bounces.positions[:, 2, 0],
    )
    # On a level plane the first time is one number; 1e-9 hides the rounding of the two ways to it.
    return torch.stack(columns, -1).numpy().round(9)


@functools.cache
def _in_mujoco(restitution: float, concentration: float, tilt: float) -> np.ndarray:
    draw = np.random.default_rng(11)
    return _features(
        mujoco_simulator.simulate(
            restitution, concentration, drops=DROPS, tilt=tilt, drop_height=0.26, draw=draw
        )
    )


def _vectorised(
    restitution: float, concentration: float, tilt: float, size: int = 20 * DROPS
) -> np.ndarray:
    draw = torch.Generator().manual_seed(12)
    return _features(
        simulator.simulate(
            torch.full((size,), restitution, dtype=torch.float64),
            torch.full((size,), concentration, dtype=torch.float64),
            tilt=tilt,
            drop_height=0.26,
            draw=draw,
        )
    )


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_without_redraw_both_give_the_same_bounces(tilt: float) -> None:
    starts = 0.2 * np.random.default_rng(1).standard_normal((4, 3))
    there = mujoco_simulator.simulate(
        0.8,
        math.inf,
        drops=4,
        bounces=4,
        tilt=tilt,
        start_velocity=starts,
        drop_height=0.26,
        draw=np.random.default_rng(),
    )
    here = simulator.simulate(
        torch.full((4,), 0.8, dtype=torch.float64),
        torch.tensor(math.inf),
        bounces=4,
        tilt=tilt,
        start_velocity=torch.from_numpy(starts),
        drop_height=0.26,
        draw=torch.Generator(),
    )
    # Rounding of some 500 steps of 0.002 s and contacts located to 1e-13 s.
    np.testing.assert_allclose(there.times, here.times, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(there.positions, here.positions, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(there.velocities, here.velocities, rtol=0.0, atol=1e-9)


def test_redrawn_exits_in_mujoco_leave_the_tilted_plane() -> None:
    tilt = 0.3
    there = mujoco_simulator.simulate(
        0.6, 2.0, drops=40, tilt=tilt, drop_height=0.26, draw=np.random.default_rng(2)
    )
    normal = torch.tensor([math.sin(tilt), 0.0, math.cos(tilt)], dtype=torch.float64)
    assert float((there.velocities @ normal).min()) > 0.0
    assert float((there.positions @ normal).abs().max()) < 1e-12
    assert float(torch.diff(there.times, dim=-1).min()) > 0.0


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_each_feature_has_the_same_distribution(case: tuple[float, float, float]) -> None:
    """Two-sample Kolmogorov-Smirnov, 1000 drops in MuJoCo against 20,000, six features each."""
    there, here = _in_mujoco(*case), _vectorised(*case)
    p_values = [stats.ks_2samp(a, b).pvalue for a, b in zip(there.T, here.T, strict=True)]
    # Size 0.01 for all 4 x 6 comparisons: 0.01 / 24 = 0.0004 each.
    named = dict(zip(NAMES, p_values, strict=True))
    assert min(p_values) > SIZE / (len(CASES) * len(NAMES)), named


@pytest.mark.proof
@pytest.mark.parametrize("change", [(1.0, 1.5, 0.0), (1.02, 1.0, 0.0), (1.0, 1.0, 0.05)])
def test_the_comparison_would_see_another_law(change: tuple[float, float, float]) -> None:
    """Half as much concentration again, 2 % of restitution or 3 degrees of tilt are refused."""
    e, k, tilt = CASES[1]
    there, here = _in_mujoco(e, k, tilt), _vectorised(e * change[0], k * change[1], change[2])
    smallest = min(stats.ks_2samp(a, b).pvalue for a, b in zip(there.T, here.T, strict=True))
    assert smallest < SIZE / (len(CASES) * len(NAMES))


@pytest.mark.proof
@pytest.mark.parametrize("case", CASES)
def test_the_features_have_the_same_joint_distribution(case: tuple[float, float, float]) -> None:
    """Energy distance of ranks, 1000 against 1000 drops, by 400 permutations."""
    there, here = _in_mujoco(*case), _vectorised(*case, size=DROPS)
    pooled = np.apply_along_axis(stats.rankdata, 0, np.vstack((there, here))) / (2.0 * DROPS)
    distances = cdist(pooled, pooled)
    draw, signs = np.random.default_rng(3), np.repeat([1.0, -1.0], DROPS)
    observed = -signs @ distances @ signs
    shuffled = draw.permuted(np.tile(signs, (400, 1)), axis=1)
    statistics = -np.einsum("ri,ri->r", shuffled @ distances, shuffled)
    p_value = (1 + int((statistics >= observed).sum())) / 401
    # Size 0.01 for the four cases together: 0.0025 each, the least that 400 permutations resolve.
    assert p_value > SIZE / len(CASES)
