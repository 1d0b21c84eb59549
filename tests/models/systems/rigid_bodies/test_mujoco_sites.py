"""Joints from sites: what forward kinematics put there comes back, what is open is refused."""

import mujoco
import numpy as np
import pytest

from ricochet.models.systems.rigid_bodies import mujoco_sites
from tests.models.systems.rigid_bodies import swings


def places(positions: np.ndarray, sites: tuple[str, ...]) -> np.ndarray:
    model = swings.cart()
    data, found = mujoco.MjData(model), []
    for each in positions:
        data.qpos[:] = each
        mujoco.mj_kinematics(model, data)
        found.append([data.site(name).xpos.copy() for name in sites])
    return np.array(found)


TIME = np.linspace(0.0, 2.0, 60)
POSITIONS = np.stack((0.2 * np.sin(3.0 * TIME), 2.5 + 0.5 * np.cos(4.0 * TIME)), 1)


def test_positions_of_joints_come_back_from_far_off() -> None:
    found, missed = mujoco_sites.positions(
        swings.cart(), ["tip", "front"], places(POSITIONS, ("tip", "front"))
    )
    np.testing.assert_allclose(found, POSITIONS, atol=1e-7)
    assert missed < 1e-7


def test_errors_of_sites_are_said_and_their_order_is_no_matter() -> None:
    """With noise s on 6 numbers a frame and 2 joints, 4 s^2 of squares are left, on 2 sites."""
    seen = places(POSITIONS, ("tip", "front"))
    seen = seen + 1e-3 * np.random.default_rng(0).normal(size=seen.shape)
    found, missed = mujoco_sites.positions(swings.cart(), ["tip", "front"], seen)
    turned, _ = mujoco_sites.positions(swings.cart(), ["front", "tip"], seen[:, ::-1])
    np.testing.assert_allclose(found, turned, atol=1e-8)
    # 240 squares of one deviation each: their mean errs by sqrt(2 / 240) = 9 %, three of these
    assert missed**2 == pytest.approx(2e-6, rel=0.28)


def test_sites_that_leave_a_joint_open_are_refused() -> None:
    with pytest.raises(ValueError, match="leave joint hinge open"):
        mujoco_sites.positions(swings.cart(), ["front"], places(POSITIONS, ("front",)))
