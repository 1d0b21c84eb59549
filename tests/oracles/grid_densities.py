"""How large a region of highest density must be to hold a point, for tests alone."""

import numpy as np

from ricochet.models.inference.grid_densities import GridDensity


def content_above(density: GridDensity, theta: np.ndarray) -> float:
    """Return the mass where the density exceeds its value at theta.

    Theta lies in the highest-density region of level q exactly when this is at most q.
    """
    level = density.log_density_at(theta[None])[0]
    return float(min(1.0, density.weights[density.log_density > level].sum()))
