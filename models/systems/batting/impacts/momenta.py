"""Whether the angular momentum about the contact is the same before and after impacts.

An impulse at the contact has no moment about it: over mass and radius of gyration k, with r the
contact from the centre of mass,

    l = k w - (r x v) / k,  l' = k w' - (r x v') / k,  l' = l

whatever the law. Where all velocities after are of another frame rate, or of a body that has been
slowed since, l' = c l, and the coefficients that are inferred are wrong by about 1 - c. The slope b
of l' - l on (l + l') / 2 is 0 where c = 1; else c = (2 + b) / (2 - b).

Errors of the measured velocities and places stay in l' - l, whose size nobody knows in advance. So
c is said to be another than 1 only where all of these hold:

- b is more than it can be by chance: its standard error is the larger of that of errors alike and
  that of errors which differ from row to row (HC3 of MacKinnon and White 1985);
- b is more than errors of l and l' alone feign, at most sum (l' - l)^2 / sum 2 ((l + l') / 2)^2
  where they are independent (Frisch's bounds);
- c explains the differences better than what else is usual: another inertia or mass, places of
  contact that are all off by the same;
- 1 - c is more than half of the deviation that the scatter of restitution leaves in its median:
  less moves no coefficient by what counts as a difference.

Bodies that do not turn, or are struck while they rest, have no angular momentum to compare.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize, stats

from ricochet.models.systems.batting.impacts.recorded import Impacts, observed_changes

CHANCE = 5e-4
"""That a table is said to be wrong whose momenta are kept."""
OFF = 0.05
"""By how much of the radius of gyration places may be off, as another explanation."""
MATTERS = 0.5
"""Of a deviation: by how much the mean of a candidate may be off, too."""
CLEAR = 0.05
"""Of all changes of an impact: less of a momentum shows no ratio."""


@dataclass(frozen=True)
class Momenta:
    """Angular momentum about the contact after impacts over that before.

    Attributes:
        ratio: Of all impacts together, c.
        quarters: The quarters of single impacts below and above the middle one.
        kept: Whether the ratio may be 1.
    """

    ratio: float
    quarters: tuple[float, float]
    kept: bool


def of(impacts: Impacts) -> Momenta:
    """Return the momenta of some impacts.

    >>> from ricochet.models.systems.batting.impact_law import Law
    >>> from ricochet.models.systems.batting.impacts.recorded import simulate
    >>> from ricochet.models.systems.batting.shapes import seven_shapes
    >>> draw = np.random.default_rng(0)
    >>> table = simulate(Law(0.8, 0.5, 0.4, 0.0, 0.03, 0.05), seven_shapes(), 100, draw)
    >>> of(table).kept
    True
    >>> late = of(replace(table, after=0.9 * table.after))
    >>> late.kept, round(late.ratio, 3)
    (False, 0.9)
    """
    before, after = (about_contacts(impacts, each) for each in (impacts.before, impacts.after))
    middle, difference = 0.5 * (before + after), after - before
    size = max(float(middle @ middle), np.finfo(float).tiny)
    slope, feigned = float(middle @ difference) / size, 0.5 * float(difference @ difference) / size
    left = difference - slope * middle
    if not abs(slope) > feigned + _by_chance(middle, left, size):
        return Momenta(1.0, (1.0, 1.0), True)
    ratio = (2.0 + slope) / (2.0 - slope)
    explained = float(left @ left) < _otherwise(impacts, difference)
    matters = abs(1.0 - ratio) > MATTERS * _doubt(impacts)
    clear = np.abs(before) > CLEAR * np.abs(observed_changes(impacts)).sum(1)
    single = after[clear] / before[clear] if clear.any() else np.full(1, ratio)
    low, high = np.quantile(single, (0.25, 0.75))
    return Momenta(ratio, (float(low), float(high)), not (explained and matters))


def about_contacts(
    impacts: Impacts, motion: Float[ndarray, "impact 3"]
) -> Float[ndarray, " impact"]:
    """Return angular momenta about the contacts over mass and radius of gyration, m/s."""
    place, k = impacts.contact, impacts.gyration
    return k * motion[:, 2] - (place[:, 0] * motion[:, 1] - place[:, 1] * motion[:, 0]) / k


def corrected(impacts: Impacts, found: Momenta) -> Impacts:
    """Return impacts whose velocities after have the momenta of those before."""
    return replace(impacts, after=impacts.after / found.ratio)


def words(found: Momenta) -> str:
    """Return in words that momenta are not kept."""
    low, high = found.quarters
    return (
        "angular momentum about the contact, which no impulse there changes, is"
        f" {found.ratio:.3f} times as large after impacts as before them (half of them {low:.3f} to"
        f" {high:.3f}): are velocities before and after of one frame rate, and at the moment of"
        " impact?"
    )


def _by_chance(
    middle: Float[ndarray, " impact"], left: Float[ndarray, " impact"], size: float
) -> float:
    """Return how large the slope may be by chance, its own residuals given."""
    weight = middle / size
    free, others = np.maximum(1.0 - weight * middle, np.finfo(float).eps), max(len(middle) - 1, 1)
    alike = float(left @ left) * float(weight @ weight) / others
    each = float(((weight * left / free) ** 2).sum())
    return float(np.sqrt(max(alike, each)) * stats.t.isf(0.5 * CHANCE, others))


def _otherwise(impacts: Impacts, difference: Float[ndarray, " impact"]) -> float:
    """Return the sum of squares that another inertia and places a little off would leave."""
    change = observed_changes(impacts)[:, [2, 0, 1]]
    limits = np.array((np.inf, OFF, OFF))
    best = optimize.lsq_linear(change, difference, (-limits, limits), method="bvls")
    return float(((difference - change @ best.x) ** 2).sum())


def _doubt(impacts: Impacts) -> float:
    """Return the standard error of the median of restitutions, about."""
    before, after = impacts.closing(impacts.before)[:, 0], impacts.closing(impacts.after)[:, 0]
    approaching = before < 0.0
    if not approaching.any():
        return 0.0
    low, high = np.quantile(-after[approaching] / before[approaching], (0.25, 0.75))
    return float(high - low) / float(np.sqrt(approaching.sum()))
