"""What makes a posterior from recorded motion doubtful, a line each."""

import math

import torch

from ricochet.models.inference import residual_whiteness
from ricochet.models.inference.stein_newton import Posterior

POOR, MIXED, FEW, DEPARTS = 0.3, 1.2, 0.5, 0.5
"""Fit, mixing, share of the starts at the best, and departure from which on something is said."""


def of(posterior: Posterior, doubt: str) -> list[str]:
    """Return, a line each, what makes the posterior doubtful.

    Args:
        doubt: What a poor fit may come from.
    """
    best = float(posterior.fits.min())
    share = float((posterior.fits <= 1.1 * best).double().mean())
    seen = posterior.sigma.shape[-1]
    ratio = (posterior.delta[..., :seen] / posterior.sigma).flatten(0, 1)
    departure = float(torch.quantile(ratio, 0.05, dim=0).max())
    found = []
    if posterior.white < residual_whiteness.WHITE or departure > DEPARTS:
        found.append(
            f"the equations do not hold exactly: the best fit's errors are noise with a chance of"
            f" {posterior.white:.1g}, and states depart from the equations by {departure:.2g} of"
            " the observations' noise or more in each window; the posterior is wider for it"
        )
    if best > POOR:
        found.append(f"the best fit misses by {best:.2f} of the states' deviations: {doubt}")
    if share < FEW:
        found.append(f"{share:.0%} of the starts came to the best fit: there may be a better one")
    mixing = float(posterior.mixing.max())
    if not math.isfinite(mixing):
        found.append("particles did not move at all: no region can be trusted")
    elif mixing > MIXED:
        found.append(f"particles have not mixed ({mixing:.2f}, expected 1)")
    return found
