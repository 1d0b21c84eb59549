"""Plays the measured contact of a ball with a surface in any MuJoCo model; needs numpy and mujoco.

    draws = Draws.load("draws.npz")
    generator = np.random.default_rng(0)
    player = Player(model, data, draws.sample(generator), draw=generator)
    while data.time < 2.0:
        player.step()                              # instead of mujoco.mj_step(model, data)
    player.contact = draws.sample(generator)       # for the next episode: domain randomisation

MuJoCo flies the ball and leaves its contact with the surface alone (`contact.xml`). When a step
ends under the surface, the instant t of the contact is solved for with the acceleration of that
step. With u along the surface and w into it, relative to the surface,

    u' = (1 - l) u,    w' = e(w) w,    both times 1 + s n, n ~ N(0, 1)
    direction redrawn from (1 - p) vMF(k) + p vMF(q k) about (u', w'), again until it leaves

is the velocity with which the ball flies for the rest of the step. Air takes k |v| v. The law is
that of Matl et al. (STReSSD, Sec. 3.2) and what real balls add to it. The surface does not feel the
ball, and spin neither acts nor changes. A bounce whose flight would last less than two steps is the
last: the ball then slides. Flights are the integrator's: RK4 is exact without air, Euler is late by
half a step's fall.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

REFERENCE_SPEED = 2.0
"""At which `restitution` is stated, m/s."""
LOWEST, HIGHEST = 0.01, 1.0
COLUMNS = (
    "restitution", "concentration", "slope", "tangential_loss", "tail_share", "tail_ratio",
    "scatter", "drag", "viscoelastic",
)  # fmt: skip
FARTHEST = -0.1
"""Margin of a pair below which MuJoCo leaves its contact alone, m."""
_TINY = 1e-9
_HALVINGS = 60
_LEAST_FACTOR = 0.1

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Contact:
    """One draw of the posterior.

    Attributes:
        restitution: At the reference speed.
        concentration: k of the exit direction.
        slope: By which restitution falls with speed, s/m.
        tangential_loss: l, share of the tangential speed.
        tail_share, tail_ratio: p and q of wide redirections.
        scatter: s of the exit speed.
        drag: k of the air, 1/m.
        strength: Of the viscoelastic law at the reference speed; 0 where restitution is linear.
    """

    restitution: float
    concentration: float
    slope: float = 0.0
    tangential_loss: float = 0.0
    tail_share: float = 0.0
    tail_ratio: float = 1.0
    scatter: float = 0.0
    drag: float = 0.0
    strength: float = 0.0

    def restitution_at(self, speed: float) -> float:
        """Return restitution at a speed of impact, m/s."""
        if self.strength > 0.0:
            return compact(self.strength * (speed / REFERENCE_SPEED) ** 0.2)
        straight = self.restitution - self.slope * (speed - REFERENCE_SPEED)
        return min(max(straight, LOWEST), HIGHEST)


@dataclass(frozen=True)
class Bounce:
    """A contact: its time, s, and place, m, and the velocity with which the ball leaves, m/s."""

    time: float
    place: Vector
    velocity: Vector


class Draws:
    """Draws of the posterior."""

    def __init__(self, columns: dict[str, NDArray[np.float64]]) -> None:
        """Hold one column for each of `COLUMNS`."""
        self._columns = {name: np.asarray(columns[name], dtype=np.float64) for name in COLUMNS}

    @classmethod
    def load(cls, path: str | Path) -> "Draws":
        """Read `draws.npz`."""
        with np.load(path, allow_pickle=False) as content:
            return cls({name: content[name] for name in COLUMNS})

    def __len__(self) -> int:
        """Number of draws."""
        return len(self._columns["restitution"])

    def contact(self, number: int) -> Contact:
        """Return one draw by its number."""
        row = {name: float(column[number]) for name, column in self._columns.items()}
        strength = _strength(row["restitution"]) if row.pop("viscoelastic") else 0.0
        return Contact(**row, strength=strength)

    def sample(self, draw: np.random.Generator) -> Contact:
        """Return any draw, all equally probable."""
        return self.contact(int(draw.integers(len(self))))


class Player:
    """Steps a model whose ball bounces as was measured; change `contact` between episodes."""

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        contact: Contact,
        *,
        draw: np.random.Generator,
        ball: str = "ball",
        surface: str = "surface",
    ) -> None:
        """Find ball and surface.

        Args:
            draw: Of all randomness.
            ball: Name of a geom on a body with a free joint.
            surface: Name of a geom, resting or moved by the model.

        Raises:
            ValueError: If there are no such geoms, or MuJoCo itself resolves their contact.
        """
        self.contact, self._model, self._data, self._draw = contact, model, data, draw
        self._ball, self._surface = _geom(model, ball), _geom(model, surface)
        self._body = int(model.geom_bodyid[self._ball])
        joint = int(model.body_jntadr[self._body])
        if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
            raise ValueError(f"ball: geom {ball!r} is on a body without a free joint")
        if not _left_alone(model, self._ball, self._surface):
            raise ValueError(
                f"{ball!r} and {surface!r}: MuJoCo resolves their contact; include contact.xml"
            )
        place, rate = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        self._place, self._rate = slice(place, place + 3), slice(rate, rate + 3)

    def step(self) -> Bounce | None:
        """Advance by one time step; return the bounce in it, if there was one."""
        before = self._data.qvel[self._rate].copy()
        force = self._drag(before + 0.5 * self._model.opt.timestep * self._model.opt.gravity)
        force *= self._model.body_mass[self._body]
        self._data.xfrc_applied[self._body, :3] += force
        mujoco.mj_step(self._model, self._data)
        self._data.xfrc_applied[self._body, :3] -= force
        mujoco.mj_kinematics(self._model, self._data)
        ends = np.zeros(6)
        distance = mujoco.mj_geomDistance(
            self._model, self._data, self._ball, self._surface, 1.0, ends
        )
        if distance > -_TINY:
            return None
        bounce = self._bounce(-distance, (ends[:3] - ends[3:]) / distance, before)
        mujoco.mj_kinematics(self._model, self._data)
        return bounce

    def _drag(self, velocity: Vector) -> Vector:
        return -self.contact.drag * float(np.linalg.norm(velocity)) * velocity

    def _bounce(self, depth: float, normal: Vector, before: Vector) -> Bounce | None:
        """Bring the ball from under the surface to where it flies after a bounce, or to rest."""
        data, step = self._data, float(self._model.opt.timestep)
        velocity = data.qvel[self._rate].copy()
        acceleration, moving = (velocity - before) / step, self._surface_velocity()
        fall, pull = float(normal @ (velocity - moving)), float(normal @ acceleration)
        if fall >= 0.0:  # it is on its way out
            return None
        root = math.sqrt(max(fall * fall + 2.0 * pull * depth, 0.0))
        since = min(2.0 * depth / (root - fall), step)
        if self.contact.restitution_at(root) * root < -pull * step:
            data.qpos[self._place] += depth * normal
            data.qvel[self._rate] -= fall * normal
            return None
        exit_velocity = self._exit(velocity - since * acceleration - moving, normal) + moving
        place = data.qpos[self._place] - since * velocity + 0.5 * since**2 * acceleration
        after = self._model.opt.gravity + self._drag(exit_velocity)
        data.qpos[self._place] = place + since * exit_velocity + 0.5 * since**2 * after
        data.qvel[self._rate] = exit_velocity + since * after
        return Bounce(float(data.time) - since, place, exit_velocity)

    def _surface_velocity(self) -> Vector:
        """Return the velocity of the surface under the ball at the start of the step."""
        found, surface = np.zeros(6), self._surface
        geom = mujoco.mjtObj.mjOBJ_GEOM
        mujoco.mj_objectVelocity(self._model, self._data, geom, surface, found, 0)
        arm = self._data.geom_xpos[self._ball] - self._data.geom_xpos[surface]
        return np.asarray(found[3:] + np.cross(found[:3], arm))

    def _exit(self, impact: Vector, normal: Vector) -> Vector:
        contact, draw = self.contact, self._draw
        speed = -float(normal @ impact)
        along = impact + speed * normal
        mean = (1.0 - contact.tangential_loss) * along
        mean = mean + contact.restitution_at(speed) * speed * normal
        mean = mean * max(1.0 + contact.scatter * draw.standard_normal(), _LEAST_FACTOR)
        wide = draw.random() < contact.tail_share
        concentration = contact.concentration * (contact.tail_ratio if wide else 1.0)
        while True:
            found = redirected(mean, concentration, draw=draw)
            if normal @ found > 0.0:
                return found


def redirected(mean: Vector, concentration: float, *, draw: np.random.Generator) -> Vector:
    """Draw from the von Mises-Fisher law about a vector, which keeps its length."""
    length = float(np.linalg.norm(mean))
    pole = mean / length
    fall = -math.log1p(draw.random() * math.expm1(-2.0 * concentration)) / concentration
    azimuth, side = 2.0 * math.pi * draw.random(), math.sqrt(fall * (2.0 - fall))
    first = np.cross(pole, np.eye(3)[int(np.argmin(np.abs(pole)))])
    first /= np.linalg.norm(first)
    across = math.cos(azimuth) * first + math.sin(azimuth) * np.cross(pole, first)
    return np.asarray(length * ((1.0 - fall) * pole + side * across))


def compact(squared: float) -> float:
    """Return the restitution of a viscoelastic sphere at s^2 (Mueller and Poeschel 2011)."""
    s = math.sqrt(squared)
    lost = squared * (1.15345 + s * (0.577977 + s * (0.532178 + s * 0.501086)))
    return (1.0 + 0.501086 * s) / (1.0 + 0.501086 * s + lost)


def _strength(restitution: float) -> float:
    """Return s^2 at which `compact` is a restitution, by halving its logarithm."""
    low, high = math.log(1e-6), math.log(4.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if compact(math.exp(middle)) > restitution else (low, middle)
    return math.exp(0.5 * (low + high))


def _geom(model: mujoco.MjModel, name: str) -> int:
    found = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name)
    if found < 0:
        raise ValueError(f"no geom is named {name!r}")
    return int(found)


def _left_alone(model: mujoco.MjModel, ball: int, surface: int) -> bool:
    """Tell whether MuJoCo leaves the contact of two geoms alone."""
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CONTACT):
        return True
    for pair in range(model.npair):
        if {int(model.pair_geom1[pair]), int(model.pair_geom2[pair])} == {ball, surface}:
            return bool(model.pair_margin[pair] <= FARTHEST)
    bodies = [int(model.geom_bodyid[geom]) for geom in (ball, surface)]
    if (min(bodies) << 16) + max(bodies) in model.exclude_signature:
        return True
    kinds, answers = model.geom_contype, model.geom_conaffinity
    return not (kinds[ball] & answers[surface] or kinds[surface] & answers[ball])
