"""The board in MuJoCo: flights, outlines and contacts beside closed forms."""

import math

import mujoco
import numpy as np
import pytest

from ricochet.hardware.twins.batting import board
from ricochet.hardware.twins.batting.board import Nature
from ricochet.models.systems.batting import shapes
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import Table

DISC, EGG = 0, 5


def data_of(model: mujoco.MjModel, place: tuple, velocity: tuple) -> mujoco.MjData:
    """Return an object at a place; numbers are x, y, angle and bat."""
    data = mujoco.MjData(model)
    data.qpos[: len(place)], data.qvel[: len(velocity)] = place, velocity
    return data


def restitution(nature: Nature) -> float:
    """Return that of a spring and a damper that never pull (Schwager and Poeschel 2007)."""
    beta = 0.5 * nature.damping
    omega = math.sqrt(nature.stiffness - beta**2)
    angle = math.pi - math.atan2(2.0 * beta * omega, omega**2 - beta**2)
    return math.exp(-beta / omega * angle)


def bounced(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return the velocities after the next impact."""
    touched = False
    for _ in range(round(2.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if touched and not data.ncon:
            return data.qvel[:3].copy()
        touched = data.ncon > 0
    raise AssertionError("no impact in two seconds")


def test_gravity_along_the_board_is_the_tables() -> None:
    assert math.degrees(board.tilt(1.0)) == pytest.approx(5.85, abs=0.005)
    model = board.scene(DISC)
    np.testing.assert_allclose(model.opt.gravity[:2], (0.0, -1.0))
    assert np.linalg.norm(model.opt.gravity) == pytest.approx(9.81)


def test_a_flight_is_a_parabola_and_keeps_energy() -> None:
    """Euler's steps are late by half a step's fall, g h t / 2, which is all that energy loses."""
    model, seconds = board.scene(EGG), 1.5
    data = data_of(model, (3.0, 6.0, 0.2), (1.2, 0.9, -2.0))
    mujoco.mj_step(model, data, round(seconds / board.STEP))
    late = 0.5 * board.STEP * seconds
    fall = 0.5 * seconds**2 + late
    np.testing.assert_allclose(
        data.qpos[:3], (3.0 + 1.2 * seconds, 6.0 + 0.9 * seconds - fall, 0.2 - 2.0 * seconds)
    )
    np.testing.assert_allclose(data.qvel[:3], (1.2, 0.9 - seconds, -2.0), atol=1e-9)
    energy = 0.5 * (1.2**2 + 0.9**2) + 6.0
    now = 0.5 * (data.qvel[:2] ** 2).sum() + data.qpos[1]
    assert now - energy == pytest.approx(-late, abs=1e-9)


@pytest.mark.parametrize("kind", range(7))
def test_an_object_has_the_support_function_mass_and_inertia_of_its_shape(kind: int) -> None:
    model, known = board.scene(kind), seven_shapes()
    geom, body = model.geom("object").id, model.body("object").id
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    corners = model.mesh_vert @ turn.reshape(3, 3).T + model.geom_pos[geom]
    angle = np.linspace(-np.pi, np.pi, 997)
    reach = (corners[:, :2] @ np.stack((np.cos(angle), np.sin(angle)))).max(0)
    h, _, curvature = shapes.support(known.cosines[kind], known.sines[kind], angle)
    # A chord of the outline lies below it by rho (pi / points)^2 / 2; corners are single precision.
    least = 0.5 * curvature.max() * (np.pi / board.POINTS) ** 2 + 1e-6
    assert (h - reach).min() > -1e-6 and (h - reach).max() < least
    assert model.body_mass[body] == Table().mass
    moment = Table().mass * known.gyration_squared[kind]
    np.testing.assert_allclose(model.body_inertia[body], moment)
    np.testing.assert_allclose(model.body_ipos[body], 0.0)


@pytest.mark.parametrize(("stiffness", "damping"), [(2.5e6, 110.0), (2.5e6, 700.0), (1e6, 50.0)])
def test_a_disc_bounces_as_a_spring_and_a_damper(stiffness: float, damping: float) -> None:
    """In steps of 20 microseconds, of which a contact has a hundred: to 0.002."""
    nature = Nature(stiffness, damping)
    model = board.scene(DISC, nature, step=2e-5)
    data = data_of(model, (5.0, 0.46, 0.0), (0.0, -3.0, 0.0))
    start = -math.sqrt(3.0**2 + 2.0 * 0.01)
    found = bounced(model, data)[1] / -start
    assert found == pytest.approx(restitution(nature), abs=2e-3)


@pytest.mark.parametrize("place", [0.4499, 0.4495, 0.449])
@pytest.mark.parametrize("slip", [0.3, -6.0])
def test_accelerations_of_a_contact_are_those_stated(place: float, slip: float) -> None:
    """A disc that slides, or sticks, at some depth: the equations of the file's docstring."""
    nature = Nature()
    model = board.scene(DISC, nature)
    data = data_of(model, (5.0, place, 0.0), (slip, -1.0, 0.0))
    mujoco.mj_forward(model, data)
    contact, force = data.contact[0], np.zeros(6)
    mujoco.mj_contactForce(model, data, 0, force)
    push, rub = force[0], data.qfrc_constraint[0]
    arm = contact.pos[:2] - data.qpos[:2]
    along = data.qacc[0] - data.qacc[2] * arm[1]
    up = data.qacc[1] + data.qacc[2] * arm[0]
    away = along + nature.slip_damping * slip
    pull = up - nature.damping + nature.stiffness * contact.dist
    size = nature.stiffness * abs(contact.dist)
    assert pull == pytest.approx(nature.friction * abs(away), abs=2e-3 * size)
    assert abs(rub) <= nature.friction * push * (1.0 + 1e-3)
    assert rub * slip < 0.0
    if abs(away) > 1e-2 * size:
        assert abs(rub) == pytest.approx(nature.friction * push, rel=1e-3)


def test_sliding_ends_within_a_contact_that_does_not_exceed_its_cone() -> None:
    model = board.scene(DISC)
    slow, fast = (
        bounced(model, data_of(model, (5.0, 0.46, 0.0), (speed, -3.0, 0.0)))
        for speed in (1.0, 30.0)
    )
    assert abs(slow[0] + 0.45 * slow[2]) < 0.1
    assert fast[0] + 0.45 * fast[2] > 20.0
    # Where it slides throughout, the change of velocity lies on the cone.
    assert (30.0 - fast[0]) / (fast[1] + 3.0) == pytest.approx(Nature().friction, rel=0.02)
