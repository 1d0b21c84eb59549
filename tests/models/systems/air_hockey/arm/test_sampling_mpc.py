"""Strokes in closed loop, kinematically: where they hit, what they use, and how they go on."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import sampling_mpc, stroke_path
from ricochet.models.systems.air_hockey.arm.sampling_mpc import FREEZE, Memory
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact, Strokes
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.table import Table

HOME = splines.level(iiwa.HOME)
STILL = np.zeros(7)
AIRFLOW = 0.1  # m/s^2
TABLE = Table()
FRONT = TABLE.mallet_front - TABLE.robot_base[0]  # in the robot's frame, m


@dataclass(frozen=True)
class Trial:
    """A stroke at a drifting puck: every command, and the contact that was met last."""

    joints: np.ndarray
    speeds: np.ndarray
    contact: Contact
    hit: int


def play(arm: Strokes, seed: int, *, jitter: float, angle: float | None = None) -> Trial:
    """Strike at a point that drifts with the airflow, estimated anew every step."""
    draw = np.random.default_rng(seed)
    start = draw.uniform((0.88, -0.1), (0.99, 0.1))
    angle = draw.uniform(-0.45, 0.45) if angle is None else angle
    way = draw.uniform(-np.pi, np.pi)
    hit = int(np.ceil(arm.duration(start, np.array(angle)) / PERIOD))
    drift = 0.5 * AIRFLOW * (hit * PERIOD) ** 2 * np.array((np.cos(way), np.sin(way)))
    commands, memory, contact = [(HOME, STILL)], Memory(), None
    for step in range(hit + 10):
        place = start + drift + jitter * draw.standard_normal(2)
        contact = arm.contact(place, angle) if step < hit else contact
        left = (hit - step) * PERIOD
        joints, speeds = commands[-1]
        memory, plan = sampling_mpc.plan(
            memory, joints=joints, joint_speeds=speeds, target=contact, time_left=left, draw=draw
        )
        commands.append(plan.at(PERIOD))
    joints, speeds = (np.stack(values) for values in zip(*commands, strict=True))
    return Trial(joints, speeds, memory.plan.contact, hit)


def between(trial: Trial) -> tuple[np.ndarray, np.ndarray]:
    """Return angles and speeds every millisecond, as the arm interpolates its commands."""
    share = np.linspace(0.0, 1.0, 20, endpoint=False)
    ends = [
        values[part, None]
        for values in (trial.joints, trial.speeds)
        for part in (slice(None, -1), slice(1, None))
    ]
    length = np.full((len(trial.joints) - 1, 20), PERIOD)
    return tuple(v.reshape(-1, 7) for v in splines.cubic(ends, share + 0 * length, length))


@pytest.mark.parametrize(("seed", "jitter"), [(0, 0.0), (1, 1e-3), (2, 1e-3)])
def test_a_stroke_at_a_drifting_puck_hits_as_planned_within_the_limits(arm, seed, jitter):
    trial = play(arm, seed, jitter=jitter)
    pose = iiwa.pose(trial.joints[trial.hit])
    met = iiwa.pose(trial.contact.joints)
    velocity = pose.jacobian @ trial.speeds[trial.hit]
    planned = met.jacobian @ trial.contact.joint_speeds
    np.testing.assert_allclose(pose.tip, met.tip, atol=1e-6)
    np.testing.assert_allclose(velocity, planned, atol=1e-4)
    joints, speeds = between(trial)
    assert (np.abs(speeds) / iiwa.SPEED_LIMIT).max() < iiwa.USABLE
    assert (np.abs(joints) / iiwa.JOINT_LIMIT).max() < iiwa.USABLE
    tip, link4, link7 = iiwa.places(joints)
    np.testing.assert_allclose(tip[:, 2], iiwa.TIP_HEIGHT, atol=5e-4)
    assert min(link4.min(), link7.min()) > iiwa.LINK_HEIGHT
    assert tip[:, 0].min() > FRONT
    assert np.abs(tip[:, 1]).max() < TABLE.mallet_side


@pytest.fixture(scope="module")
def stroke(arm):
    return play(arm, 5, jitter=1e-3)


def test_commands_are_smooth(stroke):
    """Acceleration within its limit, jerk no more than from limit to limit in two periods."""
    accelerations = np.diff(stroke.speeds, axis=0) / PERIOD
    assert (np.abs(accelerations) / iiwa.ACCELERATION_LIMIT).max() < 1.0
    jerks = np.diff(accelerations[: stroke.hit], axis=0)
    assert (np.abs(jerks) / iiwa.ACCELERATION_LIMIT).max() < 0.5


def test_planning_again_to_the_same_contact_changes_nothing(arm):
    """Once the ready posture is near it stands, and the rest of a path is the path of the rest."""
    contact = arm.contact(np.array((0.93, 0.02)), 0.2)
    left, draw = contact.wind_up + 0.11, np.random.default_rng(0)
    joints, speeds = splines.level(contact.start_posture + 0.02), STILL
    memory, first = sampling_mpc.plan(
        Memory(), joints=joints, joint_speeds=speeds, target=contact, time_left=left, draw=draw
    )
    for step in range(1, 12):
        joints, speeds = first.at(step * PERIOD)
        memory, plan = sampling_mpc.plan(
            memory,
            joints=joints,
            joint_speeds=speeds,
            target=contact,
            time_left=left - step * PERIOD,
            draw=draw,
        )
        for late in (0.013, PERIOD):
            expected = first.at(step * PERIOD + late)
            pairs = zip(plan.at(late), expected, (1e-5, 1e-3), strict=True)
            for new, old, tolerance in pairs:
                np.testing.assert_allclose(new, old, atol=tolerance)


def test_after_the_contact_the_plan_stands_and_ends_at_rest(arm):
    trial = play(arm, 6, jitter=0.0)
    late = PERIOD * np.arange(9)
    expected = stroke_path.follow(trial.contact.joints, trial.contact.joint_speeds, late)
    np.testing.assert_allclose(trial.joints[trial.hit : trial.hit + 9], expected, atol=1e-6)
    assert not trial.speeds[-1].any()


def test_a_rest_is_reached_and_kept():
    start = splines.level(iiwa.HOME + np.array((0.3, 0.1, -0.2, 0.2, 0.1, 0.3, 0.0)))  # outside
    memory, joints, speeds, draw = Memory(), start, STILL, np.random.default_rng(0)
    for _ in range(100):
        memory, plan = sampling_mpc.plan(
            memory, joints=joints, joint_speeds=speeds, target=HOME, draw=draw
        )
        joints, speeds = plan.at(PERIOD)
        assert (np.abs(speeds) <= iiwa.USABLE * iiwa.SPEED_LIMIT).all()
        if plan.over:
            break
    assert plan.over
    np.testing.assert_allclose(joints, HOME, atol=1e-9)
    np.testing.assert_allclose(speeds, 0.0, atol=1e-9)


def test_the_least_time_is_enough_and_less_is_not(arm):
    contact = arm.contact(np.array((0.93, 0.0)), 0.1)
    least = sampling_mpc.least_time(HOME, STILL, contact)
    draw = np.random.default_rng(0)
    loads = []
    for left in (0.7 * least, least):
        _, plan = sampling_mpc.plan(
            Memory(), joints=HOME, joint_speeds=STILL, target=contact, time_left=left, draw=draw
        )
        loads.append(plan.peak)
    assert loads[1] <= 1.02 < loads[0]
    assert least <= contact.duration + 0.1


def test_a_wind_up_that_leaves_no_time_is_no_stroke(arm):
    slow = replace(arm.contact(np.array((0.93, 0.0)), 0.1), wind_up=sampling_mpc.LONGEST)
    assert sampling_mpc.least_time(HOME, STILL, slow) == np.inf


def test_the_same_draw_gives_the_same_stroke(arm, stroke):
    np.testing.assert_array_equal(play(arm, 5, jitter=1e-3).joints, stroke.joints)


@pytest.mark.parametrize("left", [np.nan, np.inf])
def test_times_and_joints_that_are_not_finite_are_refused(arm, left):
    contact = arm.contact(np.array((0.93, 0.0)), 0.0)
    draw = np.random.default_rng(0)
    with pytest.raises(ValueError, match="time_left"):
        sampling_mpc.plan(
            Memory(), joints=HOME, joint_speeds=STILL, target=contact, time_left=left, draw=draw
        )
    with pytest.raises(ValueError, match="joints"):
        sampling_mpc.plan(
            Memory(), joints=HOME * np.nan, joint_speeds=STILL, target=HOME, draw=draw
        )


def test_the_plan_stands_shortly_before_the_contact(arm):
    """A contact that jumps aside 40 ms before is not followed."""
    contact = arm.contact(np.array((0.93, 0.0)), 0.0)
    aside = arm.contact(np.array((0.93, 0.03)), 0.0)
    joints = splines.level(contact.joints - 0.08 * contact.joint_speeds)
    memory, draw = Memory(), np.random.default_rng(0)
    speeds = 0.6 * contact.joint_speeds
    for step, target in enumerate((contact, contact, aside)):
        left = 0.08 - step * PERIOD
        memory, plan = sampling_mpc.plan(
            memory, joints=joints, joint_speeds=speeds, target=target, time_left=left, draw=draw
        )
        joints, speeds = plan.at(PERIOD)
    assert left < FREEZE
    assert plan.contact is contact


@pytest.mark.parametrize("leave", [0.3, 0.15, 0.08])
def test_a_stroke_that_is_given_up_ends_at_rest_within_the_limits(arm, leave):
    contact, draw = arm.contact(np.array((0.93, 0.02)), 0.2), np.random.default_rng(0)
    left, memory, commands = contact.duration, Memory(), [(HOME, STILL)]
    while not (left < leave and memory.plan.over):
        memory, plan = sampling_mpc.plan(
            memory,
            joints=commands[-1][0],
            joint_speeds=commands[-1][1],
            target=contact if left >= leave else HOME,
            time_left=left,
            draw=draw,
        )
        commands.append(plan.at(PERIOD))
        left -= PERIOD
        assert left > -4.0
    joints, speeds = (np.stack(values) for values in zip(*commands, strict=True))
    joints, speeds = between(Trial(joints, speeds, contact, 0))
    np.testing.assert_allclose(joints[-1], HOME, atol=1e-2)
    assert (np.abs(speeds) / iiwa.SPEED_LIMIT).max() < iiwa.USABLE
    tip = iiwa.tip(joints)
    np.testing.assert_allclose(tip[:, 2], iiwa.TIP_HEIGHT, atol=1e-3)
    assert tip[:, 0].min() > FRONT
