"""Whether the numbers of an episode can be a puck and a mallet on a table, at 50 Hz in metres.

What is refused: times that are not a period apart; numbers that are infinite; places off the table,
as of another unit or frame; a mallet inside the puck; velocities that the places contradict. An
episode ends where the puck enters a goal mouth: posts are no contact that is learnt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from numpy.lib.stride_tricks import sliding_window_view

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.table import Table

SAME_TABLE = 1e-3  # m, by which tables may differ
_JITTER = 0.1  # of a period, by which a sample may be early or late
_DRIFT = 0.002  # by which the rate may be another
FEWEST, LONGEST = 10, 500  # samples
_IN_A_ROW = 3  # places of the puck, of which its noise is learnt
_OFF = 0.01  # m, by which a place may be beyond where the body can be
_OVERLAP, _SHARE = 0.015, 0.02  # m, and share of samples in which bodies may overlap by more
_FASTEST = 20.0  # m/s
_CONTRADICTED = 0.3  # m/s, median difference of a velocity from that of the places


@dataclass(frozen=True)
class Episode:
    """One episode, a row a sample; NaN where a body was not seen.

    Attributes:
        time: s.
        puck, mallet: Places of their centres, m, in the table's frame.
        puck_velocity, mallet_velocity: m/s, where they were measured.
    """

    time: Float[ndarray, " time"]
    puck: Float[ndarray, "time 2"]
    mallet: Float[ndarray, "time 2"]
    puck_velocity: Float[ndarray, "time 2"] | None = None
    mallet_velocity: Float[ndarray, "time 2"] | None = None


def arrays(episode: Episode) -> dict[str, ndarray]:
    """Return what an episode holds by name."""
    named: Mapping[str, ndarray | None] = vars(episode)
    return {name: array for name, array in named.items() if array is not None}


def checked(episode: Episode, where: str, table: Table) -> Episode:
    """Return an episode up to where the puck is in a goal mouth; `BadInput` if it cannot be one."""
    _check_times(episode.time, where)
    for name, array in arrays(episode).items():
        if np.isinf(array).any() or (np.isnan(array).any(-1) != np.isnan(array).all(-1)).any():
            raise BadInput(f"{where}: {name}", "infinite or half a place", "numbers, or NaN twice")
    ended = _before_goal(episode, table)
    _check_seen(np.isfinite(ended.puck).all(-1), where)
    walls = np.array((table.wall_x, table.wall_y))
    _check_places(ended.puck, walls + _OFF, f"{where}: puck")
    ends = np.array((table.half_length, table.half_width))
    _check_places(ended.mallet, ends + _OFF, f"{where}: mallet")
    _check_overlap(ended, where, table)
    _check_velocity(ended.puck, ended.puck_velocity, f"{where}: puck_velocity")
    _check_velocity(ended.mallet, ended.mallet_velocity, f"{where}: mallet_velocity")
    return ended


def _check_times(time: Float[ndarray, " time"], where: str) -> None:
    if not FEWEST <= len(time) <= LONGEST:
        raise BadInput(where, f"{len(time)} samples", f"{FEWEST} to {LONGEST}")
    if not np.isfinite(time).all():
        raise BadInput(f"{where}: time", "NaN or infinite", "the time of every sample, s")
    late = time - time[0] - PERIOD * np.arange(len(time))
    steps = np.diff(time)
    worst = int(np.abs(steps - PERIOD).argmax())
    apart = np.abs(steps - PERIOD).max() > _JITTER * PERIOD
    if apart or np.ptp(late) > PERIOD * (2.0 * _JITTER + _DRIFT * len(time)):
        found = f"{steps[worst]:g} s after sample {worst}, {np.ptp(late):g} s of drift"
        raise BadInput(f"{where}: time", found, f"steps of {PERIOD:g} s to a tenth, and its rate")


def _check_seen(seen: Bool[ndarray, " time"], where: str) -> None:
    if seen.sum() < FEWEST:
        found = f"{seen.sum()} places of the puck on the table"
        raise BadInput(where, found, f"at least {FEWEST}")
    if not sliding_window_view(seen, _IN_A_ROW).all(-1).any():
        raise BadInput(f"{where}: puck", f"no {_IN_A_ROW} places in a row", "some without gaps")


def _before_goal(episode: Episode, table: Table) -> Episode:
    """Return an episode without the puck from where it first is in a goal mouth on."""
    x, y = np.abs(episode.puck).T
    mouth = (x > table.wall_x + _OFF) & (y < table.goal_half_width)
    gone = np.logical_or.accumulate(mouth)[:, None]
    speed = episode.puck_velocity
    return replace(
        episode,
        puck=np.where(gone, np.nan, episode.puck),
        puck_velocity=None if speed is None else np.where(gone, np.nan, speed),
    )


def _check_places(places: ndarray, limit: Float[ndarray, "2"], where: str) -> None:
    off = np.abs(places) - limit
    if (off > 0.0).any():
        row = int(np.nanargmax(np.nanmax(np.where(np.isnan(off), -np.inf, off), axis=-1)))
        found = f"{np.round(places[row], 3).tolist()} at sample {row}"
        raise BadInput(where, found, f"|x|, |y| up to {np.round(limit, 3).tolist()} m")


def _check_overlap(episode: Episode, where: str, table: Table) -> None:
    apart = np.linalg.norm(episode.puck - episode.mallet, axis=-1)
    apart = apart[np.isfinite(apart)]
    inside = (apart < table.contact_radius - _OVERLAP).mean() if len(apart) else 0.0
    if inside > _SHARE:
        found = f"centres {apart.min():.3f} m apart, in {inside:.0%} of the samples too near"
        raise BadInput(where, found, f"at least {table.contact_radius:.3f} m")


def _check_velocity(places: ndarray, velocity: ndarray | None, where: str) -> None:
    if velocity is None:
        return
    if (np.isfinite(velocity) != np.isfinite(places)).any():
        raise BadInput(where, "other gaps than the places have", "a velocity for every place")
    if (np.abs(velocity) > _FASTEST).any():
        fastest = np.nanmax(np.abs(velocity))
        raise BadInput(where, f"{fastest:g} m/s", f"at most {_FASTEST:g}")
    slope = (places[2:] - places[:-2]) / (2.0 * PERIOD)
    off = np.abs(velocity[1:-1] - slope)
    off = off[np.isfinite(off)]
    if len(off) and np.median(off) > _CONTRADICTED:
        found = f"{np.median(off):.2f} m/s off what the places say (median)"
        raise BadInput(where, found, f"less than {_CONTRADICTED:g}")
