"""Restitution from one microphone: the bounce times of a chain, and nothing else.

Nothing is known of the height, the start speed, the concentration or the timing error, so all are
drawn: simulated chains (`simulator`) with

    log10 kappa ~ U[1, 5],   log10 time_sd ~ U[stated, 1e-3],   height about (g t1 / 2 e)^2 / (2 g),
    e ~ U around a first estimate, inside [0.4, 0.995]

are summarised like the recording, and a small density network in one dimension gives
q(e | summary). The summaries are those of the log ratios l_i = log(t_{i+1} / t_i) of successive
intervals (Eq. 5 of Matl et al.): middle and weighted mean, spread, halves, first interval, number.
The marginal densities of several chains are multiplied. A trend within a chain (beyond what
simulated chains show) and a disagreement between chains are reported and widen the answer instead
of being averaged away. Times alone do not tell concentration: a rough surface and a poor ear spread
the ratios alike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import stats
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.inference import mixture_density_networks
from ricochet.models.inference.mixture_density_networks import Inputs, Training
from ricochet.models.probability import boxes
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.problem import PRIOR

RANGE = (0.4, 0.995)
"""Restitution of balls that keep bouncing."""
_WORST_TIME_SD = 1e-3
_SIMULATIONS = 8_000
_SUSPICIOUS = 0.05  # chance that a perfect ball's recording is called drifting, over all its drops
_TRAINING = Training(components=3, hidden=24, members=1, steps=350, batch=256, rate=1e-2)


@dataclass(frozen=True)
class BareFinding:
    """Something the model of constant restitution does not explain, and the chance of as much."""

    name: str
    sentence: str
    p_value: float
    chains: tuple[int, ...]


@dataclass(frozen=True)
class BareCalibration:
    """What one microphone tells of a ball and a surface.

    Attributes:
        mean: Posterior mean of restitution, no unit.
        sd: Posterior standard deviation, widened by what the findings show.
        region_90: Central 90 % interval.
        ratios: Ratio of successive intervals of each chain.
    """

    mean: float
    sd: float
    region_90: tuple[float, float]
    ratios: tuple[Float[ndarray, " _"], ...]
    findings: tuple[BareFinding, ...]


def listen_times(
    chains: Sequence[Float[ndarray, " _"]],
    time_sd: float = 1e-5,
    *,
    draw: torch.Generator | None = None,
) -> BareCalibration:
    """Infer restitution from the bounce times of one or more drops of the same ball.

    Args:
        chains: Times of each drop's bounces, s, ascending; three or more each.
        time_sd: The stated timing error, s; a lower limit, as echoes and ringing add to it.
        draw: Source of randomness; the same one gives the same answer. Seed 0 when absent.

    Raises:
        ValueError: If there is no chain, or one has fewer than three ascending finite times.
    """
    draw = draw or torch.Generator().manual_seed(0)
    intervals = [_intervals(index, times) for index, times in enumerate(chains)]
    if not intervals:
        raise ValueError("chains: there is none")
    summaries = [_summarise(torch.from_numpy(row)[None]) for row in intervals]
    centres = np.array([math.exp(float(one[0, 0])) for one in summaries])
    box = _window(centres, min(len(row) for row in intervals))
    share = max(1500, _SIMULATIONS // len(intervals))
    simulated = [_simulate(row, box, max(time_sd, 1e-7), share, draw) for row in intervals]
    density = _learn(simulated, box, draw)
    axis = boxes.axes(box, (4000,))[0]
    rows = [density.log_density(axis[:, None, None], _inputs(one))[:, 0] for one in summaries]
    alarm = _SUSPICIOUS / len(intervals)
    found = [_drift(i, row, simulated[i][1], alarm) for i, row in enumerate(intervals)]
    found.append(_disagreement(rows, axis))
    findings = tuple(finding for finding, _ in found if finding)
    extra = max(width for _, width in found)
    return _answer(axis, torch.stack(rows).sum(0), extra, intervals, findings)


def _intervals(index: int, times: Float[ndarray, " bounce"]) -> Float[ndarray, " interval"]:
    values = np.asarray(times, dtype=np.float64)
    lengths = np.diff(values)
    if len(values) < 3 or not np.isfinite(values).all() or not (lengths > 0.0).all():
        raise ValueError(f"chains[{index}]: need three or more ascending times, got {len(values)}")
    return lengths


def _window(centres: Float[ndarray, " chain"], shortest: int) -> Box:
    """Return where restitution is looked for: wide for short chains, which say little."""
    reach = 0.05 + 0.3 / shortest
    low = min(max(RANGE[0], float(centres.min()) - reach), RANGE[1] - 0.1)
    high = max(min(RANGE[1], float(centres.max()) + reach), RANGE[0] + 0.1)
    return Box((low,), (high,))


def _learn(
    simulated: list[tuple[Tensor, Tensor]], box: Box, draw: torch.Generator
) -> mixture_density_networks.ConditionalDensity:
    """Fit the density of restitution to simulated chains of the recording's lengths."""
    theta = torch.cat([restitution for restitution, _ in simulated])
    inputs = _inputs(torch.cat([_summarise(lengths) for _, lengths in simulated]))
    return mixture_density_networks.fit(
        theta, inputs, box=box, training=_TRAINING, draw=draw
    ).density


def _simulate(
    row: Float[ndarray, " interval"], box: Box, time_sd: float, count: int, draw: torch.Generator
) -> tuple[Float[Tensor, "case 1"], Float[Tensor, "case interval"]]:
    """Draw chains with as many bounces as the recorded one and about its first interval."""
    theta = boxes.sample(box, (count,), draw=draw)
    restitution = theta[:, 0]
    uniform = torch.rand((3, count), generator=draw, dtype=torch.float64)
    kappa = 10.0 ** (PRIOR.low[1] + (PRIOR.high[1] - PRIOR.low[1]) * uniform[0])
    start = math.log(time_sd)
    jitter = (start + max(0.0, math.log(_WORST_TIME_SD) - start) * uniform[1]).exp()
    fall = 0.5 * GRAVITY * row[0] / restitution
    height = fall**2 / (2.0 * GRAVITY) * (1.2 * (uniform[2] - 0.5)).exp()
    bounces = simulator.simulate(
        restitution, kappa, bounces=len(row) + 1, drop_height=height, draw=draw
    )
    noise = torch.randn(bounces.times.shape, generator=draw, dtype=torch.float64)
    times = bounces.times + jitter[:, None] * noise
    return theta, times.diff(dim=-1).clamp(min=1e-6)


def _summarise(lengths: Float[Tensor, "case interval"]) -> Float[Tensor, "case summary"]:
    """Summarise intervals; the first column estimates log restitution, the second its error."""
    ratios = (lengths[:, 1:] / lengths[:, :-1]).log()
    count = ratios.shape[1]
    half = max(1, count // 2)
    early, late = ratios[:, :half], ratios[:, -half:]
    weights = (lengths[:, :-1] / lengths[:, :1]).clamp(max=2.0) ** 2
    centre = _middle_mean(ratios)
    spread = _spread(ratios)
    first = (ratios * weights).sum(1) / weights.sum(1)
    columns = (
        centre,
        (spread + 1e-5).log() - 0.5 * math.log(count),
        first - centre,
        early.mean(1) - centre,
        late.mean(1) - centre,
        (_spread(early) + 1e-5).log(),
        (_spread(late) + 1e-5).log(),
        _neighbours(ratios),
        ratios[:, 0] - centre,
        lengths[:, 0].log(),
        torch.full_like(centre, math.log(count)),
    )
    return torch.stack(columns, 1)


def _middle_mean(values: Float[Tensor, "case ratio"]) -> Float[Tensor, " case"]:
    """Return the mean of the middle half, which a missed bounce or a false alarm does not move."""
    count = values.shape[1]
    cut = count // 4
    return values.sort(1).values[:, cut : count - cut].mean(1)


def _spread(values: Float[Tensor, "case ratio"]) -> Float[Tensor, " case"]:
    middle = values.median(1, keepdim=True).values
    return 1.4826 * (values - middle).abs().median(1).values


def _neighbours(values: Float[Tensor, "case ratio"]) -> Float[Tensor, " case"]:
    """Return the correlation of neighbours: -1/2 when timing errors make the spread."""
    if values.shape[1] < 3:
        return torch.zeros(len(values), dtype=values.dtype)
    centred = values - values.mean(1, keepdim=True)
    return (centred[:, 1:] * centred[:, :-1]).sum(1) / ((centred**2).sum(1) + 1e-12)


def _inputs(summary: Float[Tensor, "case summary"]) -> Inputs:
    location = summary[:, :1].exp()
    scale = (location * summary[:, 1:2].exp()).clamp(min=2e-4)
    return Inputs(summary.clamp(-20.0, 20.0), Coordinates(location, scale))


def _trend(lengths: Float[Tensor, "case interval"]) -> Float[Tensor, " case"]:
    """Return Kendall's rank correlation of ratio and number, pairs weighted by their intervals.

    Ranks, because a single bounce detected late makes two odd ratios; weights, because timing
    errors make late ratios noisy.
    """
    ratios, weights = lengths[:, 1:] / lengths[:, :-1], lengths[:, :-1] / lengths[:, :1]
    order = torch.zeros(len(lengths), dtype=lengths.dtype)
    total = torch.zeros_like(order)
    for gap in range(1, ratios.shape[1]):
        pair = weights[:, gap:] * weights[:, :-gap]
        order += (pair * torch.sign(ratios[:, gap:] - ratios[:, :-gap])).sum(1)
        total += pair.sum(1)
    return order / total


def _fitted_ends(row: Float[ndarray, " interval"]) -> tuple[float, float]:
    """Return a weighted straight line's ratio at the first bounce and where a third is left."""
    ratios, weights = row[1:] / row[:-1], row[:-1] / row[0]
    number = np.arange(len(ratios))
    slope, level = np.polyfit(number, ratios, 1, w=weights)
    last = number[weights > 1.0 / 3.0].max()
    return float(level), float(level + slope * last)


def _drift(
    index: int,
    row: Float[ndarray, " interval"],
    simulated: Float[Tensor, "case interval"],
    alarm: float,
) -> tuple[BareFinding | None, float]:
    """Compare the trend of the ratios with that of simulated chains; return the extra sd."""
    if len(row) < 7:
        return None, 0.0
    score = abs(float(_trend(torch.from_numpy(row)[None])[0]))
    replicated = _trend(simulated).abs()
    p_value = (1.0 + float((replicated >= score).sum())) / (1.0 + len(replicated))
    if p_value >= alarm:
        return None, 0.0
    start, end = _fitted_ends(row)
    sentence = (
        f"The ratio of intervals drifts from {start:.4f} to {end:.4f} within a drop: restitution "
        "depends on speed, or air drag matters; one number is an average."
    )
    return BareFinding("drift", sentence, p_value, (index,)), abs(end - start) / math.sqrt(12.0)


def _disagreement(
    rows: list[Float[Tensor, " point"]], axis: Float[Tensor, " point"]
) -> tuple[BareFinding | None, float]:
    """Test whether the chains' posteriors may share one restitution (chi square of the means)."""
    if len(rows) < 2:
        return None, 0.0
    weights = torch.stack(rows).softmax(1)
    means = (weights * axis).sum(1)
    variances = (weights * (axis - means[:, None]) ** 2).sum(1)
    pooled = (means / variances).sum() / (1.0 / variances).sum()
    statistic = float(((means - pooled) ** 2 / variances).sum())
    p_value = float(stats.chi2.sf(statistic, len(rows) - 1))
    if not p_value < _SUSPICIOUS:
        return None, 0.0
    sentence = (
        f"The {len(rows)} drops give restitutions from {float(means.min()):.4f} to "
        f"{float(means.max()):.4f}, more apart than their errors allow."
    )
    chains = tuple(range(len(rows)))
    return BareFinding("disagreement", sentence, p_value, chains), float(means.std())


def _answer(
    axis: Float[Tensor, " point"],
    log_density: Float[Tensor, " point"],
    extra: float,
    intervals: list[Float[ndarray, " _"]],
    findings: tuple[BareFinding, ...],
) -> BareCalibration:
    """Summarise the density on the grid, widened by the extra standard deviation."""
    weights = log_density.softmax(0)
    if extra > 0.0:
        kernel = (-0.5 * ((axis[:, None] - axis) / extra) ** 2).softmax(0)
        weights = kernel @ weights
    mean = float((weights * axis).sum())
    sd = float((weights * (axis - mean) ** 2).sum().sqrt())
    places = torch.searchsorted(weights.cumsum(0), torch.tensor([0.05, 0.95], dtype=axis.dtype))
    low, high = axis[places.clamp(max=len(axis) - 1)].tolist()
    ratios = tuple(row[1:] / row[:-1] for row in intervals)
    return BareCalibration(mean, sd, (low, high), ratios, findings)
