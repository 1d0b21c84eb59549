"""The integral of a truncated mixture of two parameters over its box, by nodes that follow it.

In coordinates y Gauss's rule of two nodes is applied to intervals along the first axis and, at each
of their nodes, along the second. An interval is as long as `STEP` times the narrowest component
that is near it:

    N = int dz / (STEP min_k s_k),   over components k with |z - m_k| < r_k s_k

A component whose centre c lies outside the box, at a distance d from the nearest end, is left with
an exponential at that end: there m = end, s = s_k / (1 + 1.5 d / s_k). Where none is near, one
interval bridges the gap. A mixture that is not normalised shows it, whatever made it.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.probability import mixture_arrays
from ricochet.models.probability.mixture_arrays import MixtureArrays

STEP = 1.6
GAUSSIAN, EXPONENTIAL = 6.0, 18.0
"""Widths s within which a component is near: beyond, less than 1e-6 of it is left."""
CELLS = 2**18
"""Numbers in memory at once."""
MOST = 5 * 10**7
"""Nodes, times components: some seconds."""


def integral(mixture: MixtureArrays) -> float:
    """Return the integral of one mixture, whose fields have no batch axes; right to 1e-3.

    Raises:
        ValueError: Its components are so many and so narrow that this takes too long.

    >>> one = np.ones((1, 2))
    >>> slope = np.array([[[0.0, 0.0], [0.5, 0.0]]])
    >>> cut = MixtureArrays(0 * one[:, 0], 0 * one, one, slope, -2 * one[0], one[0])
    >>> round(integral(cut), 3)
    1.0
    """
    ends = mixture.low[0], mixture.high[0]
    first, weights = _rule(mixture.mean[None, :, 0], mixture.sd[None, :, 0], *ends)
    most = MOST // (first.size * len(mixture.mean))
    parts = _split(first[0], 2 * len(mixture.mean) * (len(mixture.mean) + 1))
    inner = np.concatenate([_along_second(mixture, part, most) for part in parts])
    return float(weights[0] @ inner)


def _split(rows: ndarray, each: int) -> list[ndarray]:
    """Cut rows of so many numbers each into parts of at most `CELLS`."""
    count = max(CELLS // each, 1)
    return [rows[start : start + count] for start in range(0, len(rows), count)]


def _along_second(mixture: MixtureArrays, first: Float[ndarray, " row"], most: int) -> ndarray:
    """Integrate over the second axis at each value of the first; both in y."""
    shift = mixture.slope[:, 1, 0] * (first[:, None] - mixture.mean[:, 0])
    centre = mixture.mean[:, 1] + shift
    sd = np.broadcast_to(mixture.sd[:, 1], centre.shape)
    second, weights = _rule(centre, sd, mixture.low[1], mixture.high[1])
    if second.shape[1] > most:
        raise ValueError(f"{second.shape[1]} nodes along an axis, at most {most}")
    cells = 2 * second.shape[1] * len(mixture.mean)
    parts = zip(*(_split(rows, cells) for rows in (first, second, weights)), strict=True)
    return np.concatenate([(part * _density(mixture, a, b)).sum(-1) for a, b, part in parts])


def _density(
    mixture: MixtureArrays, first: Float[ndarray, " row"], second: Float[ndarray, "row node"]
) -> Float[ndarray, "row node"]:
    """Return the density in y at values of the first axis, and several of the second at each.

    What depends on the first axis alone, both masses within the box among it, is computed once.
    """
    centre = mixture.mean[:, 1] + mixture.slope[:, 1, 0] * (first[:, None] - mixture.mean[:, 0])
    share = mixture.log_weights + _log_cut_normal(mixture, 0, first[:, None], mixture.mean[:, 0])
    share = share + _log_cut_normal(mixture, 1, centre, centre)  # at its highest
    z = (second[..., None] - centre[:, None]) / mixture.sd[:, 1]
    return np.asarray(np.exp(share[:, None] - 0.5 * z**2).sum(-1))


def _log_cut_normal(mixture: MixtureArrays, axis: int, y: ndarray, centre: ndarray) -> ndarray:
    """Return the log density of an axis, cut to the box, given the centres of all components."""
    ends = mixture.low[axis], mixture.high[axis]
    return mixture_arrays.log_cut_normal(y, centre, mixture.sd[:, axis], *map(np.asarray, ends))


def _rule(
    centre: Float[ndarray, "row component"],
    sd: Float[ndarray, "row component"],
    low: float,
    high: float,
) -> tuple[ndarray, ndarray]:
    """Return nodes and weights over an interval, along the last axis, for components on it."""
    ends = _intervals(centre, sd, low, high)
    middle, half = 0.5 * (ends[..., 1:] + ends[..., :-1]), 0.5 * np.diff(ends)
    offset = half / 3.0**0.5
    return np.concatenate((middle - offset, middle + offset), -1), np.concatenate((half, half), -1)


def _intervals(centre: ndarray, sd: ndarray, low: float, high: float) -> ndarray:
    """Return the ascending ends of intervals that fill [low, high].

    Neighbourhoods of components cut it into stretches of constant rate, intervals a unit; each
    stretch is then cut into intervals of equal length.
    """
    held = np.clip(centre, low, high)
    outside = np.abs(centre - held)
    width = sd / (1.0 + 1.5 * outside / sd)
    reach = width * np.where(outside > 0.0, EXPONENTIAL, GAUSSIAN)
    cuts = np.clip(np.concatenate((held - reach, held + reach), -1), low, high)
    limits = np.broadcast_to(np.array((low, high)), (len(cuts), 2))
    cuts = np.sort(np.concatenate((cuts, limits), -1), -1)
    middle = 0.5 * (cuts[..., 1:] + cuts[..., :-1])
    near = np.abs(middle[..., None] - held[..., None, :]) < reach[..., None, :]
    rate = (near / (STEP * width[..., None, :])).max(-1)
    passed = np.pad((rate * np.diff(cuts)).cumsum(-1), ((0, 0), (1, 0)))
    longest = passed[:, -1].max()
    if not longest < MOST:
        raise ValueError(f"{longest:.3g} intervals along an axis, at most {MOST}")
    share = np.linspace(0.0, 1.0, int(np.ceil(longest)) + 2)
    rows = zip(passed, cuts, strict=True)
    found = np.stack([np.interp(known[-1] * share, known, values) for known, values in rows])
    return np.sort(np.concatenate((found, cuts), -1), -1)
