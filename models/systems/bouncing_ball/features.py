"""What is kept of a drop: ratio of its first two flight times, their distances, the turn between.

With T_i and P_i the times and the places on the plane of the bounces, t_i = T_{i+1} - T_i and
p_i = P_{i+1} - P_i, these are Eqs. 5, 7 and 8 of Matl et al.:

    ratio = t_2 / t_1,   d_1 = |p_1|,   d_2 = |p_2|,   turn = signed angle from p_1 to p_2.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.rows import Rows


@dataclass(frozen=True)
class Features(Rows):
    """What is kept of a drop: Eq. 5 (no unit), Eq. 7 (m, m) and Eq. 8 (rad) of Matl et al."""

    ratio: Float[Tensor, "*batch"]
    first_distance: Float[Tensor, "*batch"]
    second_distance: Float[Tensor, "*batch"]
    turn: Float[Tensor, "*batch"]


def form_features(
    times: Float[Tensor, "*batch bounce"], positions: Float[Tensor, "*batch bounce axis"]
) -> Features:
    """Form the features of the first three bounces (Eqs. 5, 7, 8 of Matl et al.).

    Args:
        times: Times of at least three bounces, s; any origin.
        positions: Their places, m; only the first two coordinates are used.

    Returns:
        The four features. Two bounces detected in the wrong order give a negative ratio.
    """
    first, second = times[..., 1] - times[..., 0], times[..., 2] - times[..., 1]
    steps = positions[..., 1:3, :2] - positions[..., :2, :2]
    (x1, y1), (x2, y2) = steps[..., 0, :].unbind(-1), steps[..., 1, :].unbind(-1)
    turn = torch.atan2(x1 * y2 - x2 * y1, x1 * x2 + y1 * y2)
    return Features(second / first, torch.hypot(x1, y1), torch.hypot(x2, y2), turn)
