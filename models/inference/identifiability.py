r"""What data tell of parameters, and what they do not: rank, null directions, parameters at limits.

In shares of the limits' range the prior is uniform, of variance 1/12. With the precision of the
data alone in these, the directions in which it is less than three times that of the prior, so that
the deviation is more than half of what it was before, are not told.

Source: ours, as the readings of Heiden et al. ask (rank 8 of the pendulum's 11 parameters).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

PRIOR = 12.0
"""Precision of a share that is uniform."""
_AT = 0.01
_OFTEN = 0.2
_CUT = 2.0


@dataclass(frozen=True)
class Identifiability:
    """What is known of some parameters.

    Attributes:
        rank: Directions of the parameters that data tell.
        null_directions: The others, as shares by which parameters change along them; those of less
            than a tenth of the greatest are left out.
        at_limits: Parameters that crowd at a limit, such as "inertia_1 low".
    """

    rank: int
    null_directions: list[dict[str, float]]
    at_limits: list[str]


def of_posterior(
    precision: Float[ndarray, "parameter parameter"],
    shares: Float[ndarray, "draw parameter"],
    names: Sequence[str],
) -> Identifiability:
    """Say what data tell.

    >>> draws = np.random.default_rng(0).uniform(size=(100, 2)) * (0.01, 1.0)
    >>> of_posterior(np.diag((1e4, 2.0)), draws, ("mass", "length"))
    Identifiability(rank=1, null_directions=[{'length': 1.0}], at_limits=['mass low'])

    Args:
        precision: Of the data alone, starts of motions integrated out, at a good fit, in shares.
        shares: Draws of the posterior.
    """
    sizes, directions = np.linalg.eigh(precision)
    untold = directions.T[sizes < 3.0 * PRIOR]
    return Identifiability(
        len(sizes) - len(untold),
        [_named(direction, names) for direction in untold],
        at_limits(shares, names),
    )


def at_limits(shares: Float[ndarray, "draw parameter"], names: Sequence[str]) -> list[str]:
    """Return parameters whose law a limit cuts off.

    A fifth of the draws then lies in the hundredth next to the limit, and their mean is less than
    two deviations away from it: near a limit alone a parameter may be known well.

    >>> even = np.linspace(0.0, 1.0, 9)
    >>> at_limits(np.stack((1.0 - 0.005 * even, even), 1), ("mass", "length"))
    ['mass high']
    """
    ends = {"low": shares, "high": 1.0 - shares}
    return [
        f"{name} {end}"
        for number, name in enumerate(names)
        for end, away in ends.items()
        if (away[:, number] < _AT).mean() > _OFTEN
        and away[:, number].mean() < _CUT * away[:, number].std()
    ]


def _named(direction: ndarray, names: Sequence[str]) -> dict[str, float]:
    greatest = direction[np.abs(direction).argmax()]
    parts = zip(names, direction / greatest, strict=True)
    return {name: round(float(part), 3) for name, part in parts if abs(part) >= 0.1}
