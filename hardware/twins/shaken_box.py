"""A simulated box on a universal joint that an arm shakes, seen as a motion capture system sees it.

MuJoCo moves it: the flange goes exactly as prescribed, dry friction holds the joints, and the box
hangs from a shaft below them by its lid, which bends under what the shaft pulls aside. Neither is
in the model that is inferred from what is seen. Four points are seen with noise, as
`models.systems.rigid_bodies.carried_box` has them.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.interpolate import CubicSpline

from ricochet.models.arms import panda
from ricochet.models.systems.rigid_bodies.box_parameters import DEPTH, MASS, WEIGHT

STEP = 5e-4
"""Of the simulation, s."""
SETTLING, SETTLED = 5.0, 2.0
"""Seconds before a recording in which the box is brought to rest, and by which damping, N m s."""
HEAVY = 1e8
"""Inertia by which the arm's joints go as prescribed, whatever hangs from them, kg m^2."""
SHAFT = 0.05
"""From the joint down to the lid, m."""
JOINT = 0.1
"""Share of the box's mass at the joint, with the shaft."""
JOINT_INERTIA = 1e-3
"""Of that about any axis, kg m^2."""


@dataclass(frozen=True)
class BoxTruth:
    """A box, and what the model does not have.

    Attributes:
        inertia: About its centre of mass: xx, yy, zz, xy, xz, yz, kg m^2.
        centre: Of mass, from the joint, m.
        friction: Of both joints, N m s/rad.
        dry_friction: Of both joints, N m.
        lid_stiffness: Of its bending about both axes, N m/rad.
        lid_damping: N m s/rad.
        noise: Deviation of a coordinate of a point, m.
    """

    inertia: tuple[float, float, float, float, float, float]
    centre: tuple[float, float, float]
    friction: tuple[float, float]
    dry_friction: float = 0.005
    lid_stiffness: float = 40.0
    lid_damping: float = 0.1
    noise: float = 2e-3


def record(
    truth: BoxTruth,
    joints: Float[ndarray, "frame 7"],
    rate: float,
    draw: np.random.Generator,
    *,
    weights: tuple[tuple[float, float], ...] = (),
) -> Float[ndarray, "frame 4 3"]:
    """Return where the four points of the box are seen while the arm moves, in the world, m.

    Args:
        joints: Of the arm, rad, at a rate in Hz.
        weights: Places (x, y) of those in the box, m.
    """
    model = mujoco.MjModel.from_xml_string(_scene(truth, weights))
    data, per_frame = mujoco.MjData(model), round(1.0 / (rate * STEP))
    spline = CubicSpline(np.arange(len(joints)) / rate, joints)
    points = [model.site(name).id for name in ("o", "x", "y", "z")]
    data.qpos[:7] = joints[0]
    data.qpos[7:9] = draw.uniform(-0.05, 0.05, 2)
    damping = model.dof_damping.copy()
    model.dof_damping[7:9] = SETTLED
    for _ in range(round(SETTLING / STEP)):
        _advance(model, data, joints[0], np.zeros(7), np.zeros(7))
    model.dof_damping[:] = damping
    found, data.time = np.empty((len(joints), 4, 3)), 0.0
    for frame in range(len(joints)):
        mujoco.mj_kinematics(model, data)
        found[frame] = data.site_xpos[points]
        for _ in range(per_frame):
            _advance(model, data, *(spline(data.time, order) for order in range(3)))
    return found + truth.noise * draw.normal(size=found.shape)


def _advance(
    model: mujoco.MjModel, data: mujoco.MjData, angles: ndarray, rates: ndarray, change: ndarray
) -> None:
    """Make a step, the arm held to its way."""
    data.qpos[:7], data.qvel[:7] = angles, rates
    data.qfrc_applied[:7] = HEAVY * change
    mujoco.mj_step(model, data)


def _scene(truth: BoxTruth, weights: tuple[tuple[float, float], ...]) -> str:
    """Return the arm's joints, a shaft on two joints and the box below it, as MJCF."""
    arm = "".join(_link(number) for number in range(7))
    nothing = '<inertial pos="0 0 0" mass="1e-9" diaginertia="1e-12 1e-12 1e-12"/>'
    lumps = "".join(
        f'<geom type="sphere" size="0.001" mass="{WEIGHT}" pos="{x} {y} {DEPTH - SHAFT}"/>'
        for x, y in weights
    )
    below = np.array((0.0, 0.0, SHAFT))
    dry, stiff = truth.dry_friction, truth.lid_stiffness
    universal = "".join(
        f'<joint axis="{axis}" damping="{damping}" frictionloss="{dry}"/>'
        for axis, damping in zip(("1 0 0", "0 1 0"), truth.friction, strict=True)
    )
    bending = "".join(
        f'<joint axis="{axis}" stiffness="{stiff}" damping="{truth.lid_damping}"/>'
        for axis in ("1 0 0", "0 1 0")
    )
    sites = "".join(
        f'<site name="{name}" pos="{_text(place - below)}"/>'
        for name, place in zip("oxyz", np.eye(4)[:, 1:], strict=True)
    )
    joint, body = MASS * JOINT, MASS * (1.0 - JOINT)
    centre = _text(np.array(truth.centre) / (1.0 - JOINT) - below)
    return f"""
<mujoco>
  <compiler angle="radian" balanceinertia="false"/>
  <option timestep="{STEP}" gravity="0 0 -9.81" integrator="implicitfast">
    <flag contact="disable"/>
  </option>
  <worldbody>
    {arm}
    <body pos="0 0 {panda.FLANGE}">
      <inertial pos="0 0 0" mass="{joint}" diaginertia="{_text(np.full(3, JOINT_INERTIA))}"/>
      {universal}
      <body pos="{_text(below)}">
        <inertial pos="{centre}" mass="{body}" fullinertia="{_text(_rest(truth))}"/>
        {bending}
        {sites}
        <body>{lumps or nothing}</body>
      </body>
    </body>
    {"</body>" * 7}
  </worldbody>
</mujoco>"""


def _link(number: int) -> str:
    """Open the body of a link of the arm; its inertia is that of its joint alone."""
    turn = f"{panda.ALPHA[number]} 0 0"
    alpha = panda.ALPHA[number]
    place = (
        panda.A[number], -np.sin(alpha) * panda.D[number], np.cos(alpha) * panda.D[number],
    )  # fmt: skip
    return (
        f'<body pos="{_text(np.array(place))}" euler="{turn}">'
        '<inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/>'
        f'<joint axis="0 0 1" armature="{HEAVY}"/>'
    )


def _rest(truth: BoxTruth) -> Float[ndarray, " 6"]:
    """Return the inertia of what hangs from the shaft, about its own centre.

    Together with what is at the joint, it has the inertia of the truth.
    """
    x, y, z = truth.centre
    square = np.array((y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z))
    whole = np.array(truth.inertia) - MASS * JOINT / (1.0 - JOINT) * square
    return whole - JOINT_INERTIA * np.array((1.0, 1.0, 1.0, 0.0, 0.0, 0.0))


def _text(values: ndarray) -> str:
    return " ".join(f"{value:.12g}" for value in values)
