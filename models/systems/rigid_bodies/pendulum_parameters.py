r"""The eleven parameters of a double pendulum, and what of them its motion can tell.

Body i has the mass m_i, the moment I_i about its centre of mass (x_i, y_i), x along the link, and
the friction d_i of its joint; joint 2 is l away from joint 1. The motion depends on nine
combinations alone,

    a = I_1 + m_1 (x_1^2 + y_1^2) + m_2 l^2,     b = I_2 + m_2 (x_2^2 + y_2^2),
    u = m_1 x_1 + m_2 l,  v = m_1 y_1,  p = m_2 x_2,  q = m_2 y_2,  l,  d_1,  d_2,

and not on a common factor of all but l: eight can be identified, which here are b, u, v, p, q, d_1
and d_2 over a, and l.

Parameters: Heiden et al., Fig. 7a; combinations: ours. Limits: `pendulum_limits`.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.systems.rigid_bodies.pendulum_limits import PARAMETERS

COMBINATIONS = 9
"""a, b, u, v, p, q, l, d_1, d_2."""
_LENGTH = 6


def combinations(theta: Float[Tensor, "*batch 11"]) -> Float[Tensor, "9 ..."]:
    """Return what the motion depends on: a, b, u, v, p, q, l, d_1, d_2.

    >>> rods = torch.tensor([1.0, 0.0, 0.5, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.1])
    >>> combinations(rods.double())
    tensor([12.2500,  0.0000,  6.5000,  0.0000,  0.0000,  0.0000,  2.0000,  0.0000,
             0.1000], dtype=torch.float64)
    """
    m1, i1, x1, y1, d1, length, m2, i2, x2, y2, d2 = theta.unbind(-1)
    return torch.stack(
        (
            i1 + m1 * (x1**2 + y1**2) + m2 * length**2,
            i2 + m2 * (x2**2 + y2**2),
            m1 * x1 + m2 * length,
            m1 * y1,
            m2 * x2,
            m2 * y2,
            length,
            d1,
            d2,
        )
    )


def combinations_by_parameter(theta: Float[Tensor, "*batch 11"]) -> Float[Tensor, "*batch 9 11"]:
    """Return the derivatives of the combinations by the parameters."""
    m1, _, x1, y1, _, length, m2, _, x2, y2, _ = theta.unbind(-1)
    found = theta.new_zeros(*theta.shape[:-1], COMBINATIONS, len(PARAMETERS))
    entries: dict[tuple[int, int], Tensor | float] = {
        (0, 0): x1**2 + y1**2, (0, 1): 1.0, (0, 2): 2.0 * m1 * x1, (0, 3): 2.0 * m1 * y1,
        (0, 5): 2.0 * m2 * length, (0, 6): length**2,
        (1, 6): x2**2 + y2**2, (1, 7): 1.0, (1, 8): 2.0 * m2 * x2, (1, 9): 2.0 * m2 * y2,
        (2, 0): x1, (2, 2): m1, (2, 5): m2, (2, 6): length,
        (3, 0): y1, (3, 3): m1, (4, 6): x2, (4, 8): m2, (5, 6): y2, (5, 9): m2,
        (6, 5): 1.0, (7, 4): 1.0, (8, 10): 1.0,
    }  # fmt: skip
    for (row, column), value in entries.items():
        found[..., row, column] = value
    return found


def identified(
    theta: Float[Tensor, "*batch 11"],
) -> tuple[Float[Tensor, "*batch 8"], Float[Tensor, "*batch 8 11"]]:
    """Return what the motion can tell, and its derivatives by the parameters.

    >>> rods = torch.tensor([1.0, 0.0, 0.5, 0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.1])
    >>> identified(rods)[0]
    tensor([0.0000, 0.5306, 0.0000, 0.0000, 0.0000, 2.0000, 0.0000, 0.0082])
    """
    own = combinations(theta).movedim(0, -1)
    by_own = combinations_by_parameter(theta)
    inertia, by_inertia = own[..., :1], by_own[..., :1, :]
    ratios = own / inertia
    by_ratios = (by_own - ratios[..., None] * by_inertia) / inertia[..., None]
    ratios[..., _LENGTH], by_ratios[..., _LENGTH, :] = own[..., _LENGTH], by_own[..., _LENGTH, :]
    return ratios[..., 1:], by_ratios[..., 1:, :]
