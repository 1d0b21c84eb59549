"""The normal equations of many takes and the errors they share: an arrow of blocks.

With J_x and J_f the derivatives of a take's residuals r by its own path x and by the shared errors
f, a step (dx, df) solves

    J_x' J_x dx + J_x' J_f df = J_x' r,      sum (J_f' J_x dx + J_f' J_f df) + df = sum J_f' r + f.

The paths are eliminated first, take by take, which costs the cube of a take's length; what is left
for f is their Schur complement.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains.least_squares import Group, Problem


@dataclass(frozen=True)
class Arrow:
    """A group's blocks of the normal equations: what shared errors do to its paths, solved.

    Attributes:
        solved: Inverse of the paths' block, times its gradient and times `by_shared`.
    """

    gradient: ndarray
    by_shared: ndarray
    solved: ndarray

    @property
    def schur(self) -> ndarray:
        """What the paths take from the shared errors' block."""
        return np.asarray(self.by_shared.swapaxes(-1, -2) @ self.solved[..., 1:])

    @property
    def schur_gradient(self) -> ndarray:
        """What they take from its gradient."""
        return np.asarray((self.by_shared.swapaxes(-1, -2) @ self.solved[..., :1])[..., 0])


def hessian_of(problem: Problem) -> Float[ndarray, "point take path path"]:
    """Return the paths' block J_x' J_x."""
    return np.asarray(problem.by_path.swapaxes(-1, -2) @ problem.by_path)


def _right(problem: Problem) -> Float[ndarray, "point take path column"]:
    columns = np.concatenate((problem.residual[..., None], problem.by_shared), -1)
    return np.asarray(problem.by_path.swapaxes(-1, -2) @ columns)


def damped(problem: Problem, damping: Float[ndarray, "point take"]) -> Arrow:
    """Solve with the diagonal of the paths' block raised by a share (Marquardt's rule)."""
    hessian, right = hessian_of(problem), _right(problem)
    diagonal = np.arange(hessian.shape[-1])
    hessian[..., diagonal, diagonal] *= 1.0 + damping[..., None]
    return Arrow(right[..., 0], right[..., 1:], np.linalg.solve(hessian, right))


def solved_by(problem: Problem, inverse: Float[ndarray, "point take path path"]) -> Arrow:
    """Solve by a known inverse of the paths' block."""
    right = _right(problem)
    return Arrow(right[..., 0], right[..., 1:], inverse @ right)


def reduced(
    groups: Sequence[Group], problems: Sequence[Problem], arrows: Sequence[Arrow], shared: ndarray
) -> tuple[ndarray, ndarray, ndarray]:
    """Return block and gradient of the shared errors, the paths eliminated, and the step."""
    blocks = [
        p.by_shared.swapaxes(-1, -2) @ p.by_shared - arrow.schur
        for p, arrow in zip(problems, arrows, strict=True)
    ]
    pulls = [
        (p.by_shared.swapaxes(-1, -2) @ p.residual[..., None])[..., 0] - arrow.schur_gradient
        for p, arrow in zip(problems, arrows, strict=True)
    ]
    sessions, errors = shared.shape[1:]
    block = by_session(groups, blocks, sessions) + np.eye(errors)
    gradient = by_session(groups, pulls, sessions) + shared
    return block, gradient, np.linalg.solve(block, gradient[..., None])[..., 0]


def by_session(
    groups: Sequence[Group], parts: Sequence[ndarray], sessions: int
) -> Float[ndarray, "point session *rest"]:
    """Sum what belongs to takes over those of each session."""
    total = np.zeros((len(parts[0]), sessions, *parts[0].shape[2:]))
    for group, part in zip(groups, parts, strict=True):
        for number in range(sessions):
            total[:, number] += part[:, group.chains.session == number].sum(1)
    return total
