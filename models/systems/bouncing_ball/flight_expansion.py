r"""Flights through air to first order in the drag: what is fast enough while a ball is in the air.

A flight that leaves a level plane with vertical speed w and horizontal speed u, q^2 = u^2 + w^2,
loses by the drag k of `flight` to first order

    M = (w q + u^2 arsinh(w / u)) / 2           = w times the mean of |v| over the flight
    B = k M / g,      A = k / (4 g) (q^3 / w - u^2 M / w^2)

    T  = (2 w / g) exp(-A)      w' = w exp(-2 A)          time, vertical speed on arrival
    d  = u T exp(-B)            u' = u exp(-2 B)          distance, horizontal speed on arrival

since -k times the integrals of |v| u and |v| w over a parabola are closed forms. Read backwards, a
flight of time T over a distance d, with A and B at w = g T / 2 and u = d / T, began and ended with

    w = g T / 2 exp(A),   u = d / T exp(B),    w' = g T / 2 exp(-A),   u' = d / T exp(-B).

Forward, A and B are taken a second time at w exp(-A) and u exp(-B), which are g T / 2 and d / T.

After the share f of its distance a flight has taken the share h of its time and is z high,

    h = f (1 - B (1 - f)),     z = g T^2 / 2 h (1 - h) (1 + A (1 - 2 h)),

the cubic with the flight's slopes at both ends. Against `flight`, with the drag of a ping-pong ball
and starts of up to 2.5 m/s upward and 1.2 m/s along, which last 0.5 s, times are good to 0.05 %,
speeds to 0.001 m/s and places to 0.5 mm; errors fall with the square of the drag. Within a flight
the mean of |v| stands for |v|, which is at most k w T^2 / 48 in h T: 1.7 ms, or 2 mm of z. Losses
are at most a half: what would lose more, a wrong detection that makes a ball of 100 m/s, is no
flight of first order.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY

_TINY = 1e-12
_MOST = 0.5


@dataclass(frozen=True)
class Losses:
    """A and B of flights, without a unit; zero without air."""

    vertical: Float[ndarray, "*batch"]
    horizontal: Float[ndarray, "*batch"]


def losses(
    rise: Float[ndarray, "*#batch"],
    run: Float[ndarray, "*#batch"],
    drag: Float[ndarray, "*#batch"],
) -> Losses:
    """Return the losses of flights that start with vertical and horizontal speeds, m/s, both >= 0.

    >>> found = losses(np.array(2.0), np.array(0.0), np.array(1e-3))
    >>> bool(np.isclose(found.vertical, 1e-3 * 2.0**2 / (4.0 * GRAVITY), rtol=1e-3))
    True
    """
    first = _losses(rise, run, drag)
    return _losses(rise * np.exp(-first.vertical), run * np.exp(-first.horizontal), drag)


def losses_between(
    time: Float[ndarray, "*#batch"],
    distance: Float[ndarray, "*#batch"],
    drag: Float[ndarray, "*#batch"],
) -> Losses:
    """Return the losses of flights of given times, s, and distances, m."""
    return _losses(0.5 * GRAVITY * time, distance / time, drag)


def height(
    time: Float[ndarray, "*#batch"], share: Float[ndarray, "*#batch"], lost: Losses
) -> tuple[Float[ndarray, "*batch"], Float[ndarray, "*batch"]]:
    """Return when a flight of a time, s, has gone a share of its distance, s, and its height, m."""
    part = share * (1.0 - lost.horizontal * (1.0 - share))
    tall = 0.5 * GRAVITY * time**2 * part * (1.0 - part)
    return part * time, tall * (1.0 + lost.vertical * (1.0 - 2.0 * part))


def _losses(rise: ndarray, run: ndarray, drag: ndarray) -> Losses:
    """Evaluate A and B at speeds."""
    w, u = np.maximum(rise, _TINY), np.maximum(run, _TINY)
    square = u * u
    speed = np.sqrt(square + w * w)
    mean = 0.5 * (w * speed + square * np.arcsinh(w / u))
    share = drag / GRAVITY
    vertical = 0.25 * share * (speed**3 - square * mean / w) / w
    return Losses(np.minimum(vertical, _MOST), np.minimum(share * mean, _MOST))
