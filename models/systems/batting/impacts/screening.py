"""Which rows of a table can be impacts, and whether the table as a whole has SI units.

A contact approaches the surface before an impact, the surface pushes, and after it the contact does
not approach (`impact_law`). A contact is about as far from the centre of mass as the radius of
gyration, and impulses turn a body about as much as it is seen to turn; a table whose middle row is
far from that has other units. Where Newton's balance holds for most rows (`balance`), one that
breaks it has an entry of its own that is wrong.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.systems.batting.impacts import balance
from ricochet.models.systems.batting.impacts.balance import Balance
from ricochet.models.systems.batting.impacts.recorded import Impacts

LENGTH = 0.01  # by which a normal may differ from length one; it is then made one
DISTANCE = (0.05, 20.0)  # of contacts, in radii of gyration
GYRATION = (1e-5, 20.0)  # m
FASTEST = 300.0  # m/s
TURNED = (0.01, 100.0)  # change of spin by the impulse over the measured one
STILL_APPROACHING = 0.05  # of the normal speed before impact


def no_body(impacts: Impacts) -> list[str]:
    """Return why each row cannot be a body at a surface; empty where it can."""
    length = np.hypot(*impacts.normal.T)
    return _first(
        len(impacts),
        (impacts.mass <= 0.0, "the mass is not positive: {:.4g}", impacts.mass),
        (impacts.inertia <= 0.0, "the inertia is not positive: {:.4g}", impacts.inertia),
        (np.abs(length - 1.0) > LENGTH, "the normal is not of length 1: {:.4g}", length),
    )


def no_impact(impacts: Impacts) -> list[str]:
    """Return why each row cannot be an impact; empty where it can."""
    along, push = impacts.closing(impacts.before)[:, 0], impacts.impulse[:, 0]
    separating = (
        "the contact does not approach the surface: {:+.4g} m/s along the normal to the body"
    )
    pulling = "the change of velocity would pull the body to the surface: {:+.4g} m/s"
    return _first(
        len(impacts),
        (along >= 0.0, separating, along),
        (push <= 0.0, pulling, push / impacts.mass),
    )


def unbalanced(impacts: Impacts, found: Balance) -> list[str]:
    """Return why each row cannot be right, if others are; empty where it can."""
    before, after = (impacts.closing(each)[:, 0] for each in (impacts.before, impacts.after))
    turning = "the change of spin is not that of the impulse: off by {:.2g} of all changes"
    approaching = "the contact approaches the surface after the impact too: {:+.4g} m/s"
    return _first(
        len(impacts),
        (found.broken, turning, found.residual),
        (after < STILL_APPROACHING * before, approaching, after),
    )


def other_units(impacts: Impacts) -> tuple[str, str] | None:
    """Return what of a table is not in SI units, and what was expected; None where all may be."""
    gyration = float(np.median(impacts.gyration))
    place = float(np.median(np.hypot(*impacts.contact.T)))
    speed = float(np.median(np.hypot(*impacts.before[:, :2].T)))
    turned = balance.of(impacts).ratio[0]
    if not DISTANCE[0] <= place / gyration <= DISTANCE[1]:
        found = (
            f"contacts {place:.3g} m from centres of mass, radii of gyration of {gyration:.3g} m"
        )
        return found, "about the same (m, kg, kg m^2)"
    if not GYRATION[0] <= gyration <= GYRATION[1]:
        return f"radii of gyration of {gyration:.3g} m", "metres, kg and kg m^2"
    if speed > FASTEST:
        return f"speeds of {speed:.3g} m/s", "m/s"
    if not TURNED[0] <= abs(turned) <= TURNED[1]:
        found = f"impulses that give {turned:.3g} times the measured changes of spin"
        return found, "about 1 (m, m/s, rad/s, kg, kg m^2)"
    return None


def with_unit_normals(impacts: Impacts) -> Impacts:
    """Return impacts whose normals have length one."""
    length = np.hypot(*impacts.normal.T)[:, None]
    return replace(impacts, normal=impacts.normal / length)


def _first(
    count: int, *faults: tuple[Bool[ndarray, " impact"], str, Float[ndarray, " impact"]]
) -> list[str]:
    """Return the first fault of each row, with its value."""
    found = [""] * count
    for wrong, words, values in reversed(faults):
        for place in np.flatnonzero(wrong):
            found[int(place)] = words.format(values[place])
    return found
