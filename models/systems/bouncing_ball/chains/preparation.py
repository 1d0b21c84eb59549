"""First paths of chains of bounces, and the scatter that their integration allows for."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.chains import flight_tables, laplace, normal_equations
from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST, Group, Problem
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.chains.paths import Paths
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw

LEAST_SCATTER = 3e-4
"""Relative scatter of exit speeds that is always allowed for."""
_LOOSE = (0.1, 0.03, 0.01, 3e-3, 1e-3)  # scatters by which a first path is drawn tight


def prepare(
    chains: Sequence[Chains], law: RestitutionLaw, values: Values
) -> tuple[tuple[Group, ...], Paths]:
    """Find first paths at one parameter point, and what the integration allows for."""
    errors = max(group.distortion.shape[-1] for group in chains)
    sessions = 1 + max(int(group.session.max()) for group in chains)
    paths = Paths(
        tuple(_start(group, values) for group in chains),
        np.zeros((1, sessions, max(errors, len(SHARED)))),
        tuple(np.ones((1, len(group.times), group.flights)) for group in chains),
    )
    groups = _tabulated(chains, law, paths)
    return _allowed(groups, values, _drawn_tight(groups, values, paths))


def anew(groups: Sequence[Group], values: Values, paths: Paths) -> tuple[tuple[Group, ...], Paths]:
    """Prepare for another parameter point, from paths at one that is not far."""
    chains, law = [group.chains for group in groups], groups[0].law
    return _allowed(_tabulated(chains, law, paths), values, paths)


def _tabulated(chains: Sequence[Chains], law: RestitutionLaw, paths: Paths) -> list[Group]:
    return [
        Group(
            group,
            law,
            flight_tables.of_flights(path[0, :, FIRST:].reshape(len(group.times), -1, 3)),
            flight_tables.of_falls(group.height),
            np.zeros((len(group.times), group.flights)),
            np.zeros(group.times.shape),
        )
        for group, path in zip(chains, paths.takes, strict=True)
    ]


def _allowed(
    groups: Sequence[Group], values: Values, paths: Paths
) -> tuple[tuple[Group, ...], Paths]:
    """Allow for what arcs and stretched places ask for, and find the paths with it."""
    for _ in range(2):
        problems = laplace.problems_of(groups, paths, values)
        groups = [_allowing(*each) for each in zip(groups, problems, strict=True)]
        paths = laplace.evidence(groups, values, paths).paths
    return tuple(groups), paths


def _drawn_tight(groups: Sequence[Group], values: Values, paths: Paths) -> Paths:
    """Bring paths near to the most likely ones, each take with shared errors of its own.

    So that no take holds up the others; the session's errors then start from the takes' median.
    """
    alone = [
        replace(group, chains=replace(group.chains, session=group.chains.index)) for group in groups
    ]
    takes = sum(len(group.chains.times) for group in groups)
    found = Paths(paths.takes, np.zeros((1, takes, paths.shared.shape[-1])), paths.weights)
    for scatter in (*_LOOSE, 0.0):
        loose = replace(values, scatter=np.maximum(values.scatter, scatter))
        found = laplace.evidence(alone, loose, found, steps=12, enough=0.05).paths
    shared = np.zeros_like(paths.shared)
    for number in range(shared.shape[1]):
        own = [group.chains.index[group.chains.session == number] for group in groups]
        shared[:, number] = np.median(found.shared[:, np.concatenate(own)], axis=1)
    return Paths(found.takes, shared, found.weights)


def _allowing(group: Group, problem: Problem) -> Group:
    """Allow for what a path's covariance asks for, at the first point.

    Where a path is nowhere near to a likely one, it is not known and nothing is allowed for.
    """
    covariance = normal_equations.arrow(problem).covariance[0]
    arcs, decided = (
        np.where(np.isfinite(each), each, 0.0)
        for each in (_arcs(problem, covariance), _decided(group.chains, problem, covariance))
    )
    return replace(group, floor=np.hypot(LEAST_SCATTER, arcs), decided=decided)


def _arcs(
    problem: Problem, covariance: Float[ndarray, "take path path"]
) -> Float[ndarray, "take flight"]:
    """Return tr(S) / |v|^2 of each flight's velocity along the surface."""
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)[:, FIRST:]
    exits = problem.contacts.exit[0]
    variance = variance.reshape(*exits.shape)
    return np.asarray((variance[..., 0] + variance[..., 1]) / (exits**2).sum(-1))


def _decided(
    chains: Chains, problem: Problem, covariance: Float[ndarray, "take path path"]
) -> Float[ndarray, "take bounce"]:
    """Return the share of each place in its own posterior precision, the mean of both axes."""
    takes, bounces = chains.times.shape
    rows = problem.by_path[0, :, bounces : 3 * bounces]
    shares = np.einsum("trx,txy,try->tr", rows, covariance, rows)
    return np.asarray(shares.reshape(takes, bounces, 2).mean(-1))


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
