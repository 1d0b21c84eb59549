"""The MuJoCo scene against the table, the arm and the mallet that the rest of the code assumes."""

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.arm import mallet_offset
from ricochet.models.systems.air_hockey.simulator import CALM, World
from ricochet.models.systems.air_hockey.table import Table


@pytest.fixture(scope="module")
def world() -> World:
    return simulator.build()


def test_the_scene_has_the_measured_postures(world: World) -> None:
    """Tip, link 7 and link 4 in the robot's frame, m, as measured there (0.1 mm)."""
    turned = np.array((0.3, 0.5, -0.2, -1.2, 0.4, 1.1, -0.6))
    expected = (
        (np.zeros(7), "tip", (0.0, 0.0, 1.846)),
        (iiwa.HOME, "tip", (0.65004, 0.0, 0.16456)),
        (turned, "tip", (0.79758, 0.30656, 0.08212)),
        (turned, "link7", (0.61259, 0.12867, 0.60782)),
        (turned, "link4", (0.19237, 0.05951, 0.72858)),
    )
    for joints, body, place in expected:
        draw = np.random.default_rng(0)
        simulator.reset(world, puck=np.zeros(4), disturbance=CALM, draw=draw, joints=joints)
        found = world.data.body(body).xpos - np.array(world.table.robot_base)
        np.testing.assert_allclose(found, place, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_scene_has_the_kinematics(world: World, seed: int) -> None:
    joints = np.random.default_rng(seed).uniform(-1.0, 1.0, 7) * iiwa.JOINT_LIMIT
    simulator.reset(
        world, puck=np.zeros(4), disturbance=CALM, draw=np.random.default_rng(0), joints=joints
    )
    place = world.data.body("tip").xpos - np.array(world.table.robot_base)
    np.testing.assert_allclose(iiwa.tip(joints), place, atol=1e-6)


def test_the_scene_has_the_table(world: World) -> None:
    table, model = Table(), world.model
    left, far = model.geom("left"), model.geom("far_left")
    assert left.pos[1] - left.size[1] == pytest.approx(table.half_width)
    assert far.pos[0] - far.size[0] == pytest.approx(table.half_length)
    assert far.pos[1] - far.size[1] == pytest.approx(table.goal_half_width)
    assert model.geom("puck").size[0] == pytest.approx(table.puck_radius)
    assert model.geom("mallet").size[0] == pytest.approx(table.mallet_radius)
    assert model.geom("puck_outline").size[0] == pytest.approx(table.puck_radius)
    np.testing.assert_allclose(
        model.geom("surface").size[:2], (table.half_length, table.half_width)
    )
    np.testing.assert_allclose(model.body("base").pos, table.robot_base)
    assert table.tip_height - table.robot_base[2] == pytest.approx(iiwa.TIP_HEIGHT)


def test_the_scene_has_the_mallet_that_the_agent_assumes(world: World) -> None:
    assert world.model.geom("mallet").pos[2] == pytest.approx(mallet_offset.LENGTH)
    mallet = world.model.body("mallet")
    assert mallet.mass[0] == pytest.approx(mallet_offset.MASS)
    assert mallet.ipos[2] == pytest.approx(mallet_offset.CENTRE)
    about_tip = mallet.inertia[0] + mallet_offset.MASS * mallet_offset.CENTRE**2
    with_joint = about_tip + world.model.body("tip").inertia[0]
    assert pytest.approx(0.5 * (about_tip + with_joint)) == mallet_offset.INERTIA


def test_the_scene_is_stepped_and_falls_as_the_rest_of_the_code_assumes(world: World) -> None:
    assert world.model.opt.timestep == pytest.approx(simulator.STEP)
    np.testing.assert_allclose(world.model.opt.gravity, (0.0, 0.0, -GRAVITY))
    limits = [world.model.joint(f"joint{number}").range for number in range(1, 8)]
    np.testing.assert_allclose(limits, np.stack((-iiwa.JOINT_LIMIT, iiwa.JOINT_LIMIT), axis=1))
