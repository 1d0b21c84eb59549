"""The least-squares fit by the optimiser of `mujoco.sysid`, of our simulator, and its intervals.

The residuals are those of single shooting over sigma; the law about the best fit is the normal one
of `calculate_intervals`, cut off at the limits. There is one fit, from the middle of the limits
moved a little: exactly there both weights are alike, and no slope leads apart.

Source: MuJoCo 4.0, `mujoco.sysid`.
"""

import contextlib
import io

import numpy as np
import torch
from jaxtyping import Float
from mujoco import sysid
from numpy import ndarray
from torch import Tensor

from ricochet.tasks.systems.rigid_bodies.studies.methods import Problem

ABSENT = "its packages are not installed; pip install 'ricochet-lab[compare]' adds them"
_APART, _MOST = 0.2, 40


def present() -> bool:
    """Return whether `mujoco.sysid` is whole: without its packages its import leaves nothing."""
    return hasattr(sysid, "optimize")


def least_squares(
    problem: Problem, count: int, draw: np.random.Generator
) -> Float[Tensor, "{count} parameter"]:
    """Return draws of the normal law about the best fit.

    Args:
        problem: By single shooting, of one trajectory.
    """
    density, size = problem.density, problem.parameters
    limits = problem.coordinates.limits

    def residuals(shares: Float[ndarray, "parameter place"]) -> ndarray:
        shot = density.at(torch.from_numpy(shares.reshape(size, -1).T.copy()))
        return (shot.residuals.flatten(1) / problem.sigma).nan_to_num(1e6).numpy()

    names = [str(number) for number in range(size)]
    begun = 0.5 + _APART * draw.uniform(-1.0, 1.0, size)
    parameters = sysid.ParameterDict(
        {name: sysid.Parameter(name, at, 0.0, 1.0) for name, at in zip(names, begun, strict=True)}
    )

    def batch(shares: ndarray, _: sysid.ParameterDict) -> tuple[list[ndarray], None, None]:
        found = residuals(shares)
        return [found[0] if shares.ndim == 1 else found.T], None, None

    with contextlib.redirect_stdout(io.StringIO()):  # a table of every step
        _, result = sysid.optimize(parameters, batch, verbose=False, max_iters=_MOST)
    best = np.clip(np.ravel(result.x), 0.0, 1.0)
    at_best = residuals(best)
    covariance, _ = sysid.calculate_intervals([at_best[0]], np.asarray(result.jac))
    width = np.nan_to_num(covariance, nan=1.0, posinf=1.0, neginf=0.0)
    drawn = draw.multivariate_normal(best, width, size=count, check_valid="ignore")
    share = torch.from_numpy(np.clip(drawn, 0.0, 1.0))
    return limits.low + share * (limits.high - limits.low)
