"""The flight of a ball between two contacts with a plane, through air that drags.

    v' = (a_x, a_y, -g) - k |v| v,    z along the plane's normal

a is what gravity pulls along a tilted plane, k the drag (`air`). Along the normal alone rise and
fall have closed forms; with w the speed at the start and h its height,

    H = h + log(1 + k w^2 / g) / (2 k)                                  height of the apex
    t_up = atan(w sqrt(k / g)) / sqrt(k g),    t_down = arsinh(sqrt(exp(2 k H) - 1)) / sqrt(k g).

They set the steps of Runge and Kutta's rule of fourth order, a few up and a few down, which carries
the motion along the plane and its coupling; one more step meets the plane. The error is about
1e-5 of the flight's time and speeds, or less, for k up to 0.2 1/m and flights of up to 1.5 m.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY

_STEPS = 4
_CORRECTIONS = 3  # to meet a plane: each squares the error, at first some percent of the time
_LEAST_DRAG = 1e-9  # 1/m, where the closed forms are still accurate: no air
_TINY = 1e-300

State = tuple[Tensor, ...]  # x, y, z and their rates
Force = tuple[float | Tensor, float | Tensor, float | Tensor, Tensor]  # a_x, a_y, -g, k


@dataclass(frozen=True)
class Flight:
    """From one contact to the next.

    Attributes:
        duration: s.
        displacement: Along the plane, m.
        impact: Velocity on arrival, m/s; the third component is along the normal, negative.
    """

    duration: Float[Tensor, "*batch"]
    displacement: Float[Tensor, "*batch 2"]
    impact: Float[Tensor, "*batch 3"]


def fly(
    velocity: Float[Tensor, "*batch 3"],
    *,
    height: Float[Tensor, "*#batch"] | float = 0.0,
    drag: Float[Tensor, "*#batch"],
    pull: tuple[float | Tensor, float | Tensor] = (0.0, 0.0),
    gravity: float | Tensor = GRAVITY,
) -> Flight:
    """Follow balls until they meet the plane.

    Args:
        velocity: At the start, m/s, the third component along the normal and not negative; at
            height 0 it must be positive.
        height: Of the start above the plane, m.
        drag: k, 1/m; zero is no air.
        pull: Gravity's components along the plane, m/s^2.
        gravity: Its component into the plane, m/s^2.
    """
    x, y, w = velocity.unbind(-1)
    k = drag.clamp(min=_LEAST_DRAG)
    rate = torch.sqrt(k * gravity)
    up = torch.atan(w * torch.sqrt(k / gravity)) / rate
    apex = height + 0.5 * torch.log1p(k * w * w / gravity) / k
    down = torch.asinh(torch.sqrt(torch.expm1(2.0 * k * apex))) / rate
    force = (pull[0], pull[1], -gravity, k)
    zero = torch.zeros_like(x)
    state: State = (zero, zero, zero + height, x, y, w)
    for span in (up, down):
        for _ in range(_STEPS):
            state = _step(state, span / _STEPS, force)
    rest = _fall(state, force)
    state = _step(state, rest, force)
    last = -state[2] / state[5]
    state = _step(state, last, force)
    return Flight(
        up + down + rest + last,
        torch.stack((state[0], state[1]), -1),
        torch.stack(state[3:], -1),
    )


def meet(
    velocity: Float[Tensor, "*batch 3"],
    distance: Float[Tensor, "*batch"],
    *,
    drag: Float[Tensor, "*#batch"],
    gravity: float = GRAVITY,
) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch 3"]]:
    """Return when a ball has gone a distance along x, s, and where it then is, m.

    Newton's rule on the time, each step of which follows the flight from its start.

    Args:
        velocity: At the start, m/s; the first component is not zero.
        distance: Along x, m, of the sign of that component.
    """
    zero = torch.zeros_like(distance)
    start: State = (zero, zero, zero, *velocity.unbind(-1))
    force = (0.0, 0.0, -gravity, drag)
    time = distance / velocity[..., 0]
    state = start
    for _ in range(_CORRECTIONS):
        state = start
        for _ in range(2 * _STEPS):
            state = _step(state, time / (2 * _STEPS), force)
        off = (distance - state[0]) / state[3]
        time = time + off
    state = _step(state, off, force)
    return time, torch.stack(state[:3], -1)


def after(
    velocity: Float[Tensor, "*batch 3"],
    time: Float[Tensor, "*batch"],
    *,
    drag: Float[Tensor, "*#batch"],
    gravity: float = GRAVITY,
) -> tuple[Float[Tensor, "*batch 3"], Float[Tensor, "*batch 3"]]:
    """Return how far balls are, m, and how fast, m/s, after a time, s, of any sign: two steps."""
    zero = torch.zeros_like(time)
    state: State = (zero, zero, zero, *velocity.unbind(-1))
    for _ in range(2):
        state = _step(state, 0.5 * time, (0.0, 0.0, -gravity, drag))
    return torch.stack(state[:3], -1), torch.stack(state[3:], -1)


def _acceleration(rates: State, force: Force) -> State:
    u, v, w = rates
    lost = force[3] * torch.sqrt(u * u + v * v + w * w + _TINY)
    return force[0] - lost * u, force[1] - lost * v, force[2] - lost * w


def _step(state: State, time: Tensor, force: Force) -> State:
    """Advance by Runge and Kutta's rule, written for x'' = f(x')."""
    places, rates = state[:3], state[3:]
    half = 0.5 * time
    first = _acceleration(rates, force)
    second = _acceleration(_moved(rates, first, half), force)
    third = _acceleration(_moved(rates, second, half), force)
    fourth = _acceleration(_moved(rates, third, time), force)
    middle = [b + c for b, c in zip(second, third, strict=True)]
    place = [
        x + time * (v + time / 6.0 * (a + m))
        for x, v, a, m in zip(places, rates, first, middle, strict=True)
    ]
    rate = [
        v + time / 6.0 * (a + 2.0 * m + d)
        for v, a, m, d in zip(rates, first, middle, fourth, strict=True)
    ]
    return (*place, *rate)


def _moved(rates: State, accelerations: State, time: Tensor) -> State:
    return tuple(v + time * a for v, a in zip(rates, accelerations, strict=True))


def _fall(state: State, force: Force) -> Tensor:
    """Return the time, small and of any sign, after which the height is zero, to second order."""
    height, speed = state[2], state[5]
    acceleration = _acceleration(state[3:], force)[2]
    time = -height / speed
    for _ in range(2):
        value = height + time * (speed + 0.5 * acceleration * time)
        time = time - value / (speed + acceleration * time)
    return time
