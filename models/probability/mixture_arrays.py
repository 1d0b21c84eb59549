"""The mixtures of `truncated_mixtures`, of arrays, by numpy and scipy alone.

The same equations: for those who read a density and have no torch, and as a second opinion.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special

LOG_ROOT_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class MixtureArrays:
    """A batch of mixtures; every field broadcasts over the leading axes.

    Attributes:
        log_weights: Log of the weights, normalised over components.
        mean: Centre of each component in y.
        sd: Conditional standard deviation in y, positive.
        slope: Strictly lower-triangular regression of an axis on those before it.
        low, high: Bounds in y.
        location, scale: Of y = asinh((x - location) / scale); None when y = x.
    """

    log_weights: Float[ndarray, "*#batch component"]
    mean: Float[ndarray, "*#batch component n"]
    sd: Float[ndarray, "*#batch component n"]
    slope: Float[ndarray, "*#batch component n n"]
    low: Float[ndarray, "*#batch n"]
    high: Float[ndarray, "*#batch n"]
    location: Float[ndarray, "*#batch n"] | None = None
    scale: Float[ndarray, "*#batch n"] | None = None


def log_density(
    mixture: MixtureArrays, x: Float[ndarray, "*#sample n"]
) -> Float[ndarray, "*#sample"]:
    """Return the log density in the units of x, minus infinity outside the box.

    >>> one, box = np.ones((1, 1)), np.array([2.0])
    >>> cut = MixtureArrays(0 * one[0], 0 * one, one, 0 * one[None], -box, box)
    >>> log_density(cut, np.array([[0.0], [1.0], [2.1]])).round(3)
    array([-0.872, -1.372,   -inf])
    """
    value = log_density_of_y(mixture, forward(mixture, x))
    return value + log_slope(mixture, x)


def log_density_of_y(
    mixture: MixtureArrays, y: Float[ndarray, "*#sample n"]
) -> Float[ndarray, "*#sample"]:
    """Return the log density of y, minus infinity outside the box.

    >>> one, box = np.ones((1, 1)), np.array([2.0])
    >>> cut = MixtureArrays(0 * one[0], 0 * one, one, 0 * one[None], -box, box)
    >>> log_density_of_y(cut, np.array([[1.0]])).round(3)
    array([-1.372])
    """
    inside = ((y >= mixture.low) & (y <= mixture.high)).all(-1)
    held = np.clip(y, mixture.low, mixture.high)[..., None, :]
    centre = mixture.mean + (mixture.slope @ (held - mixture.mean)[..., None])[..., 0]
    low, high = (end[..., None, :] for end in (mixture.low, mixture.high))
    axes = log_cut_normal(held, centre, mixture.sd, low, high)
    total = special.logsumexp(mixture.log_weights + axes.sum(-1), axis=-1)
    return np.where(inside, total, -np.inf)


def forward(mixture: MixtureArrays, x: Float[ndarray, "*#batch n"]) -> Float[ndarray, "*#batch n"]:
    """Return y.

    >>> one, place = np.ones((1, 1)), np.array([0.8])
    >>> cut = MixtureArrays(one[0], one, one, one[None], -place, place, place, 0.1 * place)
    >>> forward(cut, np.array([[0.88]])).round(3)
    array([[0.881]])
    """
    if mixture.location is None or mixture.scale is None:
        return x
    return np.asarray(np.arcsinh((x - mixture.location) / mixture.scale))


def log_slope(mixture: MixtureArrays, x: Float[ndarray, "*#batch n"]) -> Float[ndarray, "*#batch"]:
    """Return log |det dy/dx|.

    >>> one, place = np.ones((1, 1)), np.array([0.8])
    >>> cut = MixtureArrays(one[0], one, one, one[None], -place, place, place, 0.0125 * place)
    >>> log_slope(cut, np.array([0.8])).round(3)  # -log(0.01)
    np.float64(4.605)
    """
    if mixture.location is None or mixture.scale is None:
        return np.zeros(x.shape[:-1])
    return np.asarray(-np.log(np.hypot(mixture.scale, x - mixture.location)).sum(-1))


def log_cut_normal(
    y: Float[ndarray, "*#batch"],
    centre: Float[ndarray, "*#batch"],
    sd: Float[ndarray, "*#batch"],
    low: Float[ndarray, "*#batch"],
    high: Float[ndarray, "*#batch"],
) -> Float[ndarray, "*#batch"]:
    """Return the log density of a normal law that is cut to an interval.

    >>> zero, one = np.zeros(1), np.ones(1)
    >>> log_cut_normal(zero, zero, one, -2 * one, 2 * one).round(3)
    array([-0.872])
    """
    normal = -0.5 * ((y - centre) / sd) ** 2 - np.log(sd) - LOG_ROOT_TWO_PI
    return np.asarray(normal - log_mass((low - centre) / sd, (high - centre) / sd))


def log_mass(
    low: Float[ndarray, "*#batch"], high: Float[ndarray, "*#batch"]
) -> Float[ndarray, "*#batch"]:
    """Return log(Phi(high) - Phi(low)), as `truncated_normals.log_mass`.

    >>> log_mass(np.array([-1.0, 30.0]), np.array([1.0, 31.0])).round(3).tolist()
    [-0.382, -454.321]
    """
    mirrored = low + high > 0.0
    outer = special.log_ndtr(np.where(mirrored, -high, low))
    inner = special.log_ndtr(np.where(mirrored, -low, high))
    return np.asarray(inner + np.log(-np.expm1(np.minimum(outer - inner, -1e-300))))
