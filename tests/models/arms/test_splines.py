"""Paths of least acceleration: against scipy's splines, their optimality, and on the table."""

import numpy as np
from scipy.interpolate import CubicSpline

from ricochet.models.arms import iiwa, splines
from ricochet.models.arms.splines import Path


def some(seed: int, batch: int, knots: int) -> Path:
    draw = np.random.default_rng(seed)
    times = np.cumsum(draw.uniform(0.1, 0.6, (batch, knots)), -1)
    points = draw.normal(size=(batch, knots, 7))
    first, last = draw.normal(size=(2, batch, 7))
    return splines.fit(times, points, first=first, last=last)


def one(path: Path, index: int) -> Path:
    return Path(path.times[index], path.points[index], path.speeds[index])


def test_a_path_equals_the_clamped_spline():
    for knots in (2, 3, 5):
        path = some(knots, 4, knots)
        for k in range(4):
            ends = ((1, path.speeds[k, 0]), (1, path.speeds[k, -1]))
            spline = CubicSpline(path.times[k], path.points[k], bc_type=ends)
            time = np.linspace(path.times[k, 0], path.times[k, -1], 40)
            joints, speeds = splines.at(one(path, k), time)
            np.testing.assert_allclose(joints, spline(time), atol=1e-11)
            np.testing.assert_allclose(speeds, spline(time, 1), atol=1e-9)


def test_no_other_path_through_the_points_has_less_acceleration():
    """Ends and via points stay under a bump that vanishes with its slope at the ends."""
    path = one(some(7, 1, 3), 0)
    time = np.linspace(path.times[0], path.times[-1], 4001)
    _, speeds = splines.at(path, time)
    share = (time - time[0]) / (time[-1] - time[0])
    middle = (path.times[1] - time[0]) / (time[-1] - time[0])
    bump = 0.3 * share**2 * (1 - share) ** 2 * (share - middle)

    def effort(rates: np.ndarray) -> float:
        return float((np.diff(rates[:, 0]) ** 2).sum())

    other = speeds + np.gradient(bump, time)[:, None]
    assert effort(other) > effort(speeds)
    less = speeds - np.gradient(bump, time)[:, None]
    assert effort(less) > effort(speeds)


def test_the_rest_of_a_path_is_the_path_of_the_rest():
    path = one(some(8, 1, 3), 0)
    now = path.times[0] + 0.4 * (path.times[1] - path.times[0])
    joints, speeds = (value[0] for value in splines.at(path, np.array((now,))))
    points = np.concatenate((joints[None], path.points[1:]))
    times = np.array((now, *path.times[1:]))
    rest = splines.fit(times, points, first=speeds, last=path.speeds[-1])
    later = np.linspace(now, path.times[-1], 30)
    for old, new in zip(splines.at(path, later), splines.at(rest, later), strict=True):
        np.testing.assert_allclose(new, old, atol=1e-11)


def test_a_batch_equals_its_members_and_stands_still_outside():
    path = some(9, 3, 4)
    time = np.stack([np.linspace(t[0] - 0.1, t[-1] + 0.1, 9) for t in path.times])
    joints, speeds = splines.at(path, time)
    for k in range(3):
        alone = splines.at(one(path, k), time[k])
        np.testing.assert_allclose(joints[k], alone[0], atol=1e-13)
        np.testing.assert_allclose(speeds[k], alone[1], atol=1e-13)
    np.testing.assert_allclose(joints[:, (0, -1)], path.points[:, (0, -1)], atol=1e-13)
    assert not speeds[:, (0, -1)].any()


def near_home(seed: int, spread: float) -> np.ndarray:
    return iiwa.HOME + np.random.default_rng(seed).normal(0.0, spread, (50, 7))


def test_level_brings_the_tip_to_its_height():
    joints = near_home(1, 0.05)
    assert np.abs(iiwa.tip(joints)[:, 2] - iiwa.TIP_HEIGHT).max() > 0.05
    height = iiwa.tip(splines.level(joints))[:, 2]
    np.testing.assert_allclose(height, iiwa.TIP_HEIGHT, atol=1e-4)


def test_level_leaves_what_is_level_and_speeds_along_the_table():
    joints = splines.level(near_home(2, 0.1), steps=8)
    np.testing.assert_allclose(splines.level(joints), joints, atol=1e-12)
    slope = iiwa.tip_slope(joints)[1]
    speeds = np.random.default_rng(3).normal(size=(50, 7))
    speeds -= slope * ((slope * speeds).sum(-1) / (slope**2).sum(-1))[:, None]
    ahead, behind = (splines.level(joints + h * speeds, steps=6) for h in (1e-4, -1e-4))
    np.testing.assert_allclose((ahead - behind) / 2e-4, speeds, atol=1e-5)


def test_seek_recovers_a_point_and_only_what_is_asked():
    joints = near_home(4, 0.1)
    target = iiwa.tip(joints) + np.array((0.02, -0.03, 0.01))
    np.testing.assert_allclose(iiwa.tip(splines.seek(joints, target)), target, atol=1e-9)
    plane = splines.seek(joints, target, across=np.array(((0.0, 0.0, 1.0),)))
    found = iiwa.tip(plane)
    np.testing.assert_allclose(found[:, 2], target[:, 2], atol=1e-9)
    assert (np.abs(found[:, :2] - target[:, :2]).max(-1) > 0.005).all()
