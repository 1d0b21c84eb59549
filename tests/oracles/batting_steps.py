"""A batted object on a fine grid of time: first contacts by bisection, impulses by matrices.

The gap to each surface, g(t) = n(t) . c(t) - offset - h, is taken at every STEP of the flight; the
first change of its sign is bisected. The impulse is that of Eqs. 1-5 of Fu et al. in the axes of
the table, with the 2 x 2 mass matrix, and without noise.
"""

import numpy as np
from scipy.optimize import brentq

from ricochet.models.systems.batting.world import World

STEP = 2e-4  # s


def move(
    state: np.ndarray, kind: int, bat: tuple[float, float], duration: float, world: World
) -> tuple[np.ndarray, int]:
    """Return the state after a time under a turning bat, and how many impacts there were."""
    now, count, state = 0.0, 0, state.copy()
    while True:
        surface, free = _first_contact(state, kind, bat, now, duration - now, world)
        state = _flown(state, free, world)
        now += free
        if surface < 0 or count >= 50:
            return state, count
        state = _struck(state, kind, surface, (bat[0] + bat[1] * now, bat[1]), world)
        count += 1


def _flown(state: np.ndarray, time: float, world: World) -> np.ndarray:
    after = state.copy()
    after[:3] += state[3:] * time
    after[1] -= 0.5 * world.table.gravity * time**2
    after[4] -= world.table.gravity * time
    return after


def _normal_and_offset(
    surface: int, angle: np.ndarray | float, world: World
) -> tuple[np.ndarray, float]:
    """Normal into the table, and n . p of the points p of the surface."""
    zero = 0.0 * np.asarray(angle)
    if surface == 0:
        return np.stack([zero + 1.0, zero]), 0.0
    if surface == 1:
        return np.stack([zero - 1.0, zero]), -world.table.width
    if surface == 2:
        return np.stack([zero, zero - 1.0]), -world.table.height
    return np.stack([-np.sin(angle), np.cos(angle)]), 0.0


def _support(
    kind: int, direction: np.ndarray | float, world: World
) -> tuple[np.ndarray, np.ndarray]:
    """h and h' along directions of the body."""
    k = np.arange(world.shapes.cosines.shape[1])
    angles = np.multiply.outer(direction, k)
    a, b = world.shapes.cosines[kind], world.shapes.sines[kind]
    h = (a * np.cos(angles) + b * np.sin(angles)).sum(-1)
    return h, (k * (b * np.cos(angles) - a * np.sin(angles))).sum(-1)


def _first_contact(
    state: np.ndarray,
    kind: int,
    bat: tuple[float, float],
    now: float,
    left: float,
    world: World,
) -> tuple[int, float]:
    def gap(time: np.ndarray | float, surface: int) -> np.ndarray:
        time = np.asarray(time)
        x = state[0] + state[3] * time
        y = state[1] + state[4] * time - 0.5 * world.table.gravity * time**2
        normal, offset = _normal_and_offset(surface, bat[0] + bat[1] * (now + time), world)
        direction = np.arctan2(-normal[1], -normal[0]) - (state[2] + state[5] * time)
        return normal[0] * x + normal[1] * y - offset - _support(kind, direction, world)[0]

    times = np.append(np.arange(1e-7, left, STEP), left)
    first = (-1, left)
    for surface in range(4):
        inside = np.flatnonzero(gap(times, surface) < 0.0)
        if len(inside) == 0:
            continue
        i = inside[0]
        time = 0.0 if i == 0 else brentq(gap, times[i - 1], times[i], (surface,), xtol=1e-15)
        if time < first[1]:
            first = (surface, time)
    return first


def _struck(
    state: np.ndarray, kind: int, surface: int, bat: tuple[float, float], world: World
) -> np.ndarray:
    mass, law = world.table.mass, world.law
    inertia = mass * world.shapes.gyration_squared[kind]
    normal, _ = _normal_and_offset(surface, bat[0], world)
    direction = np.arctan2(-normal[1], -normal[0])
    h, slope = _support(kind, direction - state[2], world)
    u = np.array([np.cos(direction), np.sin(direction)])
    r = h * u + slope * np.array([-u[1], u[0]])
    contact = state[:2] + r
    surface_rate = bat[1] if surface == 3 else 0.0
    velocity = state[3:5] + state[5] * np.array([-r[1], r[0]])
    velocity = velocity - surface_rate * np.array([-contact[1], contact[0]])
    across = np.array([-r[1], r[0]])
    inverse = np.eye(2) / mass + np.outer(across, across) / inertia
    mass_matrix = np.linalg.inv(inverse)
    frictionless = -(normal @ velocity) / (normal @ inverse @ normal) * normal
    sticking = -mass_matrix @ velocity
    e, e_t, mu = law.restitution, law.tangential_restitution, law.friction
    impulse = (1.0 + e) * frictionless + (1.0 + e_t) * (sticking - frictionless)
    if np.linalg.norm(impulse - normal * (normal @ impulse)) > mu * (normal @ impulse):
        aside = np.linalg.norm(sticking - normal * (normal @ sticking))
        k = mu * (1.0 + e) * (normal @ frictionless)
        k /= aside - mu * (normal @ (sticking - frictionless))
        impulse = (1.0 + e) * frictionless + k * (sticking - frictionless)
    after = state.copy()
    after[3:5] += impulse / mass
    after[5] += (r[0] * impulse[1] - r[1] * impulse[0]) / inertia
    return after
