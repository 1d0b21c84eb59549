"""What a package of kind `family` holds beside the grid, evaluated; numpy is enough.

Each draw has a restitution e0 at the reference speed v0 and, at the speed v,

    linear          e(v) = e0 - a (v - v0), constant where the slope a is zero
    viscoelastic    e(v) = E(b v^(1/5)),    b such that e(v0) = e0

with E of Mueller and Poeschel (2011), as `models.systems.bouncing_ball.contact` has them. Which
arrays there are, and how they become a `ContactDraws`, is in `contact_package`.
"""

import numpy as np
from numpy.typing import NDArray

from ricochet.models.systems.bouncing_ball.viscoelastic_restitution import (
    DULLEST,
    HIGHEST,
    LOWEST,
    REFERENCE_SPEED,
    SMOOTHEST,
    compact,
)
from ricochet.tasks.registry.packages import Arrays

FAMILY = "family"
"""The kind's name."""
SPEEDS = np.array([0.5, 1.0, 2.0, 4.0])
"""At which restitution is a part of the self-test, m/s."""
QUANTILES = np.array([0.05, 0.5, 0.95])
_OTHERS = ("concentration", "tangential_loss", "tail_share", "tail_ratio", "scatter", "drag")
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
    curved = compact(_dissipation(level) * (speed / REFERENCE_SPEED) ** 0.2)
    found: NDArray[np.float64] = np.where(arrays["contact.viscoelastic"] > 0, curved, straight)
    return found


def _dissipation(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Invert the compact expression, which falls everywhere, by halving a logarithm."""
    low = np.full_like(level, np.log(SMOOTHEST))
    high = np.full_like(level, np.log(DULLEST))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = compact(np.exp(middle)) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.exp(0.5 * (low + high))
