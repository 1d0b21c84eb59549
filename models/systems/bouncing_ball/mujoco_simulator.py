"""The law of `bouncing_ball` inside MuJoCo, drop by drop: an independent check, not a fast path.

MuJoCo integrates the free flight in world axes (fourth-order Runge-Kutta, which is exact for a
parabola). When a step ends under the plane, its length is solved for so that it ends on it, and
the velocity there is replaced (STReSSD, section 3.2):

    u = v - (1 + e) (v.n) n,    v = |u| x,    x from von Mises-Fisher(u / |u|, k) until x.n > 0.

Only the law is shared with `bouncing_ball`: axes, flights and random draws (SciPy's) are made in
another way. The plane's normal is read from the scene.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize, stats

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.simulator import Bounces

_SCENE = Path(__file__).with_name("ball.xml")
_TIME_TOLERANCE = 1e-13  # s, of a contact within its step


def simulate(
    restitution: float,
    concentration: float,
    *,
    drops: int,
    drop_height: float,
    bounces: int = 3,
    horizontal_sd: float = 0.1,
    gravity: float = GRAVITY,
    tilt: float = 0.0,
    start_velocity: Float[ndarray, "drop 3"] | None = None,
    draw: np.random.Generator,
) -> Bounces:
    """Drop a ball many times, in double precision; arguments as those of `simulator.simulate`."""
    world = _build(gravity, tilt)
    if start_velocity is None:
        start_velocity = horizontal_sd * draw.standard_normal((drops, 3)) * (1.0, 1.0, 0.0)
    table = np.empty((drops, bounces, 7))
    for start, rows in zip(start_velocity, table, strict=True):
        _release(world, drop_height, start)
        for row in rows:
            _fly_to_contact(world)
            _collide(world, restitution, concentration, draw)
            row[:] = world.data.time, *world.data.qpos[:3], *world.data.qvel[:3]
    result = torch.from_numpy(table)
    return Bounces(result[..., 0], result[..., 1:4], result[..., 4:7])


@dataclass(frozen=True)
class _World:
    """A scene, its changing state, and the plane's normal in world axes."""

    model: mujoco.MjModel
    data: mujoco.MjData
    normal: Float[ndarray, " 3"]

    def height(self) -> float:
        return float(self.normal @ self.data.qpos[:3])


def _build(gravity: float, tilt: float) -> _World:
    """Load the scene, set gravity and turn the plane about y."""
    scene = mujoco.MjSpec.from_file(str(_SCENE))
    scene.option.gravity = [0.0, 0.0, -gravity]
    scene.geom("plane").quat = [math.cos(0.5 * tilt), 0.0, math.sin(0.5 * tilt), 0.0]
    model = scene.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return _World(model, data, data.geom("plane").xmat.reshape(3, 3)[:, 2].copy())


def _release(world: _World, drop_height: float, velocity: Float[ndarray, " 3"]) -> None:
    mujoco.mj_resetData(world.model, world.data)
    world.data.qpos[:3] = 0.0, 0.0, drop_height
    world.data.qvel[:3] = velocity


def _fly_to_contact(world: _World) -> None:
    """Step until the next step would end under the plane, then to the plane itself."""
    while True:
        before = world.data.time, world.data.qpos.copy(), world.data.qvel.copy()
        mujoco.mj_step(world.model, world.data)
        if world.height() < 0.0:
            break
    full = world.model.opt.timestep

    def height_after(step: float) -> float:
        world.data.time, world.data.qpos[:], world.data.qvel[:] = before
        if step > 0.0:
            world.model.opt.timestep = step
            mujoco.mj_step(world.model, world.data)
        return world.height()

    # The step may begin on the plane, going up: the contact comes after the highest point.
    pull = -float(world.normal @ world.model.opt.gravity)
    highest = min(max(0.0, float(world.normal @ before[2][:3]) / pull), full)
    height_after(optimize.brentq(height_after, highest, full, xtol=_TIME_TOLERANCE))
    world.model.opt.timestep = full


def _collide(
    world: _World, restitution: float, concentration: float, draw: np.random.Generator
) -> None:
    """Put the ball on the plane exactly, reflect its velocity and redraw the direction."""
    velocity, normal = world.data.qvel[:3], world.normal
    world.data.qpos[:3] -= world.height() * normal
    exit_velocity = velocity - (1.0 + restitution) * float(velocity @ normal) * normal
    world.data.qvel[:3] = _redraw(exit_velocity, normal, concentration, draw)


def _redraw(
    velocity: Float[ndarray, " 3"],
    normal: Float[ndarray, " 3"],
    concentration: float,
    draw: np.random.Generator,
) -> Float[ndarray, " 3"]:
    """Draw directions until one leaves the plane; keep the speed."""
    if math.isinf(concentration):
        return velocity
    speed = float(np.linalg.norm(velocity))
    while True:
        direction = stats.vonmises_fisher.rvs(velocity / speed, concentration, random_state=draw)[0]
        if direction @ normal > 0.0:
            return speed * np.asarray(direction)
