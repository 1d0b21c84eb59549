r"""Mean and covariance of a ball's horizontal motion through a contact, and through a flight.

By the law of `simulator` a ball that comes with horizontal velocity u and vertical speed w leaves
with

    s^2 = |u|^2 + (e w)^2,      speed s in a direction from von Mises-Fisher(k) about the old.

Given the vertical exit speed w' the horizontal velocity has the length

    v = sqrt(s^2 - w'^2),       turned from u by von Mises(c),      c = k |u| v / s^2,

hence, with A = I_1(c) / I_0(c), d along u and n across it, exactly

    E[u'] = v A d,     Cov = v^2 [(1 - A / c - A^2) d d^T + (A / c) n n^T].

A contact that keeps the share (1 - l) of u is that of a ball that comes with (1 - l) u. A standard
deviation r s of the speed s adds the variance (r s^2 / v)^2 along d, as v dv = s ds.

In air (`flight_expansion`) a flight that takes the time t and loses B goes u t exp(-B) and ends
with u exp(-2 B).

Uncertainty of u enters by the first-order map, A [(|u| / v) d d^T + (v / |u|) n n^T].
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special

_SLOWEST = 0.05  # m/s; below, a heading means nothing
_LARGE = 1e4  # concentration; what the series leaves out is below 1e-13
_STEEPEST = 2.0  # bound of the map's two slopes, where v or |u| is near 0


def bounce_moments(
    mean: Float[ndarray, "*batch 4"],
    covariance: Float[ndarray, "*batch 4 4"],
    *,
    rise: Float[ndarray, "*#batch"],
    exit_speed: Float[ndarray, "*#batch"],
    concentration: Float[ndarray, "*#batch"],
    speed_sd: Float[ndarray, "*#batch"] | float = 0.0,
    scatter: Float[ndarray, "*#batch"] | float = 0.0,
) -> tuple[Float[ndarray, "*batch 4"], Float[ndarray, "*batch 4 4"]]:
    """Return mean and covariance of (p, u) on leaving a contact, given the vertical exit speed.

    Args:
        mean: Of (p, u) on reaching the contact.
        rise, exit_speed: Vertical speed after the contact without scatter, e w, and with it, m/s.
        speed_sd: Standard deviation of `rise`, m/s.
        scatter: Standard deviation of the exit speed, as a share of it.
    """
    u = mean[..., 2:]
    before = np.asarray(np.hypot(u[..., 0], u[..., 1]))
    energy = before**2 + rise**2
    after = np.sqrt(np.maximum(energy - exit_speed**2, _SLOWEST**2))
    c = np.asarray(np.maximum(concentration * before * after / energy, 1e-9))
    A = _mean_cosine(c)  # noqa: N806  as in the equations
    d = u / np.maximum(before, 1e-12)[..., None]
    along = d[..., :, None] * d[..., None, :]
    across = np.eye(2) - along
    ratio = np.clip(before / after, 1.0 / _STEEPEST, _STEEPEST)
    slope = (A * ratio)[..., None, None] * along + (A / ratio)[..., None, None] * across
    spread = np.maximum(1.0 - A / c - A**2, 0.0) * after**2 + np.square(
        np.minimum(rise / after, 10.0) * speed_sd
    )
    if np.any(scatter):
        spread += energy * np.square(np.minimum(np.sqrt(energy) / after, 10.0) * scatter)
    sideways = A / c * after**2
    turned = covariance.copy()
    turned[..., :2, 2:] = covariance[..., :2, 2:] @ slope  # the slope is symmetric
    turned[..., 2:, :2] = np.swapaxes(turned[..., :2, 2:], -1, -2)
    turned[..., 2:, 2:] = slope @ covariance[..., 2:, 2:] @ slope
    turned[..., 2:, 2:] += spread[..., None, None] * along + sideways[..., None, None] * across
    return np.concatenate((mean[..., :2], (after * A)[..., None] * d), axis=-1), turned


def propagate_straight(
    mean: Float[ndarray, "*batch 4"],
    covariance: Float[ndarray, "*batch 4 4"],
    flight: Float[ndarray, "*batch"],
    lost: Float[ndarray, "*batch"] | None = None,
) -> tuple[Float[ndarray, "*batch 4"], Float[ndarray, "*batch 4 4"]]:
    """Move on for a time, s, in air with the losses B of `flight_expansion`, None without air."""
    if lost is not None:
        return _slowed(mean, covariance, flight, lost)
    moved, wider, t = mean.copy(), covariance.copy(), flight[..., None, None]
    moved[..., :2] += flight[..., None] * mean[..., 2:]
    wider[..., :2, 2:] += t * covariance[..., 2:, 2:]
    wider[..., 2:, :2] = np.swapaxes(wider[..., :2, 2:], -1, -2)
    wider[..., :2, :2] += t * (covariance[..., :2, 2:] + wider[..., 2:, :2])
    return moved, wider


def _slowed(
    mean: Float[ndarray, "*batch 4"],
    covariance: Float[ndarray, "*batch 4 4"],
    flight: Float[ndarray, "*batch"],
    lost: Float[ndarray, "*batch"],
) -> tuple[Float[ndarray, "*batch 4"], Float[ndarray, "*batch 4 4"]]:
    """Move on as [[1, t exp(-B)], [0, exp(-2 B)]] does: straight on for t exp(B) when slowed."""
    kept = np.exp(-2.0 * lost)
    slower, narrower = mean.copy(), covariance.copy()
    slower[..., 2:] *= kept[..., None]
    narrower[..., 2:, :] *= kept[..., None, None]
    narrower[..., :, 2:] *= kept[..., None, None]
    return propagate_straight(slower, narrower, flight * np.exp(lost))


def _mean_cosine(c: Float[ndarray, "*batch"]) -> Float[ndarray, "*batch"]:
    """I_1(c) / I_0(c), the mean cosine of the von Mises law; by its series where c is large."""
    small = np.minimum(c, _LARGE)
    series = 1.0 - 0.5 / np.maximum(c, _LARGE) * (1.0 + 0.25 / np.maximum(c, _LARGE))
    return np.where(c < _LARGE, special.ive(1, small) / special.ive(0, small), series)
