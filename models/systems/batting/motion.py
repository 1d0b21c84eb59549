"""Flight and impacts of one object, from event to event.

Between impacts the centre of mass flies on a parabola and the object turns evenly. Its gap to a
surface with normal n, in direction alpha as seen from the object (n = -u(alpha)), is

    g(t) = n . c(t) - offset - h(alpha(t) - phi(t))

with h the support function. Since g'' is bounded below by L, g(t) >= g + g' t + L t^2 / 2: the
object cannot touch before that parabola's root. Advancing to the root, again and again, converges
to the instant of contact quadratically and never beyond it. The law of impact is Eqs. 1-6 of Fu et
al. (`impact_law`).

Two cases would take infinitely many impacts: an object that comes to rest, and one that is jammed,
where the bat closes the corner under the right wall on it and friction lets it slide along neither
(at a bat below -0.23 rad and mu 0.8). After MOST_IMPACTS in one call, further ones are plastic,
without friction and noise. After an impact an object may sink by LEAST_SINK before the next, and by
MOST_SINK after RESTING impacts in one call: one that lies in a corner meets tens of them each time.
"""

import math
from typing import NamedTuple

from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.impact_law import Contact, inverse_mass, noisy_impulse
from ricochet.models.systems.batting.support_functions import evaluate
from ricochet.models.systems.batting.table import Table
from ricochet.models.systems.batting.world import World

TOUCHING = 1e-9  # m, gap at which an approaching object is said to touch
CLOSING = -1e-9  # m/s, rate of a gap below which it is said to close
LEAST_SINK, MOST_SINK = 1e-8, 5e-7  # m
MOST_IMPACTS = 20  # in one call, as by the law
RESTING = 500  # in one call; a disc at rest on a level bat meets 354 in 0.05 s
MOST_EVENTS = 100_000  # in one call; 0.05 s of rest take about 400
BAT = 3  # the surfaces are 0 left wall, 1 right wall, 2 upper wall, 3 bat


class Touch(NamedTuple):
    """Where an object touches a surface.

    Attributes:
        surface: Which.
        n_x, n_y: The surface's normal; the tangent is (-n_y, n_x).
        contact: In the axes normal and tangent.
    """

    surface: int
    n_x: float
    n_y: float
    contact: Contact


@compiled
def advance(
    state: Float[ndarray, " 6"],
    kind: int,
    bat: tuple[float, float],
    duration: float,
    world: World,
    counts: Int[ndarray, " 3"],
    stop_at_bat: bool,
) -> tuple[float, float]:
    """Move an object in place for a time, or until after its first impact with the bat.

    Args:
        state: x, y, angle, and their rates, of the centre of mass, SI.
        kind: Which shape.
        bat: Angle and rate of the bat; the rate is kept throughout.
        duration: In seconds.
        world: What is simulated.
        counts: Place of the next row of the world's noise, impacts so far, those with the bat;
            updated.
        stop_at_bat: End after the first impact with the bat.

    Returns:
        The time that passed and the least squared distance from the goal, m^2.
    """
    until = (stop_at_bat, MOST_EVENTS)
    passed, closest, events = advance_within(state, kind, bat, duration, world, counts, until)
    return (duration if events == MOST_EVENTS else passed), closest


@compiled
def advance_within(
    state: Float[ndarray, " 6"],
    kind: int,
    bat: tuple[float, float],
    duration: float,
    world: World,
    counts: Int[ndarray, " 3"],
    until: tuple[bool, int],
) -> tuple[float, float, int]:
    """Move an object as `advance` does, by a number of events; flight far from all takes none.

    Args:
        until: Whether to end after the first impact with the bat, and the most events.

    Returns:
        As `advance`, where the events do not suffice a time that is shorter; and the events.
    """
    stop_at_bat, most = until
    if far_from_all(state, kind, bat, duration, world):
        return duration, fly(state, duration, world.table), 0
    angle, rate = bat
    left, closest = duration, 1e300
    by_law, resting = counts[1] + MOST_IMPACTS, counts[1] + RESTING
    for event in range(most):
        sink = LEAST_SINK if counts[1] < resting else MOST_SINK
        surface, free = next_event(state, kind, (angle, rate), left, world, sink)
        if surface >= 0:
            touched = touch(state, kind, surface, (angle, rate), world)
            strike(state, touched, world, counts, by_law)
            if stop_at_bat and surface == BAT:
                return duration - left, closest, event + 1
            continue
        closest = min(closest, fly(state, free, world.table))
        angle += rate * free
        left -= free
        if left <= 0.0:
            return duration, closest, event + 1
    return duration - left, closest, most


@compiled
def far_from_all(
    state: Float[ndarray, " 6"],
    kind: int,
    bat: tuple[float, float],
    duration: float,
    world: World,
) -> bool:
    """Return whether an object reaches no surface, by bounds that need no trigonometry.

    For y > 0 and |theta| <= pi / 6 the distance from the bat is at least 0.866 y - x max(theta, 0).
    """
    x, y, vx, vy = state[0], state[1], state[3], state[4]
    table, radius = world.table, world.shapes.radius[kind]
    to_x, end_y = x + vx * duration, y + (vy - table.gravity * duration) * duration
    top = y + max(vy, 0.0) * duration
    if min(x, to_x) < radius or max(x, to_x) > table.width - radius or top > table.height - radius:
        return False
    angle = max(bat[0], bat[0] + bat[1] * duration, 0.0)
    low = min(y, end_y)
    return low > 0.0 and 0.866 * low - max(x, to_x) * angle > radius


@compiled
def next_event(
    state: Float[ndarray, " 6"],
    kind: int,
    bat: tuple[float, float],
    left: float,
    world: World,
    sink: float,
) -> tuple[int, float]:
    """Return the surface that is struck now, or -1 and a time that is free of impacts.

    In that time an object that touches a surface sinks into it by `sink`, m, at most.
    """
    radius, free = world.shapes.radius[kind], left
    for surface in range(4):
        clear, reach = clearance(state, surface, bat, left, world)
        if clear > radius + reach:
            continue
        gap, closing, bound = approach(state, kind, surface, bat, left, world)
        if gap <= TOUCHING:
            if closing < CLOSING:
                return surface, 0.0
            hop = math.sqrt(2.0 * sink / -bound)
            free = min(free, max(hop, 2.0 * closing / -bound))
        else:
            root = math.sqrt(closing * closing - 2.0 * bound * gap)
            if closing < 0.0:
                free = min(free, 2.0 * gap / (root - closing))
            else:
                free = min(free, (root + closing) / -bound)
    return -1, free


@compiled
def clearance(
    state: Float[ndarray, " 6"], surface: int, bat: tuple[float, float], left: float, world: World
) -> tuple[float, float]:
    """Return the distance of the centre from a surface and a bound of its decrease."""
    x, y, vx, vy, table = state[0], state[1], state[3], state[4], world.table
    fall = 0.5 * table.gravity * left * left
    if surface == 0:
        return x, max(-vx, 0.0) * left
    if surface == 1:
        return table.width - x, max(vx, 0.0) * left
    if surface == 2:
        return table.height - y, max(vy, 0.0) * left
    angle, rate = bat
    most = math.sqrt(vx * vx + vy * vy) + table.gravity * left
    swing = abs(rate) * (math.sqrt(x * x + y * y) + most * left)
    return y * math.cos(angle) - x * math.sin(angle), (most + swing) * left + fall


@compiled
def approach(
    state: Float[ndarray, " 6"],
    kind: int,
    surface: int,
    bat: tuple[float, float],
    left: float,
    world: World,
) -> tuple[float, float, float]:
    """Return the gap to a surface, its rate, and a bound below of its second derivative."""
    x, y, vx, vy, table = state[0], state[1], state[3], state[4], world.table
    direction, turning = facing(surface, bat)
    h, slope = evaluate(world.shapes.cosines[kind], world.shapes.sines[kind], direction - state[2])
    turn = turning - state[5]
    bound = -table.gravity - world.shapes.bend[kind] * turn * turn
    if surface == 0:
        return x - h, vx - slope * turn, bound
    if surface == 1:
        return table.width - x - h, -vx - slope * turn, bound
    if surface == 2:
        return table.height - y - h, -vy - slope * turn, bound
    angle, rate = bat
    c, s = math.cos(angle), math.sin(angle)
    along, across = x * c + y * s, y * c - x * s
    most = math.sqrt(vx * vx + vy * vy) + table.gravity * left
    far = math.sqrt(x * x + y * y) + most * left
    bound -= rate * rate * far + 2.0 * abs(rate) * most
    return across - h, vy * c - vx * s - rate * along - slope * turn, bound


@compiled
def facing(surface: int, bat: tuple[float, float]) -> tuple[float, float]:
    """Return the direction from the object to a surface, rad, and its rate."""
    if surface == BAT:
        return bat[0] - 0.5 * math.pi, bat[1]
    if surface == 0:
        return math.pi, 0.0
    return (0.0 if surface == 1 else 0.5 * math.pi), 0.0


@compiled
def touch(
    state: Float[ndarray, " 6"], kind: int, surface: int, bat: tuple[float, float], world: World
) -> Touch:
    """Return the contact of an object with a surface, off which it is taken where it has sunk."""
    direction, turning = facing(surface, bat)
    h, slope = evaluate(world.shapes.cosines[kind], world.shapes.sines[kind], direction - state[2])
    lift(state, surface, h, bat, world)
    n_x, n_y = -math.cos(direction), -math.sin(direction)
    r_n, r_t = -h, -slope
    # The bat's surface turns about the origin.
    p_n = state[0] * n_x + state[1] * n_y + r_n
    p_t = state[1] * n_x - state[0] * n_y + r_t
    v_n = state[3] * n_x + state[4] * n_y - state[5] * r_t + turning * p_t
    v_t = state[4] * n_x - state[3] * n_y + state[5] * r_n - turning * p_n
    mass = world.table.mass
    inertia = mass * world.shapes.gyration_squared[kind]
    return Touch(surface, n_x, n_y, Contact(mass, inertia, r_n, r_t, v_n, v_t))


@compiled
def strike(
    state: Float[ndarray, " 6"],
    touched: Touch,
    world: World,
    counts: Int[ndarray, " 3"],
    by_law: int,
) -> None:
    """Change the velocities of an object that touches a surface by an impact (Eqs. 1-6).

    From impact number `by_law` on it is plastic, without friction and noise.
    """
    contact, n_x, n_y = touched.contact, touched.n_x, touched.n_y
    row = counts[0] % world.noise.shape[0]
    if counts[1] < by_law:
        z_n, z_t = world.noise[row, 0], world.noise[row, 1]
        normal, tangential = noisy_impulse(world.law, contact, z_n, z_t)
    else:
        normal, tangential = -contact.v_n / inverse_mass(contact)[0], 0.0
    state[3] += (normal * n_x - tangential * n_y) / contact.mass
    state[4] += (normal * n_y + tangential * n_x) / contact.mass
    state[5] += (contact.r_n * tangential - contact.r_t * normal) / contact.inertia
    counts[0] += 1
    counts[1] += 1
    if touched.surface == BAT:
        counts[2] += 1


@compiled
def lift(
    state: Float[ndarray, " 6"], surface: int, h: float, bat: tuple[float, float], world: World
) -> None:
    """Take an object off a surface into which it has sunk during a hop."""
    clear, _ = clearance(state, surface, bat, 0.0, world)
    depth = h - clear
    if depth > 0.0:
        direction, _ = facing(surface, bat)
        state[0] -= depth * math.cos(direction)
        state[1] -= depth * math.sin(direction)


@compiled
def fly(state: Float[ndarray, " 6"], time: float, table: Table) -> float:
    """Move an object without impacts; return its least squared distance from the goal.

    The least distance is that of the chord, from which the parabola is at most g t^2 / 8 away.
    """
    x, y = state[0] - table.goal_x, state[1] - table.goal_y
    dx = state[3] * time
    dy = (state[4] - 0.5 * table.gravity * time) * time
    state[0] += dx
    state[1] += dy
    state[2] += state[5] * time
    state[4] -= table.gravity * time
    length = dx * dx + dy * dy
    share = 0.0
    if length > 0.0:
        share = min(1.0, max(0.0, -(x * dx + y * dy) / length))
    return (x + share * dx) ** 2 + (y + share * dy) ** 2
