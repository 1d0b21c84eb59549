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

from ricochet.models.probability import bijections, truncated_normals
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.mixture_arrays import LOG_ROOT_TWO_PI


@dataclass(frozen=True)
class TruncatedMixture:
    """A batch of mixtures; every field broadcasts over the leading axes.

    Attributes:
        log_weights: Log of the weights w, normalised over components.
        mean: Centre m of each component in y.
        sd: Conditional standard deviation s in y, positive.
        slope: Strictly lower-triangular regression B of an axis on those before it.
        low, high: Bounds l and u in y.
        coordinates: The map from x to y; None when y = x.
    """

    log_weights: Float[Tensor, "*#batch component"]
    mean: Float[Tensor, "*#batch component n"]
    sd: Float[Tensor, "*#batch component n"]
    slope: Float[Tensor, "*#batch component n n"]
    low: Float[Tensor, "*#batch n"]
    high: Float[Tensor, "*#batch n"]
    coordinates: Coordinates | None = None


@dataclass(frozen=True)
class Nodes:
    """Points with weights that sum to one: expectations under the mixture are weighted sums."""

    points: Float[Tensor, "node *#batch n"]
    log_weights: Float[Tensor, "node *#batch"]


def log_density(
    mixture: TruncatedMixture, x: Float[Tensor, "*#sample n"]
) -> Float[Tensor, "*#sample"]:
    """Return the log density in the units of x, minus infinity outside the box.

    >>> one, box = torch.ones(1, 1).double(), torch.tensor([2.0]).double()
    >>> cut = TruncatedMixture(0 * one[0], 0 * one, one, 0 * one[None], -box, box)
    >>> log_density(cut, torch.tensor([[0.0], [1.0], [2.1]])).numpy().round(3)
    array([-0.872, -1.372,   -inf])
    """
    y, log_slope = _to_y(mixture, x)
    inside = ((y >= mixture.low) & (y <= mixture.high)).all(-1)
    held = torch.minimum(torch.maximum(y, mixture.low), mixture.high)[..., None, :]
    centre = mixture.mean + (mixture.slope @ (held - mixture.mean)[..., None])[..., 0]
    total = mixture.log_weights + _log_cut_normal(mixture, held, centre).sum(-1)
    value = torch.logsumexp(total, -1) + log_slope
    return torch.where(inside, value, -math.inf)


def nodes(mixture: TruncatedMixture, *, per_axis: int = 24) -> Nodes:
    """Return the centres of equally probable cells, `per_axis` along each axis, of every component.

    The error of a smooth expectation over them falls as per_axis^-2.

    >>> one, box = torch.ones(1, 1).double(), torch.tensor([2.0]).double()
    >>> cut = TruncatedMixture(0 * one[0], 0 * one, one, 0 * one[None], -box, box)
    >>> nodes(cut, per_axis=4).points.ravel().numpy().round(3)
    array([-1.071, -0.304,  0.304,  1.071])
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
    """Draw points in x from each mixture by the inverse of each conditional distribution function.

    >>> one, box = torch.ones(1, 1).double(), torch.tensor([2.0]).double()
    >>> cut = TruncatedMixture(0 * one[0], 0 * one, one, 0 * one[None], -box, box)
    >>> points = sample(cut, 500, draw=torch.Generator().manual_seed(0))
    >>> tuple(points.shape), bool((points.abs() <= 2.0).all())
    ((500, 1), True)
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
    """Return mean and covariance of x by quadrature over `nodes`, in the units of x and squared.

    >>> one, box = torch.ones(1, 1).double(), torch.tensor([2.0]).double()
    >>> cut = TruncatedMixture(0 * one[0], 0 * one, one, 0 * one[None], -box, box)
    >>> mean, covariance = moments(cut, per_axis=400)
    >>> round(float(mean), 3), round(float(covariance), 3)
    (0.0, 0.774)
    """
    table = nodes(mixture, per_axis=per_axis)
    weights = table.log_weights.exp()[..., None]
    mean = (weights * table.points).sum(0)
    centred = table.points - mean
    covariance = (weights[..., None] * centred[..., :, None] * centred[..., None, :]).sum(0)
    return mean, covariance


def _log_normal(y: Tensor, centre: Tensor, sd: Tensor) -> Tensor:
    return -0.5 * ((y - centre) / sd) ** 2 - sd.log() - LOG_ROOT_TWO_PI


def _log_cut_normal(mixture: TruncatedMixture, y: Tensor, centre: Tensor) -> Tensor:
    """Return the log density of each axis given those before it, per component."""
    low, high = mixture.low[..., None, :], mixture.high[..., None, :]
    cut = truncated_normals.log_mass((low - centre) / mixture.sd, (high - centre) / mixture.sd)
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
        z = truncated_normals.quantile(
            (low - centre) / sd, (high - centre) / sd, uniform[..., axis]
        )
        y = torch.minimum(torch.maximum(centre + sd * z, low), high)
        offsets.append(y - mixture.mean[..., axis])
    return mixture.mean + torch.stack(torch.broadcast_tensors(*offsets), -1)


def _to_y(mixture: TruncatedMixture, x: Tensor) -> tuple[Tensor, Tensor]:
    if mixture.coordinates is None:
        return x, torch.zeros(x.shape[:-1], dtype=x.dtype)
    return bijections.forward(mixture.coordinates, x), bijections.log_slope(mixture.coordinates, x)


def _to_x(mixture: TruncatedMixture, y: Tensor) -> Tensor:
    if mixture.coordinates is None:
        return y
    return bijections.inverse(mixture.coordinates, y)
