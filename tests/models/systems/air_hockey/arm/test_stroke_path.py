"""What strokes use of the limits: against dense sampling, and their geometry."""

import numpy as np

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stroke_path, stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_path import BRAKE, HOLD, Limits
from ricochet.models.systems.air_hockey.table import Table

LIMITS = Limits()
RADIUS = Table().contact_radius


def contact(angle: float = 0.3, speed: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Return a posture at (0.9, 0.05) m and joint speeds along an angle."""
    joints = splines.seek(iiwa.HOME, np.array((0.9, 0.05, iiwa.TIP_HEIGHT)), steps=20)
    return joints, speed * stroke_table.unit_speeds(joints, np.array(angle))


def path(duration: float) -> splines.Path:
    joints, speeds = contact()
    wind_up = np.array(0.2)
    ready = stroke_path.start_posture(joints, speeds, wind_up=wind_up)
    points = np.stack((iiwa.HOME, ready, joints))
    times = np.array((0.0, duration - 0.2, duration))
    return splines.fit(times, points, first=0.0 * speeds, last=speeds)


def test_usage_equals_dense_differences():
    """Thirteen samples a piece find the extremes of these cubics to a twentieth."""
    way = path(1.0)
    used = stroke_path.usage(way, LIMITS)
    time = np.linspace(0.0, 1.0, 4001)
    joints = splines.level(splines.at(way, time)[0], steps=5)
    speeds = np.diff(joints, axis=0) / 2.5e-4
    accelerations = np.diff(speeds, axis=0) / 2.5e-4
    fast = (np.abs(speeds) / LIMITS.joint_speed).max()
    hard = (np.abs(accelerations) / LIMITS.acceleration).max()
    np.testing.assert_allclose(used.speed, fast, rtol=0.05)
    np.testing.assert_allclose(used.acceleration, hard, rtol=0.15)


def test_twice_the_time_is_far_less_effort():
    """All of it but the wind-up's: 0.2 s at steady acceleration, which stays."""
    quick, slow = stroke_path.usage(path(0.8), LIMITS), stroke_path.usage(path(1.6), LIMITS)
    assert slow.effort < 0.6 * quick.effort
    assert slow.acceleration < quick.acceleration


def test_clearance_use_counts_centimetres_of_intrusion():
    joints, _ = contact()
    still = np.broadcast_to(joints, (4, 7))
    times = np.linspace(0.0, 1.0, 4)
    tip = iiwa.tip(joints)
    at_wall = Limits(near=float(tip[0]) + 0.03)
    used = stroke_path.usage_of(still, times, np.zeros(7), at_wall)
    np.testing.assert_allclose(used.clearance_use, 1.0 + 3.0, atol=1e-9)
    aside = Limits(side=float(abs(tip[1])) - 0.02)
    used = stroke_path.usage_of(still, times, np.zeros(7), aside)
    np.testing.assert_allclose(used.clearance_use, 1.0 + 2.0, atol=1e-9)
    assert used.speed == 0.0 == used.effort


def test_a_run_up_through_the_puck_is_counted():
    """The straight way in from behind keeps off; one from the puck's other side does not."""
    joints, speeds = contact()
    puck = iiwa.tip(joints)[:2] + RADIUS * np.array((np.cos(0.3), np.sin(0.3)))
    rooms = []
    for start in (joints - 0.2 * speeds, joints + 0.4 * speeds):
        points = np.stack((splines.level(start), joints))
        way = splines.fit(np.array((0.0, 0.5)), points, first=0.0 * speeds, last=speeds)
        samples = splines.level(splines.at(way, np.linspace(0.0, 0.48, 200))[0])
        apart = np.linalg.norm(iiwa.tip(samples)[:, :2] - puck, axis=-1).min()
        rooms.append((float(stroke_path.usage(way, LIMITS).clearance_use), float(apart)))
    (good, clear), (bad, touching) = rooms
    assert good <= 1.0
    assert clear > RADIUS
    assert touching < RADIUS
    assert bad > 1.0 + 100.0 * 0.9 * (RADIUS - touching)


def test_steady_acceleration_from_the_start_posture_gives_the_contact():
    """From rest there, over the wind-up, the mean speed is half the last."""
    joints, speeds = contact()
    ready = stroke_path.start_posture(joints, speeds, wind_up=np.array(0.2))
    np.testing.assert_allclose(iiwa.tip(ready)[2], iiwa.TIP_HEIGHT, atol=1e-4)
    way = iiwa.tip(joints) - iiwa.tip(ready)
    np.testing.assert_allclose(np.linalg.norm(way[:2]), 0.5 * 0.2 * 0.8, rtol=0.1)
    np.testing.assert_allclose(np.arctan2(way[1], way[0]), 0.3, atol=0.15)


def test_after_a_contact_the_mallet_goes_straight_and_then_stops():
    joints, speeds = contact(angle=1.0, speed=1.5)
    late = np.linspace(0.0, HOLD + BRAKE + 0.1, 300)
    way = stroke_path.follow(joints, speeds, late)
    tip = iiwa.tip(way)
    np.testing.assert_allclose(tip[:, 2], iiwa.TIP_HEIGHT, atol=1e-5)
    gone = (tip - tip[0])[late <= HOLD]
    np.testing.assert_allclose(-np.sin(1.0) * gone[:, 0] + np.cos(1.0) * gone[:, 1], 0, atol=1e-6)
    rates = np.linalg.norm(np.diff(tip, axis=0), axis=-1) / np.diff(late)
    np.testing.assert_allclose(rates[0], 1.5, rtol=0.01)
    np.testing.assert_allclose(rates[late[1:] > HOLD + BRAKE + 1e-3], 0.0, atol=1e-9)
    assert np.abs(np.diff(rates)).max() < 0.05 * 1.5


def test_a_batch_equals_its_members():
    pairs = [contact(angle, 0.5) for angle in (-0.5, 0.0, 0.8)]
    joints, speeds = (np.stack(values) for values in zip(*pairs, strict=True))
    whole = stroke_path.usage_after(joints, speeds, LIMITS).peak()
    alone = [stroke_path.usage_after(*pair, LIMITS).peak() for pair in pairs]
    np.testing.assert_allclose(whole, alone, rtol=1e-9)
