"""Restitution of a viscoelastic sphere by s^2 = b v^(1/5), for arrays of numpy and of torch alike.

The compact expression of Mueller and Poeschel (2011, Phys. Rev. E 84, 021302); see `contact`. It
imports nothing, since what reads packages needs numpy alone.
"""

from typing import Any

REFERENCE_SPEED = 2.0
"""Impact speed at which restitution is stated, m/s: that of a fall from 0.20 m."""
LOWEST, HIGHEST = 0.01, 1.0
"""No law gives a restitution outside of these."""
SMOOTHEST, DULLEST = 1e-6, 4.0
"""s^2 between which restitution falls from 1 to 0.05."""
_C, _B2, _B3, _B4 = 0.501086, 1.15345, 0.577977, 0.532178
LEADING = _B2
"""What restitution loses at first order in s^2."""


def compact(squared: Any) -> Any:
    """Return E at s^2.

    >>> compact(0.0), round(compact(0.2), 3)
    (1.0, 0.797)
    """
    s = squared**0.5
    lost = squared * (_B2 + s * (_B3 + s * (_B4 + s * _C)))
    return (1.0 + _C * s) / (1.0 + _C * s + lost)
