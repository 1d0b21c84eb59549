"""Mixtures of Gaussians that have no mass outside a box, normalised in closed form.

In coordinates y (Coordinates; or x itself), component k draws one axis after the other, each from a
Gaussian cut to its interval [l_i, u_i], with a mean that is linear in the axes before it:

    y_i | y_<i, k ~ N(c_i, s_ki^2) cut to [l_i, u_i],   c_i = m_ki + sum_{j<i} B_kij (y_j - m_kj)
    q(x) = |dy/dx| sum_k w_k prod_i N(y_i; c_i, s_ki^2) / Z_ki
    Z_ki = Phi((u_i - c_i) / s_ki) - Phi((l_i - c_i) / s_ki)

Away from the bounds this is a mixture of Gaussians with full covariance (unit lower-triangular
factor I + B, as in BayesSim, Ramos et al. 2019); at the bounds it stays exactly normalised in any
dimension, which a truncated joint Gaussian does not without a multivariate integral.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.probability import bijections as coordinate_maps
from ricochet.models.probability.bijections import Coordinates

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class TruncatedMixture:
    """A batch of mixtures; every field broadcasts over the leading axes.

    Attributes:
        log_weights: Log of the weights, normalised over components.
        mean: Centre m of each component in y.
        sd: Conditional standard deviation s in y, positive.
        slope: Strictly lower-triangular regression B of an axis on those before it.
        low: Lower bounds l in y.
        high: Upper bounds u in y.
        coordinates: The map from x to y; None when y = x.
    """

    log_weights: Float[Tensor, "*batch component"]
    mean: Float[Tensor, "*batch component n"]
    sd: Float[Tensor, "*batch component n"]
    slope: Float[Tensor, "*batch component n n"]
    low: Float[Tensor, "*batch n"]
    high: Float[Tensor, "*batch n"]
    coordinates: Coordinates | None = None


@dataclass(frozen=True)
class Nodes:
    """Points with weights that sum to one: expectations under the mixture are weighted sums."""

    points: Float[Tensor, "node *batch n"]
    log_weights: Float[Tensor, " node *batch"]


def log_density(
    mixture: TruncatedMixture, x: Float[Tensor, "*sample n"]
) -> Float[Tensor, "*sample"]:
    """Evaluate the log density.

    Args:
        mixture: The mixture.
        x: Points; the leading axes broadcast against the batch.

    Returns:
        Log density in the units of x; minus infinity outside the box.
    """
    y, log_slope = _to_y(mixture, x)
    inside = ((y >= mixture.low) & (y <= mixture.high)).all(-1)
    held = torch.minimum(torch.maximum(y, mixture.low), mixture.high)[..., None, :]
    centre = mixture.mean + (mixture.slope @ (held - mixture.mean)[..., None])[..., 0]
    total = mixture.log_weights + _log_cut_normal(mixture, held, centre).sum(-1)
    value = torch.logsumexp(total, -1) + log_slope
    return torch.where(inside, value, -math.inf)


def nodes(mixture: TruncatedMixture, *, per_axis: int = 24) -> Nodes:
    """Return the centres of cells of equal probability of every component.

    Args:
        mixture: The mixture.
        per_axis: Number of cells along each axis; a component has this to the power n cells.

    Returns:
        Points in x and their weights; the error of a smooth expectation falls as per_axis^-2.
    """
    dimension, components = mixture.mean.shape[-1], mixture.mean.shape[-2]
    axis = (torch.arange(per_axis, dtype=mixture.mean.dtype) + 0.5) / per_axis
    uniform = torch.cartesian_prod(*[axis] * dimension).reshape(-1, dimension)
    shape = (-1,) + (1,) * (mixture.mean.dim() - 1) + (dimension,)
    y = _inverse_transform(mixture, uniform.reshape(shape))
    y = y.movedim(-2, 0).flatten(0, 1)
    weights = mixture.log_weights.movedim(-1, 0)[:, None] - dimension * math.log(per_axis)
    weights = weights.expand(components, len(uniform), *weights.shape[2:]).flatten(0, 1)
    return Nodes(_to_x(mixture, y), weights)


def sample(
    mixture: TruncatedMixture, count: int, *, draw: torch.Generator
) -> Float[Tensor, "count *batch n"]:
    """Draw points by the inverse of each conditional distribution function.

    Args:
        mixture: The mixture.
        count: Number of points from each mixture of the batch.
        draw: Source of randomness.

    Returns:
        Points in x, all inside the box.
    """
    batch, dimension = mixture.log_weights.shape[:-1], mixture.mean.shape[-1]
    dtype = mixture.mean.dtype
    flat = mixture.log_weights.exp().reshape(-1, mixture.log_weights.shape[-1])
    chosen = torch.multinomial(flat, count, replacement=True, generator=draw)
    index = chosen.mT.reshape(count, *batch, 1, 1)
    uniform = torch.rand((count, *batch, 1, dimension), generator=draw, dtype=dtype)
    picked = TruncatedMixture(
        log_weights=torch.zeros((count, *batch, 1), dtype=dtype),
        mean=mixture.mean.expand(count, *mixture.mean.shape).take_along_dim(index, -2),
        sd=mixture.sd.expand(count, *mixture.sd.shape).take_along_dim(index, -2),
        slope=mixture.slope.expand(count, *mixture.slope.shape).take_along_dim(
            index[..., None], -3
        ),
        low=mixture.low,
        high=mixture.high,
    )
    return _to_x(mixture, _inverse_transform(picked, uniform)[..., 0, :])


def moments(
    mixture: TruncatedMixture, *, per_axis: int = 24
) -> tuple[Float[Tensor, "*batch n"], Float[Tensor, "*batch n n"]]:
    """Return mean and covariance of x by quadrature over `nodes`.

    Args:
        mixture: The mixture.
        per_axis: Number of cells along each axis of a component.

    Returns:
        Mean and covariance, in the units of x and their squares.
    """
    table = nodes(mixture, per_axis=per_axis)
    weights = table.log_weights.exp()[..., None]
    mean = (weights * table.points).sum(0)
    centred = table.points - mean
    covariance = (weights[..., None] * centred[..., :, None] * centred[..., None, :]).sum(0)
    return mean, covariance


def mode(mixture: TruncatedMixture, *, per_axis: int = 24) -> Float[Tensor, "*batch n"]:
    """Return the node of the highest density of x.

    Args:
        mixture: The mixture.
        per_axis: Number of cells along each axis of a component; sets the resolution.

    Returns:
        The peak, in the units of x, to within one cell.
    """
    points = nodes(mixture, per_axis=per_axis).points
    best = log_density(mixture, points).argmax(0, keepdim=True)[..., None]
    return points.take_along_dim(best, 0)[0]


def credibility(
    mixture: TruncatedMixture, x: Float[Tensor, "*batch n"], *, per_axis: int = 24
) -> Float[Tensor, "*batch"]:
    """Return the mass of the smallest region of highest density that holds x.

    Args:
        mixture: The mixture.
        x: One point for each mixture of the batch.
        per_axis: Number of cells along each axis of a component.

    Returns:
        A number in [0, 1]; uniform over draws of x when the mixture is the truth.
    """
    table = nodes(mixture, per_axis=per_axis)
    above = log_density(mixture, table.points) > log_density(mixture, x)
    return (table.log_weights.exp() * above).sum(0)


def marginal_log_density(
    mixture: TruncatedMixture, values: Float[Tensor, "*sample"], *, axis: int, per_axis: int = 24
) -> Float[Tensor, "*sample"]:
    """Evaluate the log density of one axis: closed form for the first, else over `nodes`.

    Axes after the wanted one integrate to one exactly; those before it are averaged over cells.

    Args:
        mixture: The mixture.
        values: Places on that axis, in the units of x; leading axes broadcast against the batch.
        axis: Which axis.
        per_axis: Number of cells along each axis before the wanted one.

    Returns:
        Log density, minus infinity outside the interval.
    """
    cells = (torch.arange(per_axis, dtype=mixture.mean.dtype) + 0.5) / per_axis
    before = (
        torch.cartesian_prod(*[cells] * axis).reshape(-1, axis) if axis else cells.new_zeros(1, 0)
    )
    shape = (len(before),) + (1,) * max(values.dim(), mixture.mean.dim() - 2) + (1, axis)
    earlier = _inverse_transform(_first_axes(mixture, axis), before.reshape(shape))
    y, log_slope = _axis_to_y(mixture, values, axis)
    inside = (y >= mixture.low[..., axis]) & (y <= mixture.high[..., axis])
    shift = mixture.slope[..., axis, :axis] * (earlier - mixture.mean[..., :axis])
    centre = mixture.mean[..., axis] + shift.sum(-1)
    sd, low, high = (
        mixture.sd[..., axis],
        mixture.low[..., axis, None],
        mixture.high[..., axis, None],
    )
    term = _log_normal(y[..., None], centre, sd) - log_mass(
        (low - centre) / sd, (high - centre) / sd
    )
    total = torch.logsumexp(mixture.log_weights + term, -1)
    value = torch.logsumexp(total, 0) - math.log(len(before)) + log_slope
    return torch.where(inside, value, -math.inf)


def log_mass(
    low: Float[Tensor, "*batch"], high: Float[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """Return log(Phi(high) - Phi(low)) of the standard normal, exact far out in either tail.

    Args:
        low: Lower end, in standard deviations.
        high: Upper end, not below the lower.

    Returns:
        Log of the mass between them.
    """
    mirrored = low + high > 0.0
    left = torch.where(mirrored, -high, low)
    right = torch.where(mirrored, -low, high)
    outer, inner = torch.special.log_ndtr(left), torch.special.log_ndtr(right)
    return inner + torch.log(-torch.expm1((outer - inner).clamp(max=-1e-300)))


def _log_normal(y: Tensor, centre: Tensor, sd: Tensor) -> Tensor:
    return -0.5 * ((y - centre) / sd) ** 2 - sd.log() - _LOG_ROOT_TWO_PI


def _log_cut_normal(mixture: TruncatedMixture, y: Tensor, centre: Tensor) -> Tensor:
    """Log density of each axis given those before it, per component."""
    low, high = mixture.low[..., None, :], mixture.high[..., None, :]
    cut = log_mass((low - centre) / mixture.sd, (high - centre) / mixture.sd)
    return _log_normal(y, centre, mixture.sd) - cut


def _inverse_transform(mixture: TruncatedMixture, uniform: Tensor) -> Tensor:
    """Map uniforms (..., component or 1, n) to y, axis by axis."""
    offsets: list[Tensor] = []
    for axis in range(mixture.mean.shape[-1]):
        shift = sum(
            (mixture.slope[..., axis, j] * offset for j, offset in enumerate(offsets)),
            start=torch.zeros((), dtype=mixture.mean.dtype),
        )
        centre, sd = mixture.mean[..., axis] + shift, mixture.sd[..., axis]
        low, high = mixture.low[..., None, axis], mixture.high[..., None, axis]
        z = _cut_normal_quantile((low - centre) / sd, (high - centre) / sd, uniform[..., axis])
        y = torch.minimum(torch.maximum(centre + sd * z, low), high)
        offsets.append(y - mixture.mean[..., axis])
    if not offsets:
        return uniform
    return mixture.mean + torch.stack(torch.broadcast_tensors(*offsets), -1)


def _cut_normal_quantile(low: Tensor, high: Tensor, uniform: Tensor) -> Tensor:
    """Quantile of the standard normal cut to [low, high], in logs so that tails are exact."""
    mirrored = low + high > 0.0
    left, right = torch.where(mirrored, -high, low), torch.where(mirrored, -low, high)
    share = torch.where(mirrored, 1.0 - uniform, uniform)
    outer, inner = torch.special.log_ndtr(left), torch.special.log_ndtr(right)
    ratio = torch.exp(outer - inner)
    target = inner + torch.log(ratio + share * (1.0 - ratio))
    z = _log_normal_quantile(target)
    return torch.where(mirrored, -z, z)


def _log_normal_quantile(log_probability: Tensor) -> Tensor:
    """Solve log Phi(z) = log p by Newton's method from the tail's leading terms."""
    far = (-2.0 * log_probability).clamp(min=2.0)
    tail = -(far - torch.log(2.0 * math.pi * far)).clamp(min=0.0).sqrt()
    z = torch.where(
        log_probability < -20.0,
        tail,
        torch.special.ndtri(log_probability.clamp(-30.0, -1e-16).exp()),
    )
    for _ in range(3):
        value = torch.special.log_ndtr(z)
        rate = torch.exp(-0.5 * z**2 - _LOG_ROOT_TWO_PI - value)
        step = (value - log_probability) / rate
        z = torch.where(log_probability < -20.0, z - step, z)
    return z


def _first_axes(mixture: TruncatedMixture, count: int) -> TruncatedMixture:
    """Keep only the first axes, in y."""
    return TruncatedMixture(
        mixture.log_weights,
        mixture.mean[..., :count],
        mixture.sd[..., :count],
        mixture.slope[..., :count, :count],
        mixture.low[..., :count],
        mixture.high[..., :count],
    )


def _axis_to_y(mixture: TruncatedMixture, values: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    if mixture.coordinates is None:
        return values, torch.zeros_like(values)
    where = Coordinates(
        mixture.coordinates.location[..., axis, None], mixture.coordinates.scale[..., axis, None]
    )
    column = values[..., None]
    y = coordinate_maps.forward(where, column)[..., 0]
    return y, coordinate_maps.log_slope(where, column)


def _to_y(mixture: TruncatedMixture, x: Tensor) -> tuple[Tensor, Tensor]:
    if mixture.coordinates is None:
        return x, torch.zeros(x.shape[:-1], dtype=x.dtype)
    return coordinate_maps.forward(mixture.coordinates, x), coordinate_maps.log_slope(
        mixture.coordinates, x
    )


def _to_x(mixture: TruncatedMixture, y: Tensor) -> Tensor:
    if mixture.coordinates is None:
        return y
    return coordinate_maps.inverse(mixture.coordinates, y)
