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
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.chains import (
    corrections,
    flight_tables,
    least_squares,
)
from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST, Group, Problem
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw

LEAST_SCATTER = 3e-4
"""Relative scatter of exit speeds that is always allowed for."""
_LOOSE = (0.1, 0.03, 0.01, 3e-3, 1e-3)  # scatters by which a first path is drawn tight
_MOST_STEPS = 40
_ENOUGH = 1e-3  # nats
_LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Paths:
    """The most likely paths of takes, group by group, and the shared errors, at each point."""

    takes: tuple[Float[ndarray, "point take path"], ...]
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
    takes: tuple[Float[ndarray, "point take"], ...]
    settled: Bool[ndarray, " point"]


def prepare(
    chains: Sequence[Chains], law: RestitutionLaw, values: Values
) -> tuple[tuple[Group, ...], Paths]:
    """Find first paths at one parameter point, and what the integration allows for."""
    errors = max(group.distortion.shape[-1] for group in chains)
    sessions = 1 + max(int(group.session.max()) for group in chains)
    paths = [_start(group, values) for group in chains]
    groups = [
        Group(
            group,
            law,
            flight_tables.of_flights(path[0, :, FIRST:].reshape(len(group.times), -1, 3)),
            flight_tables.of_falls(group.height),
            np.zeros((len(group.times), group.flights)),
        )
        for group, path in zip(chains, paths, strict=True)
    ]
    found = Paths(tuple(paths), np.zeros((1, sessions, max(errors, len(SHARED)))))
    for scatter in _LOOSE:
        if scatter > values.scatter[0]:
            loose = replace(values, scatter=np.array([scatter]))
            found = evidence(groups, loose, found, steps=8, enough=0.05).paths
    for _ in range(2):
        groups = [
            replace(group, floor=np.hypot(LEAST_SCATTER, floor))
            for group, floor in zip(groups, _arcs(groups, values, found), strict=True)
        ]
        found = evidence(groups, values, found).paths
    return tuple(groups), found


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
    problems = _problems(groups, paths, values)
    cost = _cost(groups, problems, paths.shared)
    settled = np.zeros(len(paths.shared), dtype=bool)
    for _ in range(steps):
        moved = _moved(groups, problems, paths, damping)
        tried = _problems(groups, moved, values)
        there = _cost(groups, tried, moved.shared)
        there = np.where(_rises(groups, moved), there, np.inf)
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


def _problems(groups: Sequence[Group], paths: Paths, values: Values) -> list[Problem]:
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
    """A group's blocks of the normal equations: of paths, and what shared errors do to them."""

    hessian: ndarray
    gradient: ndarray
    by_shared: ndarray
    solved: ndarray  # hessian^-1 (gradient, by_shared)

    @property
    def schur(self) -> ndarray:
        """What the paths take from the shared errors' block."""
        return np.asarray(self.by_shared.swapaxes(-1, -2) @ self.solved[..., 1:])

    @property
    def schur_gradient(self) -> ndarray:
        """What they take from its gradient."""
        return np.asarray((self.by_shared.swapaxes(-1, -2) @ self.solved[..., :1])[..., 0])


def _arrow(problem: Problem, damping: ndarray) -> _Arrow:
    transposed = problem.by_path.swapaxes(-1, -2)
    hessian = transposed @ problem.by_path
    diagonal = np.arange(hessian.shape[-1])
    hessian[..., diagonal, diagonal] *= 1.0 + damping[..., None]
    gradient = (transposed @ problem.residual[..., None])[..., 0]
    by_shared = transposed @ problem.by_shared
    right = np.concatenate((gradient[..., None], by_shared), -1)
    return _Arrow(hessian, gradient, by_shared, np.linalg.solve(hessian, right))


def _shared_block(
    groups: Sequence[Group], problems: Sequence[Problem], shared: ndarray
) -> tuple[ndarray, ndarray]:
    blocks = [p.by_shared.swapaxes(-1, -2) @ p.by_shared for p in problems]
    pulls = [(p.by_shared.swapaxes(-1, -2) @ p.residual[..., None])[..., 0] for p in problems]
    sessions, errors = shared.shape[1:]
    block = _by_session(groups, blocks, sessions) + np.eye(errors)
    return block, _by_session(groups, pulls, sessions) + shared


def _moved(
    groups: Sequence[Group], problems: Sequence[Problem], paths: Paths, damping: ndarray
) -> Paths:
    """Make one damped step of Gauss and Newton."""
    arrows = [
        _arrow(problem, damping[:, group.chains.session])
        for group, problem in zip(groups, problems, strict=True)
    ]
    block, gradient = _shared_block(groups, problems, paths.shared)
    sessions = paths.shared.shape[1]
    block = block - _by_session(groups, [arrow.schur for arrow in arrows], sessions)
    gradient = gradient - _by_session(groups, [a.schur_gradient for a in arrows], sessions)
    change = np.linalg.solve(block, gradient[..., None])[..., 0]
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
    nothing = np.zeros(shared.shape[:2])
    arrows = [
        _arrow(problem, nothing[:, group.chains.session])
        for group, problem in zip(groups, problems, strict=True)
    ]
    block, gradient = _shared_block(groups, problems, shared)
    sessions = shared.shape[1]
    block = block - _by_session(groups, [arrow.schur for arrow in arrows], sessions)
    gradient = gradient - _by_session(groups, [a.schur_gradient for a in arrows], sessions)
    change = np.linalg.solve(block, gradient[..., None])[..., 0]
    takes = tuple(
        problem.factor
        - problem.half_squares
        + 0.5 * np.einsum("ptx,ptx->pt", arrow.gradient, arrow.solved[..., 0])
        + corrections.total(problem, np.linalg.inv(arrow.hessian), values)
        - 0.5 * np.linalg.slogdet(arrow.hessian)[1]
        + 0.5 * arrow.hessian.shape[-1] * _LOG_2PI
        for problem, arrow in zip(problems, arrows, strict=True)
    )
    rest = 0.5 * (gradient * change).sum(-1) - 0.5 * (shared**2).sum(-1)
    rest = rest - 0.5 * np.linalg.slogdet(block)[1]
    total = _by_session(groups, takes, sessions) + rest
    return total.sum(1), takes


def _arcs(
    groups: Sequence[Group], values: Values, paths: Paths
) -> list[Float[ndarray, "take flight"]]:
    """Return tr(S) / |v|^2 of each flight's velocity along the surface, at the first point."""
    found = []
    for problem in _problems(groups, paths, values):
        covariance = np.linalg.inv(problem.by_path.swapaxes(-1, -2) @ problem.by_path)[0]
        variance = np.diagonal(covariance, axis1=-2, axis2=-1)[:, FIRST:]
        exits = problem.contacts.exit[0]
        variance = variance.reshape(*exits.shape)
        found.append((variance[..., 0] + variance[..., 1]) / (exits**2).sum(-1))
    return found


def _start(chains: Chains, values: Values) -> Float[ndarray, "1 take path"]:
    """Form first paths from what was measured, filtering the velocity along the surface."""
    durations = np.diff(chains.times)
    upward = 0.5 * GRAVITY * durations
    measured = np.diff(chains.places, axis=1) / durations[..., None]
    with np.errstate(divide="ignore"):
        variance = (1.0 / chains.place_weight) ** 2
    noise = (variance[:, 1:] + variance[:, :-1]) / durations**2
    u = np.zeros((len(durations), 2))
    spread = np.full(len(durations), values.release_speed[0] ** 2)
    velocity = np.empty((*durations.shape, 3))
    velocity[..., 2] = upward
    for number in range(chains.flights):
        spread = spread + (upward[:, number] ** 2 + (u**2).sum(1)) / values.concentration[0]
        gain = spread / (spread + noise[:, number])
        u = u + gain[:, None] * (measured[:, number] - u)
        spread = spread * (1.0 - gain)
        velocity[:, number, :2] = u
    rest = np.zeros((len(durations), 3))
    parts = (chains.times[:, :1], chains.places[:, 0], rest, velocity.reshape(len(rest), -1))
    return np.concatenate(parts, 1)[None]
