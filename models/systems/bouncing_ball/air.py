"""What air does to a ball: quadratic drag by its size, its mass and the density of the air.

    deceleration k v^2,    k = rho C A / (2 m)  (1/m),    A = pi d^2 / 4,    rho = p M / (R T)

Smooth and slightly rough spheres have C between 0.38 and 0.50 at the Reynolds numbers of bouncing
balls, 2e3 to 1e5 (Clift, Grace and Weber 1978, Bubbles, Drops and Particles, fig. 5.2; ping-pong
balls in flight 0.40 to 0.50, tennis balls 0.50 to 0.60: Mehta 1985, Annu. Rev. Fluid Mech. 17).
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY

GAS_CONSTANT = 8.314462618
"""J / (mol K), CODATA 2018."""
MOLAR_MASS = 0.0289652
"""Of dry air, kg / mol."""
PRESSURE = 101_325.0
"""Standard atmosphere, Pa; weather moves it by 2 %, 300 m of height by 4 %."""
ZERO_CELSIUS = 273.15
DRAG_COEFFICIENT, DRAG_COEFFICIENT_SD = 0.47, 0.06
"""Centre and standard deviation of C."""
LEAST_DRAG, MOST_DRAG = 1e-4, 0.3
"""1/m: a steel ball of half a metre, and a balloon of foam; any ball that bounces lies between."""


@dataclass(frozen=True)
class Size:
    """Diameter, m, and mass, kg, of a ball."""

    diameter: float
    mass: float

    def __post_init__(self) -> None:
        """Refuse a diameter or a mass that no ball has."""
        for name, value in (("diameter", self.diameter), ("mass", self.mass)):
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} must be positive, found {value}")


COMMON_BALLS = {
    "tennis": Size(0.0670, 0.0577),  # ITF rules: 65.4 to 68.6 mm, 56.0 to 59.4 g
    "ping-pong": Size(0.0400, 0.0027),  # ITTF laws: 40 mm, 2.7 g
    "golf": Size(0.04267, 0.0459),  # R&A and USGA: at least 42.67 mm, at most 45.93 g
    "squash": Size(0.0400, 0.0240),  # WSF: 39.5 to 40.5 mm, 23 to 25 g
    "basketball": Size(0.2420, 0.6000),  # FIBA size 7: girth 750 to 770 mm, 580 to 620 g
    "steel": Size(0.0250, 0.0642),  # a bearing's ball of 25 mm, 7850 kg/m^3
}
"""Sizes that the sports' rules fix; `object.diameter` and `object.mass` say another."""


BY_RULE = frozenset(COMMON_BALLS) - {"steel"}
"""Names of balls that have one size, or nearly."""
LIKE = 1.15, 1.3
"""Ratios of diameters and of masses up to which a ball may be of its name, as those of children."""


def unlike_its_name(name: str, size: Size) -> str | None:
    """Say that a ball is not of the size that its name says; None where it may be, or has no such.

    >>> unlike_its_name("Golf", Size(0.0213, 0.0459))
    'a golf ball has 42.7 mm and 45.9 g, stated are 21.3 mm and 45.9 g: are they right?'
    >>> unlike_its_name("golf", Size(0.0430, 0.0450)) is None
    True
    """
    name = name.lower()
    if name not in BY_RULE or _alike(known := COMMON_BALLS[name], size):
        return None
    has, said = (f"{1e3 * one.diameter:.3g} mm and {1e3 * one.mass:.3g} g" for one in (known, size))
    return f"a {name} ball has {has}, stated are {said}: are they right?"


def _alike(one: Size, other: Size) -> bool:
    pairs = ((one.diameter, other.diameter), (one.mass, other.mass))
    return all(max(a / b, b / a) <= most for (a, b), most in zip(pairs, LIKE, strict=True))


def density(temperature: float = 20.0) -> float:
    """Return the density of dry air at a temperature in degrees Celsius, kg/m^3.

    >>> round(density(20.0), 3)
    1.204
    """
    return PRESSURE * MOLAR_MASS / (GAS_CONSTANT * (temperature + ZERO_CELSIUS))


def drag(size: Size, temperature: float = 20.0, coefficient: float = DRAG_COEFFICIENT) -> float:
    """Return k, 1/m.

    >>> round(drag(COMMON_BALLS["ping-pong"]), 3)
    0.132
    """
    area = math.pi * size.diameter**2 / 4.0
    return density(temperature) * coefficient * area / (2.0 * size.mass)


def speed_after_fall(height: float, drag: float, gravity: float = GRAVITY) -> float:
    """Return the speed after a fall from rest, sqrt(g / k (1 - exp(-2 k h))), or sqrt(2 g h), m/s.

    >>> round(speed_after_fall(0.20, 0.0), 3), round(speed_after_fall(0.20, 0.132), 3)
    (1.981, 1.955)
    """
    if drag == 0.0:
        return math.sqrt(2.0 * gravity * height)
    return math.sqrt(-math.expm1(-2.0 * drag * height) * gravity / drag)


def speed_on_return(
    speed: Float[ndarray, "*batch"], drag: float, gravity: float = GRAVITY
) -> Float[ndarray, "*batch"]:
    """Return the speed at which a ball comes back that went straight up, u / sqrt(1 + k u^2 / g).

    >>> speed_on_return(np.array([1.0, 2.0]), 0.132).round(3)
    array([0.993, 1.948])
    """
    return speed / np.sqrt(1.0 + drag * speed**2 / gravity)


def terminal_speed(drag: float, gravity: float = GRAVITY) -> float:
    """Return the speed at which drag holds the weight, m/s.

    >>> round(terminal_speed(drag(COMMON_BALLS["ping-pong"])), 1)
    8.6
    """
    return math.sqrt(gravity / drag)
