"""Does a package's contact say what the takes say, measured again by the same family?

Draws of both are compared quantity by quantity: m, s are mean and standard deviation of the claimed
draws, M, S those measured again, and what is compared is

    (m - M) / S    and    log(s / S).

Neither is exact: all draws of an answer are copies of the n points that carry it. With C_i those
among N draws that are copies of point i,

    var(M) = sum_i (sum_{j in C_i} (x_j - M) / N)^2
    var(S^2) = sum_i (sum_{j in C_i} ((x_j - M)^2 - S^2) / N)^2

(the variance of a mean by normalised weights; Owen 2013, Monte Carlo theory, methods and examples,
Sec. 9.2), which are S^2 / n and 2 S^4 / n for n points of equal weight of a normal law. The claim
rests on as many points, so that its errors are as large, and the differences have the variances
2 var(M) / S^2 and var(S^2) / (2 S^4).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws

SPEEDS = (1.0, 2.0)
"""At which restitution is compared, m/s: what takes from 0.26 m meet."""
_LEAST = 1e-12  # below which a share or a number has no logarithm worth comparing


@dataclass(frozen=True)
class Compared:
    """One quantity as claimed and as measured again.

    Attributes:
        shift: (m - M) / S.
        log_ratio: log(s / S).
        shift_sd, log_ratio_sd: How far both are apart in equal answers, by the points they rest on.
    """

    name: str
    shift: float
    log_ratio: float
    shift_sd: float
    log_ratio_sd: float


def compare(
    claimed: ContactDraws, measured: ContactDraws, points: Int[ndarray, " draw"]
) -> tuple[Compared, ...]:
    """Compare what is claimed of a contact with what was measured again.

    Args:
        points: Of which point each measured draw is a copy, by its number.
    """
    stated, found = quantities(claimed), quantities(measured)
    return tuple(_compared(name, stated[name], found[name], points) for name in found)


def quantities(draws: ContactDraws) -> dict[str, Float[ndarray, " draw"]]:
    """Return what is compared, each in a coordinate in which its law is near to normal."""
    own, count = draws.contact, len(draws.drag)
    rows = {}
    for speed in SPEEDS:
        at = torch.full((count,), speed, dtype=torch.float64)
        rows[f"restitution at {speed:g} m/s"] = draws.restitution(at)
    share = own.tail_share.clamp(_LEAST, 1.0 - _LEAST)
    rows |= {
        "log10 concentration": _log(own.concentration) / float(np.log(10.0)),
        "log drag": _log(draws.drag),
        "tangential loss": own.tangential_loss,
        "logit tail share": torch.log(share / (1.0 - share)),
        "log tail ratio": _log(own.tail_ratio),
        "log scatter": _log(own.scatter),
    }
    return {name: row.double().numpy() for name, row in rows.items()}


def _log(values: torch.Tensor) -> torch.Tensor:
    return torch.log(values.clamp(min=_LEAST))


def _compared(
    name: str,
    claimed: Float[ndarray, " claim"],
    measured: Float[ndarray, " draw"],
    points: Int[ndarray, " draw"],
) -> Compared:
    away = measured - measured.mean()
    variance = float((away**2).mean())
    spread = variance**0.5
    error = _summed(away, points) / spread
    of_variance = _summed(away**2 - variance, points) / variance
    return Compared(
        name,
        shift=float((claimed.mean() - measured.mean()) / spread),
        log_ratio=float(np.log(max(claimed.std(), _LEAST * spread) / spread)),
        shift_sd=2.0**0.5 * error,
        log_ratio_sd=of_variance / 2.0**0.5,
    )


def _summed(values: Float[ndarray, " draw"], points: Int[ndarray, " draw"]) -> float:
    """Return the standard error of the mean of values, copies of a point being one."""
    return float(np.sqrt((np.bincount(points, values) ** 2).sum()) / len(values))
