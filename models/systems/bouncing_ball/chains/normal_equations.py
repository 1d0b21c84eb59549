"""The normal equations of many takes and the errors they share: an arrow of blocks.

With J_x and J_f the derivatives of a take's residuals r by its own path x and by the shared errors
f, a step (dx, df) solves

    J_x' J_x dx + J_x' J_f df = J_x' r + p,  sum (J_f' J_x dx + J_f' J_f df) + df = sum J_f' r + f,

p being the pull of what is no square.

The paths are eliminated first, take by take, which costs the cube of a take's length: with the
Cholesky factor L L' = J_x' J_x and Y = L^-1 (J_x' r + p, J_x' J_f), what they take from the other
equations are products of Y. On the right hand side of the errors stands, too, by how much they
stretch the places (`laplace`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import least_squares
from ricochet.models.systems.bouncing_ball.chains.least_squares import Group, Problem


@dataclass(frozen=True)
class Arrow:
    """A group's blocks of the normal equations, the paths' block factored.

    Attributes:
        factor: L; not a number where a block is not positive definite.
        columns: Y.
    """

    factor: Float[ndarray, "point take path path"]
    columns: Float[ndarray, "point take path column"]

    @property
    def gain(self) -> Float[ndarray, "point take"]:
        """By how much a step of the paths alone lowers half the squares."""
        return np.asarray(0.5 * (self.columns[..., 0] ** 2).sum(-1))

    @property
    def half_log_determinant(self) -> Float[ndarray, "point take"]:
        """Half of the paths' block."""
        return np.asarray(np.log(np.diagonal(self.factor, axis1=-2, axis2=-1)).sum(-1))

    @property
    def covariance(self) -> Float[ndarray, "point take path path"]:
        """Inverse of the paths' block."""
        return torch.cholesky_inverse(torch.from_numpy(self.factor)).numpy()

    def step(self, change: Float[ndarray, "point take error"]) -> Float[ndarray, "point take path"]:
        """Return the step of the paths that goes with one of the shared errors."""
        left = self.columns[..., :1] - self.columns[..., 1:] @ change[..., None]
        factor = torch.from_numpy(self.factor).mT
        solved = torch.linalg.solve_triangular(factor, torch.from_numpy(left), upper=True)
        return solved[..., 0].numpy()


@dataclass(frozen=True)
class Reduced:
    """The equations of the shared errors, the paths eliminated, and their solution."""

    block: Float[ndarray, "point session error error"]
    gradient: Float[ndarray, "point session error"]
    change: Float[ndarray, "point session error"]

    @property
    def gain(self) -> Float[ndarray, "point session"]:
        """By how much the step lowers half the squares, beside what paths alone do."""
        return np.asarray(0.5 * (self.gradient * self.change).sum(-1))


def arrow(problem: Problem, damping: Float[ndarray, "point take"] | None = None) -> Arrow:
    """Factor the paths' block, its diagonal raised by a share if damped (Marquardt's rule)."""
    by_path = problem.by_path.swapaxes(-1, -2)
    hessian, right = by_path @ problem.by_path, by_path @ problem.columns
    right[..., 0] += problem.pull
    if damping is not None:
        diagonal = np.arange(hessian.shape[-1])
        hessian[..., diagonal, diagonal] *= 1.0 + damping[..., None]
    factor, failed = torch.linalg.cholesky_ex(torch.from_numpy(hessian))
    factor[failed > 0] = torch.nan
    found = torch.linalg.solve_triangular(factor, torch.from_numpy(right), upper=False)
    return Arrow(factor.contiguous().numpy(), found.contiguous().numpy())


def reduced(
    groups: Sequence[Group], problems: Sequence[Problem], arrows: Sequence[Arrow], shared: ndarray
) -> Reduced:
    """Eliminate the paths, and solve for the shared errors."""
    parts = [
        problem.columns.swapaxes(-1, -2) @ problem.columns
        - each.columns.swapaxes(-1, -2) @ each.columns
        for problem, each in zip(problems, arrows, strict=True)
    ]
    for part, problem in zip(parts, problems, strict=True):
        part[..., 1 : 1 + problem.pull_shared.shape[-1], 0] += problem.pull_shared
    sessions, errors = shared.shape[1:]
    total = by_session(groups, parts, sessions)
    pull, bend = stretched(groups, shared)
    block, gradient = total[..., 1:, 1:] + np.eye(errors) + bend, total[..., 1:, 0] + shared + pull
    return Reduced(block, gradient, np.linalg.solve(block, gradient[..., None])[..., 0])


def stretch_cost(
    groups: Sequence[Group], shared: Float[ndarray, "point session error"]
) -> Float[ndarray, "point session"]:
    """Return minus the log of how shared errors stretch the places that decide paths."""
    parts = [
        -(group.decided * np.log(least_squares.areas(group.chains, own)[0])).sum(-1)
        for group, own in zip(groups, _own(groups, shared), strict=True)
    ]
    return by_session(groups, parts, shared.shape[1])


def stretched(
    groups: Sequence[Group], shared: Float[ndarray, "point session error"]
) -> tuple[Float[ndarray, "point session error"], Float[ndarray, "point session error error"]]:
    """Return gradient and curvature of `stretch_cost`."""
    pulls, bends = [], []
    for group, own in zip(groups, _own(groups, shared), strict=True):
        area, by = least_squares.areas(group.chains, own)
        relative = by / area[..., None]
        pulls.append(-np.einsum("tb,ptbe->pte", group.decided, relative))
        bends.append(np.einsum("tb,ptbe,ptbf->ptef", group.decided, relative, relative))
    sessions = shared.shape[1]
    return by_session(groups, pulls, sessions), by_session(groups, bends, sessions)


def _own(groups: Sequence[Group], shared: ndarray) -> list[Float[ndarray, "point take error"]]:
    return [shared[:, group.chains.session] for group in groups]


def by_session(
    groups: Sequence[Group], parts: Sequence[ndarray], sessions: int
) -> Float[ndarray, "point session *rest"]:
    """Sum what belongs to takes over those of each session."""
    if sessions == 1:
        return np.asarray(sum(part.sum(1, keepdims=True) for part in parts))
    total = np.zeros((len(parts[0]), sessions, *parts[0].shape[2:]))
    for group, part in zip(groups, parts, strict=True):
        order = np.argsort(group.chains.session, kind="stable")
        present, first = np.unique(group.chains.session[order], return_index=True)
        total[:, present] += np.add.reduceat(part[:, order], first, axis=1)
    return total
