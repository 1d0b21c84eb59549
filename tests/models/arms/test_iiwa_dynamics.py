"""The rods' mass matrix against MuJoCo's capsules, and what every mass matrix does."""

import mujoco
import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa, iiwa_dynamics
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.simulator import ARM
from tests.oracles.iiwa_mirror import MIRROR

DRAW = np.random.default_rng(0)
POSTURES = [iiwa.HOME, *(iiwa.HOME + 0.4 * DRAW.standard_normal((4, 7)))]


def simulated(joints: ndarray) -> ndarray:
    """The simulator's, without the mallet."""
    model, data = simulator.build().unladen
    data.qpos[ARM] = joints
    mujoco.mj_forward(model, data)
    rows = np.zeros((model.nv, model.nv))
    for row, unit in zip(rows, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    return np.asarray(rows[ARM, ARM])


@pytest.mark.parametrize("joints", POSTURES)
def test_rods_weigh_what_the_simulated_links_weigh(joints: ndarray) -> None:
    """To some percent: capsules are as thick as arms and their ends are round."""
    expected = simulated(joints)
    error = np.linalg.norm(iiwa_dynamics.inertia(joints) - expected) / np.linalg.norm(expected)
    assert error < 0.06


@pytest.mark.parametrize("joints", POSTURES)
def test_motion_always_has_energy(joints: ndarray) -> None:
    inertia = iiwa_dynamics.inertia(joints)
    np.testing.assert_allclose(inertia, inertia.T, atol=1e-12)
    assert np.linalg.eigvalsh(inertia)[0] >= iiwa_dynamics.MOTOR_INERTIA * (1.0 - 1e-9)


@pytest.mark.parametrize("joints", POSTURES)
def test_a_turn_of_the_base_and_a_mirror_change_no_energy(joints: ndarray) -> None:
    turned = joints + np.array((0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    expected = iiwa_dynamics.inertia(joints)
    np.testing.assert_allclose(iiwa_dynamics.inertia(turned), expected, atol=1e-12)
    mirrored = iiwa_dynamics.inertia(MIRROR * joints)
    np.testing.assert_allclose(mirrored, np.outer(MIRROR, MIRROR) * expected, atol=1e-12)
