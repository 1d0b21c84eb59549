r"""Random Fourier features: numbers whose products are about a kernel's values.

    phi(x) = (cos w_1 x, .., cos w_M x, sin w_1 x, .., sin w_M x) / sqrt(M),
    phi(x) phi(y) -> k(|x - y|) as M grows,

for frequencies w drawn from the kernel's spectral density: a normal law of deviation 1 / length for
the radial basis function exp(-r^2 / 2 length^2), Student's t law of 2 nu degrees of freedom for
Matern's.

Sources: Rahimi and Recht 2007; Rasmussen and Williams 2006, Eqs. 4.9 and 4.14; Heiden et al.,
appendix II-D 2 b.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

SMOOTHNESS = 2.5
"""nu of Matern's kernel."""


@dataclass(frozen=True)
class Features:
    """Frequencies, in radians a unit of the inputs once these are centred and scaled."""

    centre: Float[Tensor, " input"]
    scale: Float[Tensor, " input"]
    frequencies: Float[Tensor, "input frequency"]

    def __call__(self, inputs: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch feature"]:
        """Return the features."""
        phase = (inputs - self.centre) / self.scale @ self.frequencies
        return torch.cat((phase.cos(), phase.sin()), -1) / math.sqrt(self.frequencies.shape[1])


def drawn(
    inputs: Float[Tensor, "case input"],
    *,
    count: int,
    smooth: bool,
    draw: torch.Generator,
    length: float = 1.0,
) -> Features:
    """Return features of inputs like these.

    >>> draw = torch.Generator().manual_seed(0)
    >>> features = drawn(torch.randn(9, 3, generator=draw), count=5, smooth=True, draw=draw)
    >>> features(torch.zeros(2, 3)).shape
    torch.Size([2, 10])

    Args:
        count: Frequencies.
        smooth: Whether the kernel is the radial basis function rather than Matern's.
        length: Of the kernel, over the root of the number of inputs: two cases are about as far
            apart as that.
    """
    size = inputs.shape[1]
    normal = torch.randn(size, count, generator=draw, dtype=inputs.dtype)
    if not smooth:
        freedom = int(2 * SMOOTHNESS)
        chi_square = torch.randn(freedom, count, generator=draw, dtype=inputs.dtype).square().sum(0)
        normal = normal * (freedom / chi_square).sqrt()
    scale = inputs.std(0).clamp(min=1e-9)
    return Features(inputs.mean(0), scale, normal / (length * math.sqrt(size)))
