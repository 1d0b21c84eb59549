r"""Joint paths of least acceleration through via points, kept at a height of the tip.

Among all paths q(t) with given q, dq at both ends that pass given points at given times, the one
of least integral of |ddq|^2 is the cubic spline with continuous ddq (VP-STO: Jankowski et al. 2023,
doi 10.1109/ICRA48891.2023.10160214; Holladay's theorem). It is linear in what is given: with h_i
the lengths of its pieces the speeds v_i at the via points solve, joint by joint,

    v_{i-1} / h_i + 2 v_i (1 / h_i + 1 / h_{i+1}) + v_{i+1} / h_{i+1}
        = 3 (q_i - q_{i-1}) / h_i^2 + 3 (q_{i+1} - q_i) / h_{i+1}^2,

and a piece is the cubic of its ends. The rest of such a path is the path of the rest: planning
again from a later point of it to the same ends changes nothing.

A path of joints leaves the table; `level` brings a posture back along J_z,
q <- q - J_z^+ (z - z_0), repeated. On the table it leaves speeds along the table as they are.
Joint angles are in rad, speeds in rad/s, times in s, places in m.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa

_LEVEL = 1e-12
"""Error of a height, m, from which on nothing is brought nearer."""


@dataclass(frozen=True)
class Path:
    """A cubic spline: times of its knots, ascending, with joint angles and speeds there."""

    times: Float[ndarray, "*batch knot"]
    points: Float[ndarray, "*batch knot n"]
    speeds: Float[ndarray, "*batch knot n"]


def fit(
    times: Float[ndarray, "*batch knot"],
    points: Float[ndarray, "*batch knot n"],
    *,
    first: Float[ndarray, "*#batch n"],
    last: Float[ndarray, "*#batch n"],
) -> Path:
    """Return the path of least acceleration through points at ascending times, given end speeds.

    >>> times, points, speed = np.arange(3.0), np.array([[0.0], [1.0], [2.0]]), np.ones(1)
    >>> fit(times, points, first=speed, last=speed).speeds.ravel()  # a straight line stays one
    array([1., 1., 1.])
    """
    speeds = np.zeros_like(points)
    speeds[..., 0, :], speeds[..., -1, :] = first, last
    inner = times.shape[-1] - 2
    if inner > 0:
        rate = 1.0 / np.diff(times, axis=-1)
        slope = 3.0 * np.diff(points, axis=-2) * (rate**2)[..., None]
        right = slope[..., :-1, :] + slope[..., 1:, :]
        right[..., 0, :] -= first * rate[..., :1]
        right[..., -1, :] -= last * rate[..., -1:]
        matrix = np.zeros((*times.shape[:-1], inner, inner))
        here = np.arange(inner)
        matrix[..., here, here] = 2.0 * (rate[..., :-1] + rate[..., 1:])
        matrix[..., here[:-1], here[1:]] = matrix[..., here[1:], here[:-1]] = rate[..., 1:-1]
        speeds[..., 1:-1, :] = np.linalg.solve(matrix, right) if inner > 1 else right / matrix
    return Path(times, points, speeds)


def at(
    path: Path, time: Float[ndarray, "*batch sample"]
) -> tuple[Float[ndarray, "*batch sample n"], Float[ndarray, "*batch sample n"]]:
    """Return joint angles and speeds; before its start and after its end the path is at rest.

    >>> path = Path(np.array([0.0, 2.0]), np.array([[0.0], [1.0]]), np.zeros((2, 1)))
    >>> joints, speeds = at(path, np.array([1.0, 5.0]))
    >>> joints.ravel(), speeds.ravel()
    (array([0.5, 1. ]), array([0.75, 0.  ]))
    """
    inside = np.clip(time, path.times[..., :1], path.times[..., -1:])
    before = (inside[..., :, None] >= path.times[..., None, 1:-1]).sum(-1)
    start = np.take_along_axis(path.times, before, -1)
    length = np.take_along_axis(path.times, before + 1, -1) - start
    ends = []
    for values in (path.points, path.speeds):
        ends += [np.take_along_axis(values, (before + k)[..., None], -2) for k in (0, 1)]
    joints, speeds = cubic(ends, (inside - start) / length, length)
    return joints, np.where((inside == time)[..., None], speeds, 0.0)


def cubic(
    ends: list[Float[ndarray, "*#batch n"]],
    share: Float[ndarray, "*#batch"],
    length: Float[ndarray, "*#batch"],
) -> tuple[Float[ndarray, "*#batch n"], Float[ndarray, "*#batch n"]]:
    """Return angles and speeds at a share of a cubic, given the angles and speeds at its ends.

    >>> start, end, rest = np.zeros(1), np.ones(1), np.zeros(1)
    >>> cubic([start, end, rest, rest], np.array(0.5), np.array(2.0))
    (array([0.5]), array([0.75]))
    """
    start, end, leaving, arriving = ends
    s, h = share[..., None], length[..., None]
    way = end - start
    bend = s * (1.0 - s)
    joints = start + s * s * (3.0 - 2.0 * s) * way + h * bend * ((1.0 - s) * leaving - s * arriving)
    swing = 6.0 * bend * way / h
    return joints, swing + (1.0 - s) * (1.0 - 3.0 * s) * leaving + s * (3.0 * s - 2.0) * arriving


def level(
    joints: Float[ndarray, "*batch 7"], *, height: float = iiwa.TIP_HEIGHT, steps: int = 3
) -> Float[ndarray, "*batch 7"]:
    """Bring the tip to a height by Newton's method along J_z.

    From 0.1 m off, three steps leave under 0.1 mm.

    >>> moved = iiwa.HOME + 0.05
    >>> round(float(iiwa.tip(moved)[2]), 4), round(float(iiwa.tip(level(moved))[2]), 4)
    (0.1525, 0.1645)
    """
    for _ in range(steps):
        tip, slope = iiwa.tip_slope(joints)
        off = height - tip[..., 2]
        if np.abs(off).max(initial=0.0) < _LEVEL:
            break
        joints = joints + (off / (slope**2).sum(-1))[..., None] * slope
    return joints


def seek(
    joints: Float[ndarray, "... 7"],
    target: Float[ndarray, "... 3"],
    *,
    across: Float[ndarray, "... row 3"] | None = None,
    steps: int = 4,
) -> Float[ndarray, "... 7"]:
    """Bring the tip to a point, or to a line or plane through it, by Newton's method along J.

    Joints share the work in proportion to the squares of their speed limits.

    Args:
        across: Directions in which the tip is brought there; all three when absent.

    >>> iiwa.tip(seek(iiwa.HOME, np.array((0.7, 0.1, 0.2)))).round(4)
    array([0.7, 0.1, 0.2])
    """
    rows = np.eye(3) if across is None else across
    weight = iiwa.SPEED_LIMIT**2
    for _ in range(steps):
        pose = iiwa.pose(joints)
        jacobian = rows @ pose.jacobian
        spread = weight[:, None] * np.swapaxes(jacobian, -1, -2)
        left = rows @ (target - pose.tip)[..., None]
        joints = joints + (spread @ np.linalg.solve(jacobian @ spread, left))[..., 0]
    return joints
