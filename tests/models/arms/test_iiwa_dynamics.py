"""The mass matrix against MuJoCo's, in closed form upright, and what every mass matrix does."""

import mujoco
import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa, iiwa_dynamics
from ricochet.models.arms.iiwa_dynamics import ARMATURE, LINKS
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.simulator import ARM

DRAW = np.random.default_rng(0)
POSTURES = [iiwa.HOME, *(iiwa.HOME + 0.4 * DRAW.standard_normal((4, 7)))]
MUJOCO = simulator.build().unladen


def simulated(joints: ndarray) -> ndarray:
    """The simulator's, without the mallet."""
    model, data = MUJOCO
    data.qpos[ARM] = joints
    mujoco.mj_forward(model, data)
    rows = np.zeros((model.nv, model.nv))
    for row, unit in zip(rows, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    return np.asarray(rows[ARM, ARM])


@pytest.mark.parametrize("joints", POSTURES)
def test_links_weigh_what_the_simulated_links_weigh(joints: ndarray) -> None:
    """The universal joint's 0.001 kg m^2 is no part of M, which adds to what any turn sees."""
    added = simulated(joints) - iiwa_dynamics.inertia(joints)
    turned = iiwa.pose(joints).axes.T
    np.testing.assert_allclose(added, 1e-3 * turned.T @ turned, atol=1e-6)


def test_the_diagonal_is_that_of_the_challenge_s_arm() -> None:
    """There 1.70 3.28 0.94 0.97 0.062 0.063 0.011 in a posture that is not said, in all of which
    the last two are the same; they have the universal joint's 0.001 in them."""
    joints = np.array((0.0, 0.3, 0.0, -1.5, 0.0, 1.3, 0.0))
    found = iiwa_dynamics.inertia(joints).diagonal()
    np.testing.assert_allclose(found[5:] + 1e-3, (0.063, 0.011), atol=5e-4)
    assert 1.0 < found[0] < 2.5 and 2.5 < found[1] < 4.0


def test_upright_only_what_is_off_the_line_turns_about_it() -> None:
    """Upright, joints 1, 3, 5 and 7 turn about one line what is above them."""
    about = np.array([link.inertia[1 if k in (1, 3, 5) else 2] for k, link in enumerate(LINKS)])
    for k, link in enumerate(LINKS):
        x, y, z = link.centre
        about[k] += link.mass * (x**2 + (z if k in (1, 3, 5) else y) ** 2)
    found = iiwa_dynamics.inertia(np.zeros(7)).diagonal()
    for joint in (0, 2, 4, 6):
        assert found[joint] == pytest.approx(about[joint:].sum() + ARMATURE[joint], rel=1e-9)


@pytest.mark.parametrize("joints", POSTURES)
def test_motion_always_has_energy(joints: ndarray) -> None:
    inertia = iiwa_dynamics.inertia(joints)
    np.testing.assert_allclose(inertia, inertia.T, atol=1e-12)
    assert np.linalg.eigvalsh(inertia)[0] > 1e-3


@pytest.mark.parametrize("joints", POSTURES)
def test_a_turn_of_the_base_changes_no_energy(joints: ndarray) -> None:
    turned = joints + np.array((0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    expected = iiwa_dynamics.inertia(joints)
    np.testing.assert_allclose(iiwa_dynamics.inertia(turned), expected, atol=1e-12)
