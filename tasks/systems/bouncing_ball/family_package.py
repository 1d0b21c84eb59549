"""What a package of kind `family` holds beside the grid, evaluated; numpy is enough.

Each draw has a restitution e0 at the reference speed v0 and, at the speed v,

    linear          e(v) = e0 - a (v - v0), constant where the slope a is zero
    viscoelastic    e(v) = E(b v^(1/5)),    b such that e(v0) = e0

with E of Mueller and Poeschel (2011), as `models.systems.bouncing_ball.contact` has them. Which
arrays there are, and how they become a `ContactDraws`, is in `contact_package`.
"""

import numpy as np
from numpy.typing import NDArray

from ricochet.tasks.registry.packages import Arrays

REFERENCE_SPEED = 2.0
"""m/s."""
LOWEST, HIGHEST = 0.01, 1.0
"""Restitutions that the linear law keeps between."""
SPEEDS = np.array([0.5, 1.0, 2.0, 4.0])
"""At which restitution is a part of the self-test, m/s."""
QUANTILES = np.array([0.05, 0.5, 0.95])
_OTHERS = ("concentration", "tangential_loss", "tail_share", "tail_ratio", "scatter", "drag")
_C, _B2, _B3, _B4 = 0.501086, 1.15345, 0.577977, 0.532178
_SMOOTHEST, _DULLEST = 1e-6, 4.0
_HALVINGS = 50


def family_outputs(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Return quantiles of restitution at the inputs' speeds, and of every column of the draws.

    Nothing where the package has no draws of a contact.
    """
    if not any(name.startswith("contact.") for name in arrays):
        return {}
    found = {name: np.quantile(arrays[f"contact.{name}"], QUANTILES) for name in _OTHERS}
    rows = np.quantile(restitution(arrays, inputs["speed"]), QUANTILES, axis=-1)
    return found | {"restitution": rows}


def restitution(arrays: Arrays, speed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return restitution at impact speeds, m/s: shape (speed, draw)."""
    level, slope = arrays["contact.restitution"], arrays["contact.slope"]
    speed = np.atleast_1d(speed)[:, None]
    straight = np.clip(level - slope * (speed - REFERENCE_SPEED), LOWEST, HIGHEST)
    curved = _compact(_dissipation(level) * (speed / REFERENCE_SPEED) ** 0.2)
    found: NDArray[np.float64] = np.where(arrays["contact.viscoelastic"] > 0, curved, straight)
    return found


def _compact(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    s = np.sqrt(squared)
    lost: NDArray[np.float64] = squared * (_B2 + s * (_B3 + s * (_B4 + s * _C)))
    return (1.0 + _C * s) / (1.0 + _C * s + lost)


def _dissipation(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Invert the compact expression, which falls everywhere, by halving a logarithm."""
    low = np.full_like(level, np.log(_SMOOTHEST))
    high = np.full_like(level, np.log(_DULLEST))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = _compact(np.exp(middle)) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.exp(0.5 * (low + high))
