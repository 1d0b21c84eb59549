r"""The board in MuJoCo: an object of one of seven shapes between three walls and a bat.

The board is tilted so that 9.81 m/s^2 has the table's gravity along it, at 5.85 degrees 1 m/s^2.
The object slides along x and y and turns about z on joints: what presses it onto the board is
borne by them, exactly and without friction. It is the shape of `shapes`, extruded: a convex mesh of
`POINTS` corners, whose mass and inertia are set, not those of the mesh. The bat is on a hinge at
the origin, with an inertia that no impact moves: it goes as it is driven, and MuJoCo sees the
velocity of its surface. Walls and bat are long boxes, so that one contact is found for each, at the
deepest point.

**Contact.** MuJoCo's own, soft: with r the gap and v_t the slip, where it pushes,

    r'' + c r' + k r = mu |u|,    u = v_t' + b v_t,    f_t = -mu f_n u / |u|   while it slides
    r'' + c r' + k r = 0,         u = 0                                        while it sticks

(Todorov, Erez and Tassa 2012, and MuJoCo's documentation, "Computation"; the right side is how far
a sliding contact is from its cone's dual). k and c are accelerations: restitution is that of a
spring and a damper, whatever the mass and the place that is struck, but not when it slides; the
contact ends without pulling. No coefficient of the law of impact stands in it.
"""

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.batting.shapes import Shapes, boundary, seven_shapes
from ricochet.models.systems.batting.table import Table

STEP = 1e-4
"""Of the simulation, s."""
POINTS = 720
"""Corners of an object's outline."""
SURFACES = ("left", "right", "upper", "bat")
"""As `models.systems.batting.motion` numbers them."""
BAT = 3
"""Joint of the bat, after x, y and angle of the object."""
HEAVY = 1e4
"""Inertia by which the bat goes as it is driven, kg m^2: at its end 10^4 times an object's mass."""
TOLERANCE = 1e-12
"""Of the solver, which counts in shares of the bat's inertia."""
THICK, DEEP, HIGH = 2.0, 0.1, 1.0
"""Half sizes of walls across, of the object and of the walls along the board's normal, m."""
SINGLE = int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
"""One contact, the deepest, of two bodies."""
_HARD = 0.9999
"""Impedance of contacts: MuJoCo's greatest, at which it adds no softness of its own."""


@dataclass(frozen=True)
class Nature:
    """What contacts are like, hidden from who learns them.

    Attributes:
        stiffness: k, 1/s^2.
        damping: c, 1/s.
        friction: mu.
        slip_damping: b, 1/s.
    """

    stiffness: float = 2.5e6
    damping: float = 110.0
    friction: float = 0.5
    slip_damping: float = 1500.0


def tilt(gravity: float) -> float:
    """Return the angle of a board along which gravity is as said, rad."""
    return math.asin(gravity / GRAVITY)


def scene(
    kind: int,
    nature: Nature | None = None,
    *,
    table: Table | None = None,
    shapes: Shapes | None = None,
    step: float = STEP,
) -> mujoco.MjModel:
    """Return the board with an object of one of the shapes; positions are x, y, angle and bat."""
    nature, table = nature or Nature(), table or Table()
    shapes = shapes or seven_shapes()
    spec, angle = mujoco.MjSpec(), tilt(table.gravity)
    spec.option.timestep = step
    spec.option.gravity = [0.0, -table.gravity, -GRAVITY * math.cos(angle)]
    spec.option.disableflags = SINGLE
    spec.option.tolerance = TOLERANCE
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    _add_walls(spec, table)
    _add_object(spec, outline(kind, shapes), table.mass, float(shapes.gyration_squared[kind]))
    _add_bat(spec, table)
    for surface in SURFACES:
        _touch(spec, surface, nature)
    return spec.compile()


def outline(kind: int, shapes: Shapes) -> Float[ndarray, "point 2"]:
    """Return the corners of an object about its centre of mass, m."""
    return boundary(shapes.cosines[kind], shapes.sines[kind], POINTS)


def _add_walls(spec: mujoco.MjSpec, table: Table) -> None:
    width, height = table.width, table.height
    reach = width + height
    for name, place, size in (
        ("left", (-THICK, 0.5 * height), (THICK, reach)),
        ("right", (width + THICK, 0.5 * height), (THICK, reach)),
        ("upper", (0.5 * width, height + THICK), (reach, THICK)),
    ):
        _add_box(spec.worldbody, name, place, size)


def _add_bat(spec: mujoco.MjSpec, table: Table) -> None:
    bat = spec.worldbody.add_body(
        name="bat", mass=1.0, inertia=[1.0, 1.0, 1.0], explicitinertial=True
    )
    bat.add_joint(name="bat", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1], armature=HEAVY)
    _add_box(bat, "bat", (0.0, -THICK), (2.0 * table.width, THICK))


def _add_object(
    spec: mujoco.MjSpec, corners: Float[ndarray, "point 2"], mass: float, gyration_squared: float
) -> None:
    ends = [np.column_stack((corners, np.full(len(corners), z))) for z in (-DEEP, DEEP)]
    spec.add_mesh(name="object", uservert=np.concatenate(ends).ravel())
    moment = mass * gyration_squared
    body = spec.worldbody.add_body(
        name="object", mass=mass, inertia=[moment] * 3, explicitinertial=True
    )
    for name, axis in (("x", [1, 0, 0]), ("y", [0, 1, 0])):
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    body.add_joint(name="angle", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    body.add_geom(
        name="object",
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname="object",
        contype=0,
        conaffinity=0,
    )


def _add_box(
    body: mujoco.MjsBody, name: str, place: tuple[float, float], size: tuple[float, float]
) -> None:
    body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[*place, 0.0],
        size=[*size, HIGH],
        contype=0,
        conaffinity=0,
    )


def _touch(spec: mujoco.MjSpec, surface: str, nature: Nature) -> None:
    pair = spec.add_pair(geomname1=surface, geomname2="object", condim=3)
    pair.friction = [nature.friction, nature.friction, 0.0, 0.0, 0.0]
    pair.solref = [-nature.stiffness, -nature.damping]
    pair.solreffriction = [-nature.stiffness, -nature.slip_damping]
    pair.solimp = [_HARD, _HARD, 1.0, 0.5, 1.0]
