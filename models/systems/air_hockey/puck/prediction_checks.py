r"""How well fitted modes predict the puck, and whether their regions hold what they promise.

On episodes that the modes were not fitted to:

    after a period    velocity, from the recorded state before: floating, bank, strike,
    after a second    place, from the filter's state given noisy places so far: what floated all the
                      time, what met walls once or more often, what was struck at the beginning.

For each the root of the mean squared error, and the share of errors e with e' C^-1 e within the 50
and 90 % quantiles of chi-squared with two degrees of freedom, C being the predicted covariance. The
baseline is a noiseless model: the same prediction with the figures of `NOMINAL`.

Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air Hockey",
Sec. III, where predictions are not checked by themselves.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.probability import linear_gaussians
from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import (
    contact_frames,
    piecewise_filter,
    segmentation,
    strikes,
)
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.segmentation import Assigned, Recording
from ricochet.models.systems.air_hockey.table import Table

LEVELS = (0.5, 0.9)
WARM = 20  # periods that a filter observes before it predicts
AHEAD = 50  # periods
_EVERY = 10  # periods from one prediction to the next
NOMINAL = PuckModes(
    floating=LinearGaussian(
        np.diag(np.exp((-0.2125 * PERIOD, -0.2562 * PERIOD))),
        np.zeros(2),
        np.diag((2.5e-4, 3.8e-4)),
    ),
    wall=LinearGaussian(np.diag((-0.79, 0.8407)), np.zeros(2), np.zeros((2, 2))),
    mallet=LinearGaussian(
        np.array(((-0.8, 0.0, 1.8, 0.0), (0.0, 1.0, 0.0, 0.0))), np.zeros(2), np.zeros((2, 2))
    ),
    airflow_sd=0.0,
)
"""The figures of the 2023 Robot Air Hockey Challenge's own baseline: drag and velocity noise of its
filter, its law at walls; the mallet's restitution as configured for the real table."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        horizon: How far ahead, s.
        error: Root of the mean squared error, m/s after a period, m after a second.
        baseline: The same for the noiseless model.
        coverage: Shares within the regions of `LEVELS`.
    """

    mode: str
    horizon: float
    count: int
    error: float
    baseline: float
    coverage: tuple[float, ...]


@dataclass(frozen=True)
class Errors:
    """Errors of predictions, and the squared Mahalanobis distance of each."""

    errors: Float[ndarray, "count 2"]
    distances: Float[ndarray, " count"]


def prediction_table(
    modes: PuckModes,
    recording: Recording,
    table: Table,
    *,
    noise: float = 2e-3,
    draw: np.random.Generator,
) -> tuple[Row, ...]:
    """Return errors and coverage by mode, after a period and after a second.

    Args:
        recording: Episodes that they were not fitted to, longer than `WARM` + `AHEAD` periods for
            the lines of a second.
        noise: Standard deviation of the places that the filter observes, m per axis.
    """
    drag = modes.drag_by_axis
    assigned = segmentation.assign(recording, table, drag=drag)
    observed = recording.puck + noise * draw.standard_normal(recording.puck.shape)
    both = [
        _by_mode(one, recording, assigned)
        | _ahead(one, recording, assigned, table, observed, noise)
        for one in (modes, NOMINAL)
    ]
    return tuple(
        _row(name, both[0][name], both[1][name]) for name in both[0] if len(both[0][name].errors)
    )


def _row(name: str, learnt: Errors, nominal: Errors) -> Row:
    """Return a line of the table."""
    mode, _, horizon = name.partition(", ")
    within = [-2.0 * np.log1p(-level) for level in LEVELS]  # quantiles of chi-squared, two degrees
    return Row(
        mode,
        1.0 if horizon else PERIOD,
        len(learnt.errors),
        _rms(learnt.errors),
        _rms(nominal.errors),
        tuple(float((learnt.distances < bound).mean()) for bound in within),
    )


def _rms(errors: Float[ndarray, "count 2"]) -> float:
    """Return the root of the mean squared length."""
    return float(np.sqrt((errors**2).sum(-1).mean()))


def _by_mode(modes: PuckModes, recording: Recording, assigned: Assigned) -> dict[str, Errors]:
    """Return errors of the velocity after a period, or after a contact."""
    before = recording.puck_velocity[:, :-1][assigned.floating]
    after = recording.puck_velocity[:, 1:][assigned.floating]
    gain = PERIOD * modes.airflow_sd
    spread = modes.floating.covariance + gain**2 * np.eye(2)
    error = after - linear_gaussians.mean(modes.floating, before)
    found = {"floating": _errors(error, np.broadcast_to(spread, (len(error), 2, 2)))}
    for name, law, contacts in (
        ("bank", modes.wall, assigned.banks),
        ("strike", modes.mallet, assigned.strikes),
    ):
        error = contacts.after - linear_gaussians.mean(law, contacts.before)
        size = contact_frames.sizes(contacts.against)
        found[name] = _errors(error, size[:, :, None] * law.covariance * size[:, None, :])
    return found


def _ahead(
    modes: PuckModes,
    recording: Recording,
    assigned: Assigned,
    table: Table,
    observed: Float[ndarray, "episode time 2"],
    noise: float,
) -> dict[str, Errors]:
    """Return errors of the place after a second, predicted from a filter's states."""
    kinds = ("floating", "one bank", "more banks", "strike")
    found: dict[str, list[tuple[ndarray, ndarray]]] = {f"{kind}, ahead": [] for kind in kinds}
    for episode in range(len(observed)):
        states = _filtered(modes, recording, table, observed, episode, noise)
        for now in range(WARM, len(states) - AHEAD, _EVERY):
            kind = _kind(assigned, recording, table, episode, now)
            if kind is not None:
                mean, covariance = piecewise_filter.predict(states[now], AHEAD * PERIOD)
                error = recording.puck[episode, now + AHEAD] - mean[:2]
                found[f"{kind}, ahead"].append((error, covariance[:2, :2]))
        found["strike, ahead"] += _struck(modes, recording, assigned, table, episode, states)
    return {
        name: _errors(*(np.array(part) for part in zip(*rows, strict=True)))
        if rows
        else Errors(np.zeros((0, 2)), np.zeros(0))
        for name, rows in found.items()
    }


def _filtered(
    modes: PuckModes,
    recording: Recording,
    table: Table,
    observed: Float[ndarray, "episode time 2"],
    episode: int,
    noise: float,
) -> list[piecewise_filter.State]:
    """Return the filter's state after each place of an episode."""
    place, speed = recording.mallet[episode], recording.mallet_velocity[episode]
    states = [piecewise_filter.init(modes, table, position=observed[episode, 0], noise=noise)]
    for k in range(1, observed.shape[1]):
        if not np.isfinite(observed[episode, k]).all() or _out(recording.puck[episode, k], table):
            break
        states.append(
            piecewise_filter.update(
                states[-1], observed[episode, k], mallet=place[k], mallet_velocity=speed[k]
            )
        )
    return states


def _out(place: Float[ndarray, " 2"], table: Table) -> bool:
    """Return whether a puck is in a goal."""
    return bool(abs(place[0]) > table.wall_x + 0.005)


def _kind(
    assigned: Assigned, recording: Recording, table: Table, episode: int, now: int
) -> str | None:
    """Return what happens in the second from now on, None if not one of the kinds."""
    calm = assigned.floating[episode, now : now + AHEAD]
    if _out(recording.puck[episode, now : now + AHEAD + 1].T[:, -1], table):
        return None
    if calm.all():
        return "floating"
    banks = assigned.banks
    inside = (banks.episode == episode) & (banks.start >= now) & (banks.stop <= now + AHEAD)
    covered = sum(banks.stop[inside] - banks.start[inside])
    if covered != (~calm).sum():
        return None
    return "one bank" if inside.sum() == 1 else "more banks"


def _struck(
    modes: PuckModes,
    recording: Recording,
    assigned: Assigned,
    table: Table,
    episode: int,
    states: list[piecewise_filter.State],
) -> list[tuple[Float[ndarray, "2"], Float[ndarray, "2 2"]]]:
    """Return error and covariance of the place a second after strikes and no bank.

    They are predicted from the filter's state before the touch and where the mallet met the puck.
    """
    found, hits = [], assigned.strikes
    for i in np.flatnonzero((hits.episode == episode) & (hits.start >= WARM)):
        start, stop = int(hits.start[i]), int(hits.stop[i])
        end = start + AHEAD
        if end >= len(states) or not assigned.floating[episode, stop:end].all():
            continue
        mean, covariance = piecewise_filter.predict(states[start], float(hits.touch[i]))
        normal = hits.normal[i]
        mallet = contact_frames.frames(normal).T @ hits.before[i, 2:]
        truth = recording.puck[episode, start]
        truth = truth + hits.touch[i] * recording.puck_velocity[episode, start]
        apart = mean[:2] - (truth - table.contact_radius * normal)
        normal = apart / np.linalg.norm(apart)
        after, spread = strikes.struck(modes, mean, covariance, mallet, normal, table=table)
        state = piecewise_filter.State(after, spread, modes, table, states[start].noise)
        after, spread = piecewise_filter.predict(state, AHEAD * PERIOD - hits.touch[i])
        found.append((recording.puck[episode, end] - after[:2], spread[:2, :2]))
    return found


def _errors(errors: Float[ndarray, "count 2"], spread: Float[ndarray, "count 2 2"]) -> Errors:
    """Return errors with their squared Mahalanobis distances (infinite without a spread)."""
    if np.abs(spread).max(initial=0.0) == 0.0:
        return Errors(errors, np.full(len(errors), np.inf))
    solved = np.linalg.solve(spread + 1e-18 * np.eye(2), errors[:, :, None])[:, :, 0]
    return Errors(errors, (errors * solved).sum(-1))
