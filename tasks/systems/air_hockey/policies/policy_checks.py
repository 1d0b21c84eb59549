"""What must hold of a policy before an arm moves by it: speeds, times, postures, laws, weights."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.core.bad_input import BadInput
from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.arm import sampling_mpc
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Setting
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE
from ricochet.tasks.storage import limits

if TYPE_CHECKING:
    from ricochet.tasks.systems.air_hockey.policies.packages import Shooter

FASTEST, FARTHEST = 10.0, 10.0
"""Speed of a stroke, m/s, and its place, m."""
LONGEST, LONGEST_WIND_UP = sampling_mpc.LONGEST, 0.5 * sampling_mpc.LONGEST
"""Times of a stroke, s: with longer ones the arm has none left to begin in."""
LEAST_GAIN = 0.03
"""Of a posture, m/rad: how far each turn of the joints moves the tip that way which is hardest."""
KNOWN_LOW = np.append(objective.LOW, -LARGEST_ANGLE) - 1e-9
KNOWN_HIGH = np.append(objective.HIGH, LARGEST_ANGLE) + 1e-9
"""Bounds of what any policy is trained on: m, m/s, m/s^2, rad."""
LARGEST_LAW, LARGEST_WEIGHT = 100.0, 1e6
GAINS = {"floating": 1.05, "wall": 1.5, "rebounds": 1.5, "mallet": 5.0}
"""Of speeds by the puck's modes: no puck floats or banks faster than it came, and none leaves a
mallet at more than twice the speed with which both met; what is above, is for errors of what was
learnt from little."""
LARGEST_OFFSET = 1.0
"""m/s that a mode adds to any speed."""
BANKED = np.array((1.0, FASTEST))
"""Speeds, m/s, at which a bank turns the puck back; of a slower one the offset may be more."""
LONGEST_CONTACT = 5.0 * PERIOD
"""s that the delay of a strike may be."""
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?")
_NUMBERS = ("goal_weight", "speed_weight", "least_goal")


def setting_of(stated: Any) -> Setting:
    """Return the setting that a manifest states; ValueError where it is none."""
    if not isinstance(stated, Mapping) or set(stated) != {"name", *_NUMBERS}:
        raise ValueError(f"setting {stated!r}"[:200])
    numbers = [stated[name] for name in _NUMBERS]
    if not all(type(each) in (int, float) and 0.0 <= each <= 1e3 for each in numbers):
        raise ValueError(f"weights {numbers!r}"[:200])
    if not isinstance(stated["name"], str) or not _NAME.fullmatch(stated["name"]):
        raise ValueError(f"the name {stated['name']!r}"[:200])
    if stated["least_goal"] > 1.0:
        raise ValueError("a promised share above 1")
    return Setting(**stated)


def check(shooter: "Shooter", where: str) -> None:
    """Refuse a policy that would have an arm do what none can: `BadInput`."""
    strokes = shooter.strokes
    for name, values, low, high in (
        ("x", strokes.x, -FARTHEST, FARTHEST),
        ("y", strokes.y, -FARTHEST, FARTHEST),
        ("angle", strokes.angle, -np.pi, np.pi),
        ("joints", strokes.joints, -iiwa.JOINT_LIMIT, iiwa.JOINT_LIMIT),
        ("offsets", strokes.offsets, -2.0 * iiwa.JOINT_LIMIT, 2.0 * iiwa.JOINT_LIMIT),
        ("wind_ups", strokes.wind_ups, 0.0, LONGEST_WIND_UP),
        ("durations", strokes.durations, 0.0, LONGEST),
        ("speeds", strokes.speeds, -FASTEST, FASTEST),
        ("bounds", np.stack((shooter.low, shooter.high)), KNOWN_LOW, KNOWN_HIGH),
    ):
        if not ((values >= low) & (values <= high)).all():
            raise BadInput(f"{where}: {name}", "numbers out of bounds", f"{low} to {high}")
    for axis in (strokes.x, strokes.y, strokes.angle):
        if len(axis) < 2 or not (np.diff(axis) > 0.0).all():
            raise BadInput(f"{where}: strokes", "an axis that does not ascend", "one")
    _check_postures(strokes.joints, where)
    for values in vars(shooter.energy).values():
        if np.size(values) == 0 or not np.abs(values).max() <= LARGEST_WEIGHT:
            raise BadInput(f"{where}: energy", "weights beyond all measure, or none", "a network")
    if (units := len(shooter.energy.last)) > limits.UNITS:
        raise BadInput(f"{where}: energy", f"{units} units", f"at most {limits.UNITS} in a layer")
    _check_modes(shooter.modes, where)


def _check_postures(joints: Float[ndarray, "x y u 7"], where: str) -> None:
    """Refuse postures from which no contact can be sought: off the table, or singular."""
    pose = iiwa.pose(joints)
    if not (np.abs(pose.tip[..., 2] - iiwa.TIP_HEIGHT) <= iiwa.TIP_TOLERANCE).all():
        raise BadInput(f"{where}: joints", "postures off the table", "the tip at its height")
    gain = np.linalg.svd(pose.jacobian, compute_uv=False)[..., -1]
    if not (gain >= LEAST_GAIN).all():
        raise BadInput(f"{where}: joints", "singular postures", "a tip that moves every way")


def _check_modes(modes: PuckModes, where: str) -> None:
    """Refuse laws that no puck moves by: it would be thrown about, or out through a wall."""
    rebounds = {f"rebounds.{k}": each.law for k, each in enumerate(modes.rebounds)}
    banks = {"wall": modes.wall} | rebounds
    laws = {"floating": modes.floating, "mallet": modes.mallet} | banks
    sizes = [np.abs(values).max() for law in laws.values() for values in vars(law).values()]
    if not max(*sizes, modes.airflow_sd) <= LARGEST_LAW:
        raise BadInput(f"{where}: modes", "laws beyond all measure", f"{LARGEST_LAW:g} at most")
    if not modes.delay <= LONGEST_CONTACT:
        found, most = f"{modes.delay:g} s", f"{LONGEST_CONTACT:g} s at most"
        raise BadInput(f"{where}: modes.delay", found, most)
    for name, law in laws.items():
        _check_gain(law, f"{where}: modes.{name}", most=GAINS[name.partition(".")[0]])
    _check_floating(modes.floating, f"{where}: modes.floating")
    for name, law in banks.items():
        _check_bank(law, f"{where}: modes.{name}")


def _check_gain(law: LinearGaussian, where: str, *, most: float) -> None:
    """Refuse a law by which a puck becomes too fast."""
    gain, offset = float(np.linalg.norm(law.matrix, 2)), float(np.abs(law.offset).max())
    if not gain <= most:
        found = f"a puck that becomes {gain:.4g} times as fast"
        raise BadInput(where, found, f"{most:g} times at most")
    if not offset <= LARGEST_OFFSET:
        found = f"a puck that becomes faster by {offset:.4g} m/s"
        raise BadInput(where, found, f"{LARGEST_OFFSET:g} m/s at most")


def _check_floating(law: LinearGaussian, where: str) -> None:
    """Refuse a law by which a puck turns by a right angle or more in one period."""
    if not np.linalg.eigvalsh(law.matrix + law.matrix.T)[0] > 0.0:
        raise BadInput(where, "a puck that turns back", "one that keeps its direction")


def _check_bank(law: LinearGaussian, where: str) -> None:
    """Refuse a law by which a puck that comes at up to 45 degrees goes on through the wall."""
    normal, tangent = law.matrix[0]
    if not (BANKED * (normal + abs(tangent)) + law.offset[0] < 0.0).all():
        found = "a puck that goes on through the wall"
        raise BadInput(where, found, f"one turned back at {BANKED[0]:g} to {BANKED[1]:g} m/s")
