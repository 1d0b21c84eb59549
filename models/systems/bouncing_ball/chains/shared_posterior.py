"""The errors that a session's takes share, after the takes: mean and covariance.

Given the parameters theta they are normal about their most likely values (`laplace`); draws of
theta add how those values move with theta, as the tilt does with the loss along the surface:

    Cov f = Cov(f | peak) + Cov over theta of E(f | theta).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import laplace, parameters, preparation
from ricochet.models.systems.bouncing_ball.chains.observations import Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from ricochet.models.systems.bouncing_ball.chains.posterior import Member

_DRAWS = 64


def moments(
    member: Member, *, draw: np.random.Generator
) -> tuple[Float[ndarray, "session error"], Float[ndarray, "session error error"]]:
    """Return mean and covariance of each session's errors, in units of their prior deviations."""
    theta = member.sample(_DRAWS, draw=draw)
    values = parameters.values(theta)
    found = laplace.evidence(member.groups, values, member.paths.repeated(_DRAWS)).paths.shared
    mean = found.mean(0)
    away = found - mean
    between = np.einsum("dsi,dsj->sij", away, away) / (_DRAWS - 1)
    return mean, between + laplace.shared_covariance(member.groups, member.peak, member.paths)


def most_likely(
    chains: Sequence[Chains], prior: Prior, point: Float[ndarray, " parameter"]
) -> Float[ndarray, "session error"]:
    """Return the most likely errors at one point."""
    values = parameters.values(point[None])
    groups, paths = preparation.prepare(chains, prior.law, values)
    return laplace.evidence(groups, values, paths).paths.shared[0]
