"""The likelihood of whole chains of bounces, by Laplace's rule about the most likely paths.

    p(data | theta) = int prod_takes exp(-h(x, f)) factor(x) dx N(f; 0, I) df,

where h is half the squares of `least_squares`. Gauss and Newton's steps find the minimum over the
paths x of all takes and the errors f that a session's takes share; the blocks of a take and of its
session form an arrow, so that a take costs the cube of its own length alone (`normal_equations`).
The integral about it is normal, with two `corrections`, one of which renews the weights of some
squares until these stay. Where a velocity leaves the tangent of the
arc on which the conserved speed puts it by more than speeds scatter, that much scatter is allowed
for (`Group.floor`): late, short flights, whose places say little, then say no more than they can.

**Stretched places.** Errors f of the array move the places x that are located, P = x - A(x) f, and
with them their density, which is that of P times |dP / dx| = 1 - t(x) f, t being the trace of
dA / dx (`array_errors`). Deviations of places are stretched alike (`least_squares`), so that this
counts where a place decides the path, and not where the path decides it: by the share h of the
place in its own posterior precision (`Group.decided`): -log of the density has -h log(1 - t f).

**Slow factors.** A contact's density holds 1 / (|b|^2 |m|) (`rebounds`). It hardly bends, but a
hundred exits pull shared errors together, so that the search has to follow it: else the array's
errors end where they make late flights fast, and surfaces smooth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import (
    corrections,
    least_squares,
    normal_equations,
    parameters,
)
from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST, Group, Problem
from ricochet.models.systems.bouncing_ball.chains.normal_equations import Arrow, Reduced
from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.chains.paths import Paths

_MOST_STEPS = 40
_ENOUGH = 1e-3  # nats
_RENEWALS = 8
_STAYS = 0.1  # by which the log of a weight changes that stays
_FIRST_DAMPING, _LEAST_DAMPING = 1e-2, 1e-4
_RELIEF = 0.3  # slowly, since a bent valley refuses the next undamped step as well
_LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Evidence:
    """Log likelihoods at parameter points, and the paths about which they were integrated.

    Attributes:
        takes: What each group's takes contribute but for the determinant of the shared errors.
        promise: What another step would gain, nats; the log likelihood has it already.
        weights: That the squares of redirections should have (`corrections`).
    """

    log_likelihood: Float[ndarray, " point"]
    paths: Paths
    takes: tuple[Float[ndarray, "point _"], ...]
    promise: Float[ndarray, " point"]
    weights: tuple[Float[ndarray, "point _ _"], ...]


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
        enough: A point's search ends when a step promises less, nats.
    """
    found = _about(groups, values, start, steps, enough)
    for number in range(_RENEWALS):
        left = _moved(found)
        if not len(left):
            break
        renewed = _renewed(found, left, whole=number == 0)
        start = replace(found.paths.rows(left), weights=renewed)
        again = _about(groups, _rows(values, left), start, steps, enough)
        _put(found, left, again)
    return found


def _moved(found: Evidence) -> Int[ndarray, " moved"]:
    """Return the points at which some weight does not stay."""
    moved = np.zeros(len(found.promise), dtype=bool)
    for old, new in zip(found.paths.weights, found.weights, strict=True):
        moved |= (np.abs(np.log(new / old)) > _STAYS).any((1, 2))
    return np.flatnonzero(moved & np.isfinite(found.log_likelihood))


def _renewed(
    found: Evidence, points: Int[ndarray, " moved"], *, whole: bool
) -> tuple[Float[ndarray, "moved _ _"], ...]:
    """Return new weights, half the way there unless the whole."""
    return tuple(
        new[points] if whole else np.sqrt(old[points] * new[points])
        for old, new in zip(found.paths.weights, found.weights, strict=True)
    )


def _put(found: Evidence, points: Int[ndarray, " moved"], part: Evidence) -> None:
    found.log_likelihood[points], found.promise[points] = part.log_likelihood, part.promise
    found.paths.put(points, part.paths)
    wholes, parts = (*found.takes, *found.weights), (*part.takes, *part.weights)
    for whole, rows in zip(wholes, parts, strict=True):
        whole[points] = rows


def _about(
    groups: Sequence[Group], values: Values, start: Paths, steps: int, enough: float
) -> Evidence:
    """Search for the most likely paths given the weights of squares, and integrate about them."""
    points = len(start.shared)
    found = Evidence(
        np.zeros(points),
        start.rows(np.arange(points)),
        tuple(np.zeros(take.shape[:2]) for take in start.takes),
        np.full(points, np.inf),
        tuple(weights.copy() for weights in start.weights),
    )
    state = _first_state(groups, values, start)
    for number in range(steps + 1):
        step = _step(groups, state)
        ended = step.promise < enough  # where no step is found, damping may find one
        if number == steps:
            ended[:] = True
        if ended.any():
            _keep(found, groups, state.rows(ended), step.rows(ended))
            state, step = state.rows(~ended), step.rows(~ended)
        if not len(state.points):
            break
        state = _advanced(groups, state, step)
    return found


@dataclass(frozen=True)
class _State:
    """Points whose paths are still searched: their numbers, paths, problems and damping."""

    points: ndarray
    values: Values
    paths: Paths
    problems: tuple[Problem, ...]
    cost: ndarray
    damping: ndarray

    def rows(self, chosen: ndarray) -> "_State":
        return self if chosen.all() else _rows(self, chosen)


@dataclass(frozen=True)
class _Step:
    """A damped step of Gauss and Newton, and by how much it should lower the cost."""

    arrows: tuple[Arrow, ...]
    reduced: Reduced
    paths: Paths
    promise: ndarray

    def rows(self, chosen: ndarray) -> "_Step":
        return self if chosen.all() else _rows(self, chosen)


def _first_state(groups: Sequence[Group], values: Values, paths: Paths) -> _State:
    problems = tuple(problems_of(groups, paths, values))
    cost = _cost(groups, problems, paths.shared)
    points = np.arange(len(paths.shared))
    return _State(points, values, paths, problems, cost, np.zeros_like(cost))


def _step(groups: Sequence[Group], state: _State) -> _Step:
    arrows = tuple(
        normal_equations.arrow(problem, state.damping[:, group.chains.session])
        for group, problem in zip(groups, state.problems, strict=True)
    )
    shared = state.paths.shared
    reduced = normal_equations.reduced(groups, state.problems, arrows, shared)
    takes = tuple(
        path - arrow.step(reduced.change[:, group.chains.session])
        for group, path, arrow in zip(groups, state.paths.takes, arrows, strict=True)
    )
    promise = reduced.gain.sum(1) + sum(arrow.gain.sum(1) for arrow in arrows)
    there = Paths(takes, shared - reduced.change, state.paths.weights)
    return _Step(arrows, reduced, there, np.asarray(promise))


def _advanced(groups: Sequence[Group], state: _State, step: _Step) -> _State:
    """Go on to where the step led, session by session, if it is better there."""
    with np.errstate(all="ignore"):  # a step too far is not taken
        tried = problems_of(groups, step.paths, state.values)
        there = _cost(groups, tried, step.paths.shared)
    there = np.where(_rises(groups, step.paths) & np.isfinite(there), there, np.inf)
    better = there <= state.cost + 1e-9
    problems = tuple(
        _mixed(better[:, group.chains.session], new, old)
        for group, new, old in zip(groups, tried, state.problems, strict=True)
    )
    return replace(
        state,
        paths=_chosen(groups, better, step.paths, state.paths),
        problems=problems,
        cost=np.where(better, there, state.cost),
        damping=_damped(state.damping, better),
    )


def _damped(damping: ndarray, better: ndarray) -> ndarray:
    """Damp after a step that was none, less and less, and not at all where steps lead on."""
    less = np.where(damping > _LEAST_DAMPING, _RELIEF * damping, 0.0)
    return np.where(better, less, np.maximum(10.0 * damping, _FIRST_DAMPING))


def _keep(found: Evidence, groups: Sequence[Group], state: _State, step: _Step) -> None:
    """Integrate about the paths of some points, and write down what comes out."""
    if state.damping.any():
        plain = _step(groups, replace(state, damping=np.zeros_like(state.damping)))
        step = replace(step, arrows=plain.arrows, reduced=plain.reduced)
    total, takes, weights = _integrated(groups, state, step)
    found.log_likelihood[state.points] = total
    found.promise[state.points] = step.promise
    found.paths.put(state.points, state.paths)
    for whole, part in zip((*found.takes, *found.weights), (*takes, *weights), strict=True):
        whole[state.points] = part


def shared_covariance(
    groups: Sequence[Group], theta: Float[ndarray, " parameter"], paths: Paths
) -> Float[ndarray, "session error error"]:
    """Return the covariance of the shared errors at one point, about its most likely paths."""
    values = parameters.values(theta[None])
    problems = problems_of(groups, paths, values)
    arrows = [normal_equations.arrow(problem) for problem in problems]
    reduced = normal_equations.reduced(groups, problems, arrows, paths.shared)
    return np.asarray(np.linalg.inv(reduced.block)[0])


def problems_of(groups: Sequence[Group], paths: Paths, values: Values) -> list[Problem]:
    """Return the least squares of each group at its paths."""
    return [
        least_squares.problem(group, path, paths.shared[:, group.chains.session], values, weights)
        for group, path, weights in zip(groups, paths.takes, paths.weights, strict=True)
    ]


def _cost(groups: Sequence[Group], problems: Sequence[Problem], shared: ndarray) -> ndarray:
    takes = [problem.half_squares for problem in problems]
    return normal_equations.by_session(groups, takes, shared.shape[1]) + _prior_cost(groups, shared)


def _prior_cost(
    groups: Sequence[Group], shared: Float[ndarray, "point session error"]
) -> Float[ndarray, "point session"]:
    """Return minus log density of the shared errors themselves, with what they stretch."""
    return 0.5 * (shared**2).sum(-1) + normal_equations.stretch_cost(groups, shared)


def _rises(groups: Sequence[Group], paths: Paths) -> Bool[ndarray, "point session"]:
    """Mark the sessions all of whose flights leave the surface."""
    rising = []
    for path in paths.takes:
        up = path[..., FIRST + 2 :: 3]
        rising.append((up <= 0.0).any(-1).astype(float))
    return np.asarray(normal_equations.by_session(groups, rising, paths.shared.shape[1]) == 0.0)


def _chosen(groups: Sequence[Group], better: ndarray, new: Paths, old: Paths) -> Paths:
    takes = tuple(
        np.where(better[:, group.chains.session, None], there, here)
        for group, there, here in zip(groups, new.takes, old.takes, strict=True)
    )
    return Paths(takes, np.where(better[..., None], new.shared, old.shared), old.weights)


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


def _rows(record, chosen: ndarray):  # type: ignore[no-untyped-def]
    """Return some points of every array of a record."""
    if isinstance(record, np.ndarray):
        return record[chosen]
    if isinstance(record, tuple):
        return tuple(_rows(part, chosen) for part in record)
    return type(record)(**{name: _rows(part, chosen) for name, part in vars(record).items()})


def _integrated(
    groups: Sequence[Group], state: _State, step: _Step
) -> tuple[Float[ndarray, " point"], tuple[ndarray, ...], tuple[ndarray, ...]]:
    """Integrate about the minimum; return the log likelihood, its takes' parts, and weights."""
    shared = state.paths.shared
    corrected = [
        corrections.of(problem, arrow.covariance, state.values)
        for problem, arrow in zip(state.problems, step.arrows, strict=True)
    ]
    takes = tuple(
        problem.factor
        - problem.half_squares
        + arrow.gain
        + each.log_likelihood
        - arrow.half_log_determinant
        + 0.5 * arrow.factor.shape[-1] * _LOG_2PI
        for problem, arrow, each in zip(state.problems, step.arrows, corrected, strict=True)
    )
    rest = step.reduced.gain - _prior_cost(groups, shared)
    rest = rest - 0.5 * np.linalg.slogdet(step.reduced.block)[1]
    total = normal_equations.by_session(groups, takes, shared.shape[1]) + rest
    return total.sum(1), takes, tuple(each.weights for each in corrected)
