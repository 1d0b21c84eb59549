"""Steps of particles a second on one core, beside a simulation with fixed steps in numpy.

Run by `python -m benchmarks.batting.particles [--particles N] [--seconds S]`.

Particles anywhere on the table move by one period of the camera, 0.05 s, under a bat that turns;
`move and weigh` is a step of the filter. `numpy` is what a user would write: all particles at once,
in steps of 5 ms, with the same shapes, camera and law of impact for those that have sunk into a
wall or the bat. It places impacts within 5 ms; ours are exact.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.belief import first_flight, particles
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.table import CAMERA_PERIOD
from ricochet.models.systems.batting.world import World, paper_world

STEPS = 10  # of a period, in numpy
TARGET = 5e6  # particle-steps a second of `clouds.move`
TURN = (-0.1, 0.2)  # the bat in even periods; in odd ones it turns back


@dataclass(frozen=True)
class Rate:
    """Particle-steps a second of processor time."""

    name: str
    ours: float
    numpy: float


def moving(cloud: Cloud, world: World) -> Callable[[], None]:
    """Return a call that moves all particles by a period."""
    counts, bat = np.zeros((len(cloud.kinds), 3), np.int64), _turns()

    def run() -> None:
        clouds.move(cloud.states, cloud.kinds, next(bat), CAMERA_PERIOD, world, counts)

    return run


def filtering(cloud: Cloud, world: World) -> Callable[[], None]:
    """Return a call that moves all particles by a period and weighs them by a reading."""
    draw, bat, reading = np.random.default_rng(2), _turns(), np.array([-0.1, 0.05])

    def run() -> None:
        angle, rate = next(bat)
        particles.step(cloud, Turn(angle, rate, CAMERA_PERIOD), reading, world, draw)

    return run


def fixed_steps(cloud: Cloud, world: World) -> Callable[[], None]:
    """Return a call that moves all particles by a period in short steps of numpy."""
    draw, bat = np.random.default_rng(3), _turns()

    def run() -> None:
        angle, rate = next(bat)
        for step in range(STEPS):
            time = CAMERA_PERIOD / STEPS
            now = angle + rate * step * time
            _numpy_step(cloud.states, cloud.kinds, (now, rate), time, world, draw)

    return run


def fixed_steps_weighed(cloud: Cloud, world: World) -> Callable[[], None]:
    """Return a call that moves all particles by a period and weighs them, in numpy."""
    move, reading = fixed_steps(cloud, world), np.array([-0.1, 0.05])

    def run() -> None:
        move()
        ends = numpy_readings(cloud.states, cloud.kinds, world)
        misfit = ((ends - reading) ** 2).sum(1)
        cloud.log_weights[:] -= 0.5 * misfit / world.table.screen_noise**2

    return run


def numpy_readings(
    states: Float[ndarray, "particle 6"], kinds: Int[ndarray, " particle"], world: World
) -> Float[ndarray, "particle 2"]:
    """Return what the camera sees of all objects, m on the screen."""
    table, (a, b) = world.table, _series(world, kinds)
    d_x, d_y, k = (
        states[:, 0] - table.camera_x,
        states[:, 1] - table.camera_y,
        np.arange(a.shape[1]),
    )
    ends = np.empty((len(kinds), 2))
    for column, side in enumerate((-1.0, 1.0)):
        tilt = 0.5 * np.pi + np.arcsin(a[:, 0] / np.hypot(d_x, d_y))
        alpha = np.arctan2(d_y, d_x) + side * tilt
        for last in (False, True):
            turned = np.multiply.outer(alpha - states[:, 2], k)
            c, s = np.cos(turned), np.sin(turned)
            h, slope = (a * c + b * s).sum(1), (k * (b * c - a * s)).sum(1)
            c, s = np.cos(alpha), np.sin(alpha)
            if not last:
                alpha = alpha - (c * d_x + s * d_y + h) / (c * d_y - s * d_x + slope)
        ends[:, column] = (d_y + h * s + slope * c) / (d_x + h * c - slope * s)
    return table.focal_length * ends


def _turns() -> Iterator[tuple[float, float]]:
    while True:
        yield TURN
        yield TURN[0] + TURN[1] * CAMERA_PERIOD, -TURN[1]


def _numpy_step(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    bat: tuple[float, float],
    time: float,
    world: World,
    draw: np.random.Generator,
) -> None:
    table = world.table
    states[:, :3] += states[:, 3:] * time
    states[:, 1] -= 0.5 * table.gravity * time**2
    states[:, 4] -= table.gravity * time
    x, y = states[:, 0].copy(), states[:, 1].copy()
    angle = bat[0] + bat[1] * time
    across = y * np.cos(angle) - x * np.sin(angle)
    walls = (
        (np.pi, 0.0, x),
        (0.0, 0.0, table.width - x),
        (0.5 * np.pi, 0.0, table.height - y),
        (angle - 0.5 * np.pi, bat[1], across),
    )
    for direction, turning, clear in walls:
        near = np.flatnonzero(clear < world.shapes.radius[kinds])
        if len(near):
            _numpy_impacts(states, kinds, near, (direction, turning), clear[near], world, draw)


def _numpy_impacts(
    states: Float[ndarray, "particle 6"],
    kinds: Int[ndarray, " particle"],
    near: Int[ndarray, " near"],
    facing: tuple[float, float],
    clear: Float[ndarray, " near"],
    world: World,
    draw: np.random.Generator,
) -> None:
    """Change the velocities of those near a surface that touch it and approach it (Eqs. 1-6)."""
    direction, turning = facing
    k = np.arange(world.shapes.cosines.shape[1])
    turned = np.multiply.outer(direction - states[near, 2], k)
    c, s, a, b = np.cos(turned), np.sin(turned), *_series(world, kinds[near])
    h, slope = (a * c + b * s).sum(1), (k * (b * c - a * s)).sum(1)
    n_x, n_y = -np.cos(direction), -np.sin(direction)
    r_n, r_t, state = -h, -slope, states[near]
    v_n = state[:, 3] * n_x + state[:, 4] * n_y - state[:, 5] * r_t
    v_t = state[:, 4] * n_x - state[:, 3] * n_y + state[:, 5] * r_n
    v_n += turning * (state[:, 1] * n_x - state[:, 0] * n_y + r_t)
    v_t -= turning * (state[:, 0] * n_x + state[:, 1] * n_y + r_n)
    hit = (clear < h) & (v_n < 0.0)
    r_n, r_t, v_n, v_t, rows = r_n[hit], r_t[hit], v_n[hit], v_t[hit], near[hit]
    mass, law = world.table.mass, world.law
    inertia = mass * world.shapes.gyration_squared[kinds[rows]]
    m_n, m_nt = 1.0 / mass + r_t**2 / inertia, -r_n * r_t / inertia
    m_t = 1.0 / mass + r_n**2 / inertia
    plastic, determinant = -v_n / m_n, m_n * m_t - m_nt**2
    stick_n = -(m_t * v_n - m_nt * v_t) / determinant
    stick_t = -(m_n * v_t - m_nt * v_n) / determinant
    k_t = np.full(len(rows), 1.0 + law.tangential_restitution)
    normal = (1.0 + law.restitution) * plastic + k_t * (stick_n - plastic)
    cone = law.friction * (1.0 + law.restitution) * plastic
    cone /= np.abs(stick_t) - law.friction * (stick_n - plastic)
    k_t = np.where(k_t * np.abs(stick_t) > law.friction * normal, cone, k_t)
    normal = (1.0 + law.restitution) * plastic + k_t * (stick_n - plastic)
    noise = law.impulse_noise * draw.standard_normal((2, len(rows)))
    normal, tangential = normal + noise[0], k_t * stick_t + noise[1]
    states[rows, 3] += (normal * n_x - tangential * n_y) / mass
    states[rows, 4] += (normal * n_y + tangential * n_x) / mass
    states[rows, 5] += (r_n * tangential - r_t * normal) / inertia


def _series(
    world: World, kinds: Int[ndarray, " near"]
) -> tuple[Float[ndarray, "near harmonic"], Float[ndarray, "near harmonic"]]:
    return world.shapes.cosines[kinds], world.shapes.sines[kinds]


METHODS = {
    "move": (moving, fixed_steps),
    "move and weigh": (filtering, fixed_steps_weighed),
}


def measured(count: int, seconds: float) -> list[Rate]:
    """Time both ways of each, on particles of the same start."""
    found = []
    for name, methods in METHODS.items():
        found.append(Rate(name, *(_rate(method, count, seconds) for method in methods)))
    return found


def _rate(
    method: Callable[[Cloud, World], Callable[[], None]], count: int, seconds: float
) -> float:
    """Return particle-steps a second, after one step that is not timed."""
    draw = np.random.default_rng(1)
    world = paper_world(draw)
    run = method(first_flight.uniform(count, TURN[0], world, draw), world)
    run()
    begun, done = time.process_time(), 0
    while (spent := time.process_time() - begun) < seconds:
        run()
        done += count
    return done / spent


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args(arguments)
    rates = measured(given.particles, given.seconds)
    print("steps of 0.05 s    ours, 1/s   numpy, 1/s   ratio")
    for each in rates:
        print(
            f"{each.name:14}{each.ours:>14,.0f}{each.numpy:>13,.0f}{each.ours / each.numpy:>8.1f}"
        )
    verdict = "met" if rates[0].ours >= TARGET else "MISSED"
    print(f"target {TARGET:,.0f} of move: {verdict}")


if __name__ == "__main__":
    main()
