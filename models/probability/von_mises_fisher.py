"""The von Mises-Fisher law on the sphere in three dimensions.

    f(x; mu, k) = k / (2 pi (e^k - e^-k)) * exp(k mu.x)          (STReSSD, section 3.2)

The fall c = 1 - mu.x has a closed inverse distribution function, so a draw needs no rejection,

    c = -log(1 - u (1 - e^{-2k})) / k,      u uniform on [0, 1),

and the azimuth about mu is uniform. Written in c, nothing cancels at small k or at large k, and
k = inf gives c = 0: the mean direction itself. With the azimuth a, s^2 = c (2 - c) and
(p, q) = s (cos a, sin a), the draw about the pole (0, 0, 1) is (p, q, 1 - c). Turning the nearer
pole, (0, 0, +-1), to a vector v of length L along the shortest arc takes the draw, times L, to

    (vx t + L p,  vy t + L q,  vz (1 - c) -+ d),    d = vx p + vy q,    t = 1 - c - d / (L + |vz|).
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor


def redirect(
    vector: Float[Tensor, " 3 *batch"],
    concentration: Float[Tensor, "*batch"],
    *,
    draw: torch.Generator,
) -> Float[Tensor, " 3 *batch"]:
    """Draw directions about those of the vectors, which keep their lengths; k may be infinite.

    Components lead, so that each lies whole in memory. Concentrations are not checked here.

    >>> down = torch.tensor([[0.0, 0.0], [0.0, 0.0], [-2.0, -2.0]])
    >>> k = torch.tensor([100.0, torch.inf])
    >>> drawn = redirect(down, k, draw=torch.Generator().manual_seed(0))
    >>> drawn.norm(dim=0).tolist(), drawn[:, 1].tolist()
    ([2.0, 2.0], [0.0, 0.0, -2.0])
    """
    x, y, z = vector
    length = (x * x).addcmul_(y, y).addcmul_(z, z).sqrt_()  # vector_norm is 20 times slower here
    fall = _draw_fall(concentration, draw)
    azimuth = torch.rand(fall.shape, generator=draw, dtype=fall.dtype, device=fall.device)
    azimuth.mul_(2.0 * math.pi)
    side = torch.sqrt(fall * (2.0 - fall))
    first = torch.cos(azimuth).mul_(side)
    second = azimuth.sin_().mul_(side)
    cosine = fall.neg_().add_(1.0)
    across = (x * first).addcmul_(y, second)
    stretch = torch.addcdiv(cosine, across, z.abs().add_(length), value=-1.0)
    redirected = torch.empty_like(vector)
    torch.addcmul(x * stretch, length, first, out=redirected[0])
    torch.addcmul(y * stretch, length, second, out=redirected[1])
    torch.sub(z * cosine, torch.copysign(across, across * z), out=redirected[2])
    return redirected


def log_density(
    fall: Float[Tensor, "*#batch"], concentration: Float[Tensor, "*#batch"]
) -> Float[Tensor, "..."]:
    """Return log f of a direction with c = 1 - mu.x, per steradian.

    >>> uniform = log_density(torch.tensor(0.7), torch.tensor(1e-6))
    >>> round(float(uniform.exp() * 4.0 * math.pi), 5)
    1.0
    """
    peak = torch.log(concentration / (2 * math.pi)) - torch.log(-torch.expm1(-2 * concentration))
    return peak - concentration * fall


def redirect_few(
    vector: Float[ndarray, " 3 batch"],
    concentration: Float[ndarray, " batch"],
    *,
    draw: np.random.Generator,
) -> Float[ndarray, " 3 batch"]:
    """Do what `redirect` does, for some hundreds of vectors: numpy's calls cost half of torch's.

    >>> up = np.array([[0.0], [0.0], [3.0]])
    >>> drawn = redirect_few(up, np.array([50.0]), draw=np.random.default_rng(0))
    >>> round(float(np.linalg.norm(drawn)), 9)
    3.0
    """
    x, y, z = vector
    uniform, turn = draw.random((2, len(z)))
    length = np.sqrt(x * x + y * y + z * z)
    fall = -np.log1p(uniform * np.expm1(-2.0 * concentration)) / concentration
    side, azimuth, cosine = np.sqrt(fall * (2.0 - fall)), 2.0 * math.pi * turn, 1.0 - fall
    first, second = side * np.cos(azimuth), side * np.sin(azimuth)
    across = x * first + y * second
    stretch = cosine - across / (length + np.abs(z))
    turned = z * cosine - np.copysign(across, across * z)
    return np.stack((x * stretch + length * first, y * stretch + length * second, turned))


def _draw_fall(
    concentration: Float[Tensor, "*batch"], draw: torch.Generator
) -> Float[Tensor, "*batch"]:
    """Draw c = 1 - mu.x by its inverse distribution function."""
    uniform = torch.rand(
        concentration.shape,
        generator=draw,
        dtype=concentration.dtype,
        device=concentration.device,
    )
    lost = torch.expm1(-2.0 * concentration)
    return uniform.mul_(lost).log1p_().div_(concentration).neg_()
