"""The likelihood of whole chains of bounces, by Laplace's rule about the most likely paths.

    p(data | theta) = int prod_takes exp(-h(x, f)) factor(x) dx N(f; 0, I) df,

where h is half the squares of `least_squares`. Gauss and Newton's steps find the minimum over the
paths x of all takes and the errors f that a session's takes share; the blocks of a take and of its
session form an arrow, so that a take costs the cube of its own length alone. The integral about it
is normal, with two `corrections`. Where a velocity leaves the tangent of the arc on which the
conserved speed puts it by more than speeds scatter, that much scatter is allowed for
(`Group.floor`): late, short flights, whose places say little, then say no more than they can.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import corrections, least_squares
from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST, Group, Problem
from ricochet.models.systems.bouncing_ball.chains.parameters import Values

_MOST_STEPS = 40
_ENOUGH = 1e-3  # nats
_LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Paths:
    """The most likely paths of takes, group by group, and the shared errors, at each point."""

    takes: tuple[Float[ndarray, "point _ _"], ...]
    shared: Float[ndarray, "point session error"]

    def repeated(self, points: int) -> "Paths":
        """Return the paths of one point as a start for many."""
        many = tuple(np.repeat(take[:1], points, 0) for take in self.takes)
        return Paths(many, np.repeat(self.shared[:1], points, 0))


@dataclass(frozen=True)
class Evidence:
    """Log likelihoods at parameter points, and the paths about which they were integrated.

    Attributes:
        takes: What each group's takes contribute but for the determinant of the shared errors.
        settled: Whether the steps ended.
    """

    log_likelihood: Float[ndarray, " point"]
    paths: Paths
    takes: tuple[Float[ndarray, "point _"], ...]
    settled: Bool[ndarray, " point"]


def evidence(
    groups: Sequence[Group],
    values: Values,
    start: Paths,
    *,
    steps: int = _MOST_STEPS,
    enough: float = _ENOUGH,
) -> Evidence:
    """Return the log likelihood at parameter points.

    Args:
        start: Paths near to the most likely ones, of as many points.
        steps: Most steps of the search.
        enough: It ends when a step gains less, nats.
    """
    paths, damping = start, np.full(start.shared.shape[:2], 1e-3)
    problems = problems_of(groups, paths, values)
    cost = _cost(groups, problems, paths.shared)
    settled = np.zeros(len(paths.shared), dtype=bool)
    for _ in range(steps):
        moved = _moved(groups, problems, paths, damping)
        with np.errstate(all="ignore"):  # a step too far is not taken
            tried = problems_of(groups, moved, values)
            there = _cost(groups, tried, moved.shared)
        there = np.where(_rises(groups, moved) & np.isfinite(there), there, np.inf)
        better = there <= cost + 1e-9
        gain = np.where(better, cost - there, 0.0).sum(1)
        paths = _chosen(groups, better, moved, paths)
        problems = [
            _mixed(better[:, group.chains.session], new, old)
            for group, new, old in zip(groups, tried, problems, strict=True)
        ]
        cost, damping = np.where(better, there, cost), np.where(better, 0.1, 10.0) * damping
        settled = better.all(1) & (gain < enough)
        if settled.all():
            break
    total, takes = _integrated(groups, problems, paths.shared, values)
    return Evidence(total, paths, takes, settled)


def problems_of(groups: Sequence[Group], paths: Paths, values: Values) -> list[Problem]:
    """Return the least squares of each group at its paths."""
    return [
        least_squares.problem(group, path, paths.shared[:, group.chains.session], values)
        for group, path in zip(groups, paths.takes, strict=True)
    ]


def _by_session(
    groups: Sequence[Group], parts: Sequence[ndarray], sessions: int
) -> Float[ndarray, "point session *rest"]:
    """Sum what belongs to takes over those of each session."""
    total = np.zeros((len(parts[0]), sessions, *parts[0].shape[2:]))
    for group, part in zip(groups, parts, strict=True):
        for number in range(sessions):
            total[:, number] += part[:, group.chains.session == number].sum(1)
    return total


def _cost(groups: Sequence[Group], problems: Sequence[Problem], shared: ndarray) -> ndarray:
    takes = [problem.half_squares for problem in problems]
    return np.asarray(_by_session(groups, takes, shared.shape[1]) + 0.5 * (shared**2).sum(-1))


@dataclass(frozen=True)
class _Arrow:
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


def _hessian(problem: Problem) -> Float[ndarray, "point take path path"]:
    return np.asarray(problem.by_path.swapaxes(-1, -2) @ problem.by_path)


def _right(problem: Problem) -> Float[ndarray, "point take path column"]:
    columns = np.concatenate((problem.residual[..., None], problem.by_shared), -1)
    return np.asarray(problem.by_path.swapaxes(-1, -2) @ columns)


def _damped(problem: Problem, damping: Float[ndarray, "point take"]) -> _Arrow:
    hessian, right = _hessian(problem), _right(problem)
    diagonal = np.arange(hessian.shape[-1])
    hessian[..., diagonal, diagonal] *= 1.0 + damping[..., None]
    return _Arrow(right[..., 0], right[..., 1:], np.linalg.solve(hessian, right))


def _solved(problem: Problem, inverse: Float[ndarray, "point take path path"]) -> _Arrow:
    right = _right(problem)
    return _Arrow(right[..., 0], right[..., 1:], inverse @ right)


def _reduced(
    groups: Sequence[Group], problems: Sequence[Problem], arrows: Sequence[_Arrow], shared: ndarray
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
    block = _by_session(groups, blocks, sessions) + np.eye(errors)
    gradient = _by_session(groups, pulls, sessions) + shared
    return block, gradient, np.linalg.solve(block, gradient[..., None])[..., 0]


def _moved(
    groups: Sequence[Group], problems: Sequence[Problem], paths: Paths, damping: ndarray
) -> Paths:
    """Make one damped step of Gauss and Newton."""
    arrows = [
        _damped(problem, damping[:, group.chains.session])
        for group, problem in zip(groups, problems, strict=True)
    ]
    change = _reduced(groups, problems, arrows, paths.shared)[2]
    takes = tuple(
        path
        - arrow.solved[..., 0]
        + (arrow.solved[..., 1:] @ change[:, group.chains.session][..., None])[..., 0]
        for group, path, arrow in zip(groups, paths.takes, arrows, strict=True)
    )
    return Paths(takes, paths.shared - change)


def _rises(groups: Sequence[Group], paths: Paths) -> Bool[ndarray, "point session"]:
    """Mark the sessions all of whose flights leave the surface."""
    rising = []
    for path in paths.takes:
        up = path[..., FIRST + 2 :: 3]
        rising.append((up <= 0.0).any(-1).astype(float))
    return np.asarray(_by_session(groups, rising, paths.shared.shape[1]) == 0.0)


def _chosen(groups: Sequence[Group], better: ndarray, new: Paths, old: Paths) -> Paths:
    takes = tuple(
        np.where(better[:, group.chains.session, None], there, here)
        for group, there, here in zip(groups, new.takes, old.takes, strict=True)
    )
    return Paths(takes, np.where(better[..., None], new.shared, old.shared))


def _mixed(better: ndarray, new: Problem, old: Problem) -> Problem:
    if better.all():
        return new
    return _select(better, new, old)


def _select(chosen: ndarray, new: object, old: object):  # type: ignore[no-untyped-def]
    """Take the rows that are chosen from one record, the others from another."""
    if isinstance(new, np.ndarray) and isinstance(old, np.ndarray):
        mask = chosen.reshape(chosen.shape + (1,) * (new.ndim - chosen.ndim))
        return np.where(mask, new, old)
    names = vars(new)
    return type(new)(**{name: _select(chosen, names[name], getattr(old, name)) for name in names})


def _integrated(
    groups: Sequence[Group], problems: Sequence[Problem], shared: ndarray, values: Values
) -> tuple[Float[ndarray, " point"], tuple[ndarray, ...]]:
    """Integrate about the minimum."""
    inverses = [np.linalg.inv(_hessian(problem)) for problem in problems]
    arrows = [_solved(p, inverse) for p, inverse in zip(problems, inverses, strict=True)]
    block, gradient, change = _reduced(groups, problems, arrows, shared)
    sessions = shared.shape[1]
    takes = tuple(
        problem.factor
        - problem.half_squares
        + 0.5 * np.einsum("ptx,ptx->pt", arrow.gradient, arrow.solved[..., 0])
        + corrections.total(problem, inverse, values)
        + 0.5 * np.linalg.slogdet(inverse)[1]
        + 0.5 * inverse.shape[-1] * _LOG_2PI
        for problem, arrow, inverse in zip(problems, arrows, inverses, strict=True)
    )
    rest = 0.5 * (gradient * change).sum(-1) - 0.5 * (shared**2).sum(-1)
    rest = rest - 0.5 * np.linalg.slogdet(block)[1]
    total = _by_session(groups, takes, sessions) + rest
    return total.sum(1), takes
