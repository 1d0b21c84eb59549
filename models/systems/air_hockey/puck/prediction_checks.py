r"""How well learnt modes foretell the puck, and whether their regions hold what they promise.

On episodes that the modes were not fitted to:

    after a period    velocity, from the recorded state before: floating, bank, strike,
    after a second    place, from what the filter made of noisy places so far: what floated all the
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
from ricochet.models.systems.air_hockey.puck import contact_frames, piecewise_filter, segmentation
from ricochet.models.systems.air_hockey.puck import strikes as puck_strikes
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.segmentation import Assigned, Contacts, Recording
from ricochet.models.systems.air_hockey.table import Table

LEVELS = (0.5, 0.9)
WARM = 20  # periods a filter has seen before it is asked
AHEAD = 50  # periods
_EVERY = 10  # periods from one question to the next
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
        mode: What happened.
        horizon: How far ahead, s.
        count: How many predictions.
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
class Misses:
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
    baseline: PuckModes = NOMINAL,
) -> tuple[Row, ...]:
    """Return errors and coverage by mode, after a period and after a second.

    Args:
        modes: The learnt modes.
        recording: Episodes that they were not fitted to, longer than `WARM` + `AHEAD` periods for
            the lines of a second.
        table: Walls and radii.
        noise: Standard deviation of the places that the filter sees, m per axis.
        draw: Source of that noise.
        baseline: What to compare with.
    """
    drag = -np.log(np.diag(modes.floating.matrix)) / PERIOD
    assigned = segmentation.assign(recording, table, drag=drag)
    seen = recording.puck + noise * draw.standard_normal(recording.puck.shape)
    both = [
        _by_mode(one, recording, assigned) | _ahead(one, recording, assigned, table, seen, noise)
        for one in (modes, baseline)
    ]
    return tuple(
        _row(name, both[0][name], both[1][name]) for name in both[0] if len(both[0][name].errors)
    )


def _row(name: str, learnt: Misses, nominal: Misses) -> Row:
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


def _by_mode(modes: PuckModes, recording: Recording, assigned: Assigned) -> dict[str, Misses]:
    """Return what is missed of the velocity after a period, or after a contact."""
    before = recording.puck_velocity[:, :-1][assigned.floating]
    after = recording.puck_velocity[:, 1:][assigned.floating]
    gain = PERIOD * modes.airflow_sd
    spread = modes.floating.covariance + gain**2 * np.eye(2)
    error = after - linear_gaussians.mean(modes.floating, before)
    found = {"floating": _misses(error, np.broadcast_to(spread, (len(error), 2, 2)))}
    for name, law, contacts in (
        ("bank", modes.wall, assigned.banks),
        ("strike", modes.mallet, assigned.strikes),
    ):
        error = contacts.after - linear_gaussians.mean(law, contacts.before)
        size = contact_frames.sizes(_against(contacts))
        found[name] = _misses(error, size[:, :, None] * law.covariance * size[:, None, :])
    return found


def _against(contacts: Contacts) -> Float[ndarray, "contact 2"]:
    """Return the velocity of the two bodies against each other, in (n, t)."""
    known = contacts.before
    return known if known.shape[1] == 2 else known[:, 2:] - known[:, :2]


def _ahead(
    modes: PuckModes,
    recording: Recording,
    assigned: Assigned,
    table: Table,
    seen: Float[ndarray, "episode time 2"],
    noise: float,
) -> dict[str, Misses]:
    """Return what is missed of the place after a second, from what a filter knows now."""
    kinds = ("floating", "one bank", "more banks", "strike")
    found: dict[str, list[tuple[ndarray, ndarray]]] = {f"{kind}, ahead": [] for kind in kinds}
    for episode in range(len(seen)):
        states = _filtered(modes, recording, table, seen, episode, noise)
        for now in range(WARM, len(states) - AHEAD, _EVERY):
            kind = _kind(assigned, recording, table, episode, now)
            if kind is not None:
                mean, covariance = piecewise_filter.predict(states[now], AHEAD * PERIOD)
                miss = recording.puck[episode, now + AHEAD] - mean[:2]
                found[f"{kind}, ahead"].append((miss, covariance[:2, :2]))
        for miss in _struck(modes, recording, assigned, table, episode, states):
            found["strike, ahead"].append(miss)
    return {
        name: _misses(*(np.array(part) for part in zip(*rows, strict=True)))
        if rows
        else Misses(np.zeros((0, 2)), np.zeros(0))
        for name, rows in found.items()
    }


def _filtered(
    modes: PuckModes,
    recording: Recording,
    table: Table,
    seen: Float[ndarray, "episode time 2"],
    episode: int,
    noise: float,
) -> list[piecewise_filter.State]:
    """Return what the filter knows after each place of an episode."""
    place, speed = recording.mallet[episode], recording.mallet_velocity[episode]
    states = [piecewise_filter.init(modes, table, position=seen[episode, 0], noise=noise)]
    for k in range(1, seen.shape[1]):
        if not np.isfinite(seen[episode, k]).all() or _out(recording.puck[episode, k], table):
            break
        states.append(
            piecewise_filter.update(
                states[-1], seen[episode, k], mallet=place[k], mallet_velocity=speed[k]
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

    What is known is the filter's state before the touch and where the mallet met the puck.
    """
    found, strikes = [], assigned.strikes
    for i in np.flatnonzero((strikes.episode == episode) & (strikes.start >= WARM)):
        start, stop = int(strikes.start[i]), int(strikes.stop[i])
        end = start + AHEAD
        if end >= len(states) or not assigned.floating[episode, stop:end].all():
            continue
        mean, covariance = piecewise_filter.predict(states[start], float(strikes.touch[i]))
        normal = strikes.normal[i]
        mallet = contact_frames.frames(normal).T @ strikes.before[i, 2:]
        truth = recording.puck[episode, start]
        truth = truth + strikes.touch[i] * recording.puck_velocity[episode, start]
        seen = mean[:2] - (truth - table.contact_radius * normal)
        normal = seen / np.linalg.norm(seen)
        after, spread = puck_strikes.struck(modes, mean, covariance, mallet, normal, table=table)
        state = piecewise_filter.State(after, spread, modes, table, states[start].noise)
        after, spread = piecewise_filter.predict(state, AHEAD * PERIOD - strikes.touch[i])
        found.append((recording.puck[episode, end] - after[:2], spread[:2, :2]))
    return found


def _misses(errors: Float[ndarray, "count 2"], spread: Float[ndarray, "count 2 2"]) -> Misses:
    """Return errors with their squared Mahalanobis distances (infinite without a spread)."""
    if np.abs(spread).max(initial=0.0) == 0.0:
        return Misses(errors, np.full(len(errors), np.inf))
    solved = np.linalg.solve(spread + 1e-18 * np.eye(2), errors[:, :, None])[:, :, 0]
    return Misses(errors, (errors * solved).sum(-1))
