"""Newton's balance of measured impacts: the impulse that changes the velocity changes the spin.

With J the impulse that the change of velocity gives and r the contact from the centre of mass,

    k (w' - w) = k (r x J) / I

for every impact, whatever the law of impact; k is the radius of gyration. What a table leaves of
the left side shows a mirrored axis, a wrong inertia or a wrong unit before anything is inferred.
Whether velocities before and after belong together shows in the same numbers, taken as angular
momenta about the contact (`momenta`).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.systems.batting.impacts import momenta
from ricochet.models.systems.batting.impacts.momenta import Momenta
from ricochet.models.systems.batting.impacts.recorded import Impacts, changes, observed_changes

UNEXPLAINED = 0.5
"""The share of the changes of spin that may stay unexplained."""
LITTLE = 0.02
"""The share of all changes that is too little to show anything."""
EXPLAINED = 0.2
"""What a correction must leave, to be named as the likely one."""
OFF = 0.05
"""By which share of itself the inertia may seem to be wrong without a word."""
BROKEN = 0.1
"""Of all its changes, and of the middle row's: by how much a row's spin may be off."""
UNUSUAL = 10.0
"""Times the middle row's, the same."""
SIGNS = {
    (-1.0, 1.0): "x of velocities, or y of contacts, seems to have the other sign",
    (1.0, -1.0): "y of velocities, or x of contacts, seems to have the other sign",
    (-1.0, -1.0): "spin seems to have the other sign (it is positive counter-clockwise)",
}


@dataclass(frozen=True)
class Balance:
    """How far the changes of spin are those that the impulses give.

    Attributes:
        residual_share: Sum of what stays unexplained, in magnitude, over that of the changes.
        ratio: Change of spin that the impulse gives over that which is measured: the middle of the
            impacts, and the quarters below and above it.
        residual: Of each impact, over the size of all its changes.
        size: Of all changes of each impact, over that of the middle one.
        of_all: What stays unexplained, over the size of all changes.
    """

    residual_share: float
    ratio: tuple[float, float, float]
    residual: Float[ndarray, " impact"]
    size: Float[ndarray, " impact"]
    of_all: float

    @property
    def holds(self) -> bool:
        """Whether at most half of the changes of spin, or little of all, stays unexplained."""
        return self.residual_share <= UNEXPLAINED or self.of_all <= LITTLE

    @property
    def broken(self) -> Bool[ndarray, " impact"]:
        """Which impacts are off while the middle one is not: an entry of their own is wrong."""
        usual = max(BROKEN, UNUSUAL * float(np.median(self.residual)))
        return (self.residual > usual) & (self.residual * self.size > BROKEN)


def of(impacts: Impacts) -> Balance:
    """Return the balance of some impacts."""
    given, seen = _sides(impacts)
    residual = np.abs(given - seen)
    moved = np.abs(observed_changes(impacts)).sum(1)
    clear = np.abs(seen) > 0.05 * moved
    ratio = given[clear] / seen[clear] if clear.any() else np.ones(1)
    low, middle, high = np.quantile(ratio, (0.25, 0.5, 0.75))
    return Balance(
        _share(given, seen, float(moved.sum())),
        (float(middle), float(low), float(high)),
        residual / np.maximum(moved, np.finfo(float).tiny),
        moved / max(float(np.median(moved)), np.finfo(float).tiny),
        float(residual.sum() / max(moved.sum(), np.finfo(float).tiny)),
    )


def misfit(impacts: Impacts, balance: Balance) -> list[str]:
    """Return lines that say how the balance fails, or none."""
    kept = momenta.of(impacts)
    if not balance.holds:
        return [
            f"Newton's balance fails: {balance.residual_share:.0%} of the changes of spin are not"
            f" those of the impulses; {_likely(impacts, balance, kept)}"
        ]
    if kept.kept:
        return _of_inertia(balance)
    return [momenta.words(kept), *_of_inertia(of(momenta.corrected(impacts, kept)))]


def _of_inertia(balance: Balance) -> list[str]:
    """Return a line where impulses give more or less than the changes of spin, or none."""
    middle, low, high = balance.ratio
    if abs(middle - 1.0) <= OFF or low <= 1.0 <= high:
        return []
    return [
        f"impulses give {middle:.2f} times the changes of spin, half of them {low:.2f} to"
        f" {high:.2f}: an inertia, a mass or a place of contact may be wrong"
    ]


def _likely(impacts: Impacts, balance: Balance, kept: Momenta) -> str:
    """Return which correction would explain the changes of spin, in words."""
    given, seen = _sides(impacts)
    factor, moved = balance.ratio[0], float(np.abs(seen).sum())
    left = {"": UNEXPLAINED}
    if factor > 0.0:
        words = f"an inertia, a mass or a unit seems off: impulses give {factor:.3g} times of them"
        words = "spin seems to be in degrees/s" if abs(57.3 * factor - 1.0) < 0.1 else words
        left[words] = _share(given / factor, seen, moved)
    place, change = impacts.contact, impacts.after[:, :2] - impacts.before[:, :2]
    over = impacts.gyration
    for (x, y), words in SIGNS.items():
        turned = (place[:, 0] * y * change[:, 1] - place[:, 1] * x * change[:, 0]) / over
        left[words] = _share(turned, seen, moved)
    if not kept.kept:
        left[momenta.words(kept)] = of(momenta.corrected(impacts, kept)).residual_share
    best = min(left, key=lambda words: left[words])
    unknown = "signs, inertias and units may be wrong"
    return best if best and left[best] < EXPLAINED else unknown


def _sides(impacts: Impacts) -> tuple[Float[ndarray, " impact"], Float[ndarray, " impact"]]:
    """Return the changes of spin that impulses give, and those measured, times k."""
    return changes(impacts, impacts.impulse)[:, 2], observed_changes(impacts)[:, 2]


def _share(
    given: Float[ndarray, " impact"], seen: Float[ndarray, " impact"], moved: float
) -> float:
    """Return what stays unexplained over what is seen; rounding of all changes is nothing."""
    left, total = float(np.abs(given - seen).sum()), float(np.abs(seen).sum())
    return left / max(total, 1e-6 * moved, np.finfo(float).tiny)
