"""How far an exit velocity is from what a contact makes of an impact, and the derivatives of it.

With a the impact's velocity, b the exit's, m = ((1 - l) u, e(w) (1 + s_e z) w) the exit without
noise, z the take's own deviation of restitution, and c = 1 - cos of the angle between b and m,

    density of b = f(c) N(|b|; |m|, (s |m|)^2) / |b|^2,
    f(c) = (1 - p) vMF(c; k) + p vMF(c; q k),    given that b leaves the surface.

2 c is |b / |b| - m / |m||^2, so the direction's part is a sum of three squares with the weight
k r + q k (1 - r), where r is the chance that the redirection was a narrow one; or, where a weight w
is given, with that one, in place of f the law (w / 2 pi) exp(-w c) (`corrections`).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import special

from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw

_EYE = np.eye(3)
_STEP = 1e-6
_LEAST = 1e-300
_LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Rebounds:
    """Residuals of contacts: three of the direction, one of the speed, and what is no square.

    Attributes:
        residual, by: Their values, and derivatives by impact (3), exit (3) and z.
        weight: Of the direction's squares.
        excess: Minus log density less half the squares and what leaving takes.
        pull: Derivatives of what of it the speeds of b and m change, as those of the residuals.
        log_leaving: Log of the chance that a redrawn direction leaves, which varies slowly.
        exit, mean: b and m, m/s.
        mean_by: Derivative of each component of m by that of the impact.
        speed_sd: s of each.
    """

    residual: Float[ndarray, "*batch 4"]
    by: Float[ndarray, "*batch 4 7"]
    weight: Float[ndarray, "*batch"]
    excess: Float[ndarray, "*batch"]
    pull: Float[ndarray, "*batch 7"]
    log_leaving: Float[ndarray, "*batch"]
    exit: Float[ndarray, "*batch 3"]
    mean: Float[ndarray, "*batch 3"]
    mean_by: Float[ndarray, "*batch 3"]
    speed_sd: Float[ndarray, "*batch"]


def restitution(
    law: RestitutionLaw,
    values: Values,
    speed: Float[ndarray, "point take flight"],
) -> tuple[Float[ndarray, "point take flight"], Float[ndarray, "point take flight"]]:
    """Return restitution at impact speeds, and its derivative by speed, s/m."""
    at, slope = (
        torch.from_numpy(np.ascontiguousarray(x[:, None, None]))
        for x in (values.restitution, values.slope)
    )
    both = np.concatenate((speed, speed * (1.0 + _STEP)), -1)
    here, there = np.split(law(at, slope, torch.from_numpy(both)).numpy(), 2, axis=-1)
    return here, (there - here) / (_STEP * speed)


def compare(
    impact: Float[ndarray, "point take flight 3"],
    exit_: Float[ndarray, "point take flight 3"],
    deviation: Float[ndarray, "point take"],
    values: Values,
    law: RestitutionLaw,
    speed_sd: Float[ndarray, "point take flight"],
    given: Float[ndarray, "point take flight"] | None = None,
) -> Rebounds:
    """Compare exits with what contacts make of impacts.

    Args:
        given: Weights of directions; None takes those of the mixture.
    """
    w = np.maximum(-impact[..., 2], 1e-6)
    kept = (1.0 - values.tangential_loss)[:, None, None]
    take_sd = values.take_scatter[:, None, None]
    e, slope = restitution(law, values, w)
    own = 1.0 + take_sd * deviation[..., None]
    mean = np.concatenate((kept[..., None] * impact[..., :2], (e * own * w)[..., None]), -1)
    mean_by = np.empty((*w.shape, 3))
    mean_by[..., :2], mean_by[..., 2] = kept[..., None], -own * (e + slope * w)
    length, speed = (np.sqrt((x * x).sum(-1)) for x in (mean, exit_))
    towards, left = mean / length[..., None], exit_ / speed[..., None]
    sd = speed_sd
    residual = np.empty((*w.shape, 4))
    by = np.empty((*w.shape, 4, 7))
    residual[..., :3], residual[..., 3] = left - towards, (speed / length - 1.0) / sd
    by_mean = np.empty((*w.shape, 4, 3))
    by_mean[..., :3, :] = -_across(towards) / length[..., None, None]
    by_mean[..., 3, :] = -(speed / (length**2 * sd))[..., None] * towards
    by[..., :3] = by_mean * mean_by[..., None, :]
    by[..., :3, 3:6] = _across(left) / speed[..., None, None]
    by[..., 3, 3:6] = left / (length * sd)[..., None]
    by[..., 6] = by_mean[..., 2] * (e * w * take_sd)[..., None]
    if given is None:
        weight, excess, peak = _redirection(0.5 * (residual[..., :3] ** 2).sum(-1), values)
    else:
        weight, excess, peak = given, np.zeros_like(given), np.log(given / (2.0 * np.pi))
    root = np.sqrt(weight)[..., None]
    residual[..., :3] *= root
    by[..., :3, :] *= root[..., None]
    excess = excess - peak + 2.0 * np.log(speed) + np.log(sd * length) + 0.5 * _LOG_2PI
    leaving = _log_leaving(towards[..., 2], values)
    pull = np.empty((*w.shape, 7))
    pull[..., :3] = towards / length[..., None] * mean_by
    pull[..., 3:6] = 2.0 * left / speed[..., None]
    pull[..., 6] = towards[..., 2] / length * (e * w * take_sd)
    return Rebounds(residual, by, weight, excess, pull, leaving, exit_, mean, mean_by, sd)


def _across(direction: Float[ndarray, "*batch 3"]) -> Float[ndarray, "*batch 3 3"]:
    """Return the projection off a direction."""
    return np.asarray(_EYE - direction[..., :, None] * direction[..., None, :])


def _redirection(
    fall: Float[ndarray, "point take flight"], values: Values
) -> tuple[ndarray, ndarray, ndarray]:
    """Return the weight of the squares, what their half lacks of -log f, and log f's peak."""
    kappa, ratio, share = (
        x[:, None, None] for x in (values.concentration, values.tail_ratio, values.tail_share)
    )
    narrow = np.log1p(-share) + _log_peak(kappa)
    wide = np.log(share) + _log_peak(ratio * kappa)
    peak = np.logaddexp(narrow, wide)
    logs = narrow - kappa * fall, wide - ratio * kappa * fall
    total = np.logaddexp(*logs)
    chance = np.exp(logs[0] - total)
    weight = kappa * (chance + ratio * (1.0 - chance))
    return weight, peak - total - weight * fall, np.broadcast_to(peak, fall.shape)


def _log_peak(kappa: ndarray) -> ndarray:
    return np.asarray(np.log(kappa / (2.0 * np.pi)) - np.log(-np.expm1(-2.0 * kappa)))


def _log_leaving(cosine: Float[ndarray, "point take flight"], values: Values) -> ndarray:
    """Return about log P(the redrawn direction leaves), by the normal law near the surface."""
    kappa, ratio, share = (
        x[:, None, None] for x in (values.concentration, values.tail_ratio, values.tail_share)
    )
    angle = np.arcsin(np.clip(cosine, -1.0, 1.0))
    narrow = special.ndtr(np.sqrt(kappa) * angle)
    wide = special.ndtr(np.sqrt(ratio * kappa) * angle)
    leaves = (1.0 - share) * narrow + share * wide
    return np.asarray(np.log(np.maximum(leaves, _LEAST)))
