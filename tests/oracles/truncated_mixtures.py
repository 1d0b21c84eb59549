"""How large a region of highest density must be to hold a point, for tests alone."""

import torch

from ricochet.models.probability import truncated_mixtures
from ricochet.models.probability.truncated_mixtures import TruncatedMixture


def credibility(mixture: TruncatedMixture, x: torch.Tensor, *, per_axis: int = 24) -> torch.Tensor:
    """Return the mass of the smallest region of highest density that holds x.

    It is uniform on [0, 1] over draws of x when the mixture is the truth.
    """
    table = truncated_mixtures.nodes(mixture, per_axis=per_axis)
    above = truncated_mixtures.log_density(mixture, table.points)
    above = above > truncated_mixtures.log_density(mixture, x)
    return (table.log_weights.exp() * above).sum(0)
