"""Restitution by impact speed w, for arrays of numpy and of torch alike.

With e0 at the reference speed v0,

    constant        e(w) = e0                                        Matl et al., Sec. 3.2
    linear          e(w) = e0 - a (w - v0)
    viscoelastic    e(w) = E(b w^(1/5)),    b such that e(v0) = e0   Schwager and Poeschel 1998

where E is the compact expression of Mueller and Poeschel (2011, Phys. Rev. E 84, 021302),
s^2 = b w^(1/5):  E = (1 + c s) / (1 + c s + b2 s^2 + b3 s^3 + b4 s^4 + c s^5).

What bounce times alone tell needs numpy and no torch, so that these laws import neither.

>>> import numpy as np
>>> float(constant(np.array(0.8), np.array(0.0), np.array(3.0)))
0.8
"""

from collections.abc import Callable
from typing import Any

from ricochet.models.systems.bouncing_ball.viscoelastic_restitution import (
    DULLEST,
    HIGHEST,
    LEADING,
    LOWEST,
    REFERENCE_SPEED,
    SMOOTHEST,
    compact,
)

__all__ = ["HIGHEST", "LOWEST", "REFERENCE_SPEED", "constant", "linear", "viscoelastic"]

RestitutionLaw = Callable[[Any, Any, Any], Any]
"""Restitution by its value at the reference speed, a slope (s/m) and the impact's speed (m/s)."""


def constant(restitution: Any, slope: Any, speed: Any) -> Any:
    """Return the restitution itself, whatever the speed.

    >>> float(constant(np.array(0.8), np.array(0.0), np.array(3.0))).__round__(3)
    0.8
    """
    return restitution + 0.0 * speed


def linear(restitution: Any, slope: Any, speed: Any) -> Any:
    """Return e0 - a (v - v0), kept between `LOWEST` and `HIGHEST`.

    >>> float(linear(np.array(0.8), np.array(0.02), np.array(3.0))).__round__(3)
    0.78
    """
    return (restitution - slope * (speed - REFERENCE_SPEED)).clip(LOWEST, HIGHEST)


def viscoelastic(restitution: Any, slope: Any, speed: Any) -> Any:
    """Return the restitution of a viscoelastic sphere that has e0 at the reference speed.

    >>> at = np.array([0.02, 0.2, 2.0])
    >>> viscoelastic(np.array(0.8), np.array(0.0), at).round(3)
    array([0.919, 0.873, 0.8  ])
    """
    strength = _dissipation(restitution)
    return compact(strength * (speed.clip(min=1e-9) / REFERENCE_SPEED) ** 0.2)


def _dissipation(restitution: Any) -> Any:
    """Invert the compact expression by Newton's rule on log(1 - e), which is nearly straight."""
    value = ((1.0 - restitution) / LEADING).clip(SMOOTHEST, DULLEST)
    for _ in range(12):
        found = compact(value)
        slope = (compact(value * 1.0001) - found) / (1e-4 * value)
        value = (value - (found - restitution) / slope).clip(SMOOTHEST, DULLEST)
    return value
