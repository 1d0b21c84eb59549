"""The integral of a truncated mixture of two parameters over its box, by nodes that follow it.

In coordinates y Gauss's rule of two nodes is applied to intervals along the first axis and, at each
of their nodes, along the second. An interval is as long as `STEP` times the narrowest component
that is near it:

    N = int dz / (STEP min_k s_k),   over components k with |z - m_k| < r_k s_k

A component whose centre c lies outside the box, at a distance d from the nearest end, is left with
an exponential at that end: there m = end, s = s_k / (1 + 1.5 d / s_k). Where none is near, one
interval bridges the gap. A mixture that is not normalised shows it, whatever made it.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.probability import bijections, boxes, truncated_mixtures
from ricochet.models.probability.boxes import Box
from ricochet.models.probability.truncated_mixtures import TruncatedMixture

STEP = 1.6
GAUSSIAN, EXPONENTIAL = 6.0, 18.0
"""Widths s within which a component is near: beyond, less than 1e-6 of it is left."""
CELLS = 2**21
"""Numbers in memory at once."""
MOST = 2 * 10**7
"""Nodes, times components: some seconds."""


def integral(mixture: TruncatedMixture) -> Float[Tensor, ""]:
    """Return the integral of one mixture, whose fields have no batch axes; right to 1e-3.

    Raises:
        ValueError: Its components are so many and so narrow that this takes too long.

    >>> one = torch.ones(1, 2).double()
    >>> slope = torch.tensor([[[0.0, 0.0], [0.5, 0.0]]]).double()
    >>> cut = TruncatedMixture(0 * one[:, 0], 0 * one, one, slope, -2 * one[0], one[0])
    >>> round(float(integral(cut)), 3)
    1.0
    """
    first, weights = _rule(mixture.mean[:, 0], mixture.sd[:, 0], mixture.low[0], mixture.high[0])
    components = len(mixture.mean)
    rows = max(CELLS // (2 * components * (components + 1)), 1)
    most = MOST // (len(first) * components)
    inner = torch.cat([_along_second(mixture, part, most) for part in first.split(rows)])
    return weights @ inner


def _along_second(mixture: TruncatedMixture, first: Tensor, most: int) -> Tensor:
    """Integrate over the second axis at each value of the first; both in y."""
    shift = mixture.slope[:, 1, 0] * (first[:, None] - mixture.mean[:, 0])
    centre = mixture.mean[:, 1] + shift
    sd = mixture.sd[:, 1].expand_as(centre)
    second, weights = _rule(centre, sd, mixture.low[1], mixture.high[1])
    if second.shape[1] > most:
        raise ValueError(f"{second.shape[1]} nodes along an axis, at most {most}")
    rows = max(CELLS // (second.shape[1] * len(mixture.mean)), 1)
    parts = zip(first.split(rows), second.split(rows), weights.split(rows), strict=True)
    box = _box(mixture)
    return torch.cat([(part * _density(mixture, box, a, b)).sum(-1) for a, b, part in parts])


def _density(mixture: TruncatedMixture, box: Box, first: Tensor, second: Tensor) -> Tensor:
    """Return the density in y at values of the first axis, and several of the second at each."""
    y = torch.stack((first[:, None].expand_as(second), second), -1)
    place = mixture.coordinates
    if place is None:
        return truncated_mixtures.log_density(mixture, y).exp()
    low, high = boxes.bounds(box)
    x = torch.minimum(torch.maximum(bijections.inverse(place, y), low), high)  # but for rounding
    return (truncated_mixtures.log_density(mixture, x) - bijections.log_slope(place, x)).exp()


def _box(mixture: TruncatedMixture) -> Box:
    """Return the box in x, or that in y where a mixture has no coordinates."""
    first, second = mixture.low, mixture.high
    if mixture.coordinates is not None:
        first, second = (bijections.inverse(mixture.coordinates, end) for end in (first, second))
    low, high = torch.minimum(first, second), torch.maximum(first, second)
    return Box(tuple(low.tolist()), tuple(high.tolist()))


def _rule(centre: Tensor, sd: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Return nodes and weights over an interval, along the last axis, for components on it."""
    ends = _intervals(centre, sd, low, high)
    middle, half = 0.5 * (ends[..., 1:] + ends[..., :-1]), 0.5 * ends.diff(dim=-1)
    offset = half / 3.0**0.5
    return torch.cat((middle - offset, middle + offset), -1), torch.cat((half, half), -1)


def _intervals(centre: Tensor, sd: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return the ascending ends of intervals that fill [low, high].

    Neighbourhoods of components cut it into stretches of constant rate, intervals a unit; each
    stretch is then cut into intervals of equal length.
    """
    held = centre.clamp(float(low), float(high))
    outside = (centre - held).abs()
    width = sd / (1.0 + 1.5 * outside / sd)
    reach = width * torch.where(outside > 0.0, EXPONENTIAL, GAUSSIAN)
    limits = torch.stack((low, high)).expand(*centre.shape[:-1], 2)
    cuts = torch.cat((held - reach, held + reach), -1).clamp(float(low), float(high))
    cuts = torch.cat((cuts, limits), -1).sort(-1).values
    middle = 0.5 * (cuts[..., 1:] + cuts[..., :-1])
    near = (middle[..., None] - held[..., None, :]).abs() < reach[..., None, :]
    rate = (near / (STEP * width[..., None, :])).amax(-1)
    passed = torch.nn.functional.pad((rate * cuts.diff(dim=-1)).cumsum(-1), (1, 0))
    count = int(passed[..., -1].max().ceil()) + 2
    wanted = passed[..., -1:] * torch.linspace(0.0, 1.0, count, dtype=centre.dtype)
    return torch.cat((_interpolated(wanted, passed, cuts), cuts), -1).sort(-1).values


def _interpolated(wanted: Tensor, known: Tensor, values: Tensor) -> Tensor:
    """Return values where an ascending quantity has wanted ones, along the last axis."""
    index = torch.searchsorted(known, wanted, right=True).clamp(1, known.shape[-1] - 1)
    before, after = known.gather(-1, index - 1), known.gather(-1, index)
    left, right = values.gather(-1, index - 1), values.gather(-1, index)
    share = ((wanted - before) / (after - before).clamp(min=1e-300)).clamp(0.0, 1.0)
    return left + share * (right - left)
