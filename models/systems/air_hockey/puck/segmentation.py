r"""The contacts in a record at 50 Hz: of which kind, when, between which velocities.

An interval between two samples belongs to a contact if the puck touches a wall or the mallet at
one of its ends, or if the velocity changed otherwise than by floating. A run of such intervals from
one free sample to the next is one contact: a bank if the free path before it meets a wall, a strike
if it meets the mallet, nothing of use if both or neither, or if the mallet is only grazed (more
sliding than closing, which no shot is). Its velocities are those of the free samples, propagated
along the floating to the instant t of the first touch (found within the step). So the 18 ms that a
mallet pushes lie inside one datum, whichever samples fell into them:

    bank      v+ (n, t)  given  v- (n, t),
    strike    v+ (n, t)  given  v- (n, t), mallet (n, t) at t + `PUSH`,     n being that at t.

Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air Hockey",
Sec. III-B, which leaves the assignment of modes open.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import contact_frames
from ricochet.models.systems.air_hockey.table import Table

PUSH = 0.009  # s after the first touch: when the mallet's velocity is read, midway of a contact
SLOWEST = 0.1  # m/s along the normal; slower contacts are left out
_KICK = 0.02  # m/s, a change of velocity that no floating explains
_TOUCH = 1e-4  # m
_FINE = 80  # instants of a period that are searched


@dataclass(frozen=True)
class Recording:
    """Episodes sampled once a period, in the table's frame.

    Attributes:
        puck, puck_velocity: Of its centre, m and m/s; NaN where they are not known.
        mallet, mallet_velocity: Likewise; NaN where there is none.
    """

    puck: Float[ndarray, "episode time 2"]
    puck_velocity: Float[ndarray, "episode time 2"]
    mallet: Float[ndarray, "episode time 2"]
    mallet_velocity: Float[ndarray, "episode time 2"]


@dataclass(frozen=True)
class Contacts:
    """Contacts of one kind.

    Attributes:
        start, stop: Last free sample before it, and first one after it.
        touch: Time of the first touch after the sample `start`, s.
        normal: Outward from the table, or from the mallet to the puck.
        before: Velocity of the puck, for strikes then that of the mallet, in (n, t), m/s.
        after: Velocity of the puck in (n, t), m/s.
        shift: Place at `stop` less that by v+ from the touch on, in (n, t), m.
    """

    episode: Int[ndarray, " contact"]
    start: Int[ndarray, " contact"]
    stop: Int[ndarray, " contact"]
    touch: Float[ndarray, " contact"]
    normal: Float[ndarray, "contact 2"]
    before: Float[ndarray, "contact n"]
    after: Float[ndarray, "contact 2"]
    shift: Float[ndarray, "contact 2"]

    @property
    def against(self) -> Float[ndarray, "contact 2"]:
        """Velocity of the two bodies against each other, in (n, t), m/s."""
        strikes = self.before.shape[1] == 4
        return self.before[:, 2:] - self.before[:, :2] if strikes else self.before


@dataclass(frozen=True)
class Assigned:
    """A recording cut into modes; contacts with both or neither, or grazing, are in none."""

    floating: Bool[ndarray, "episode interval"]
    banks: Contacts
    strikes: Contacts


def assign(recording: Recording, table: Table, *, drag: Float[ndarray, "2"]) -> Assigned:
    """Return which intervals float at a drag in 1/s, and between which velocities contacts are."""
    speed = recording.puck_velocity
    kick = np.linalg.norm(speed[:, 1:] - speed[:, :-1] * np.exp(-drag * PERIOD), axis=-1)
    slack = _KICK + (0.03 * np.linalg.norm(speed[:, :-1], axis=-1) if not drag.any() else 0.0)
    touching = _touching(recording, table)
    busy = ~(kick <= slack) | touching[:, 1:] | touching[:, :-1]  # NaN: not known to float
    known = np.isfinite(speed).all(-1)
    found: dict[str, list[tuple[ndarray, ...]]] = {"bank": [], "strike": []}
    for episode in range(len(busy)):
        for start, stop in _runs(busy[episode]):
            ends = episode, (start, stop)
            whole = known[ends].all() and not touching[ends].any()
            one = _contact(recording, table, drag, (episode, start, stop)) if whole else None
            if one is not None:
                found[one[0]].append(one[1])
    return Assigned(~busy, _stacked(found["bank"], 2), _stacked(found["strike"], 4))


def _touching(recording: Recording, table: Table) -> Bool[ndarray, "episode time"]:
    """Return which samples lie within a contact."""
    beyond = np.abs(recording.puck) > np.array((table.wall_x, table.wall_y)) + _TOUCH
    gap = np.linalg.norm(recording.puck - recording.mallet, axis=-1)
    return beyond.any(-1) | (gap < table.contact_radius - _TOUCH)  # NaN: no mallet, no touch


def _runs(busy: Bool[ndarray, " interval"]) -> list[tuple[int, int]]:
    """Return first and last sample of each run of busy intervals."""
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), busy, (False,))).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _contact(
    recording: Recording, table: Table, drag: Float[ndarray, "2"], run: tuple[int, int, int]
) -> tuple[str, tuple[ndarray, ...]] | None:
    """Return the kind and the numbers of a contact; None where it cannot be used."""
    met = _first_touch(recording, table, drag, run)
    if met is None:
        return None
    kind, touch, normal = met
    before, after, shift = _free_motion(recording, drag, run, touch)
    frame = contact_frames.frames(normal)
    known = frame @ before
    if kind == "strike":
        pushing = _mallet(recording, run, np.array((touch + PUSH,)))[1][0]
        known = np.concatenate((known, frame @ pushing))
    against = known if kind == "bank" else known[2:] - known[:2]
    if against[0] < SLOWEST or (kind == "strike" and against[0] < abs(against[1])):
        return None
    numbers = (np.array(run), np.array(touch), normal, known, frame @ after, frame @ shift)
    return kind, numbers


def _first_touch(
    recording: Recording, table: Table, drag: Float[ndarray, "2"], run: tuple[int, int, int]
) -> tuple[str, float, Float[ndarray, "2"]] | None:
    """Return what a free puck meets, when after the start, and the normal; None if unclear."""
    episode, start, stop = run
    times = np.linspace(0.0, (stop - start) * PERIOD, _FINE * (stop - start) + 1)
    place, speed = recording.puck[episode], recording.puck_velocity[episode]
    path = place[start] + speed[start] * _reach(drag, times)
    wall = _meets_wall(path, speed[start], table)
    mallet = _meets_mallet(recording, table, run, path, times)
    met = wall if mallet is None else mallet
    if met is None or (wall is not None and mallet is not None):
        return None
    kind, touch = "bank" if mallet is None else "strike", met[0] * PERIOD / _FINE
    rest = times[times > touch]
    path = place[stop] - speed[stop] * _reach(-drag, times[-1] - rest)
    if kind == "bank" and _meets_mallet(recording, table, run, path, rest) is not None:
        return None
    if kind == "strike" and (np.abs(path) > (table.wall_x, table.wall_y)).any():
        return None
    return kind, touch, met[1]


def _free_motion(
    recording: Recording, drag: Float[ndarray, "2"], run: tuple[int, int, int], touch: float
) -> tuple[Float[ndarray, "2"], Float[ndarray, "2"], Float[ndarray, "2"]]:
    """Return free velocities before and after a touch, and the shift of the place by it."""
    episode, start, stop = run
    place, speed = recording.puck[episode], recording.puck_velocity[episode]
    left = (stop - start) * PERIOD - touch
    before = speed[start] * np.exp(-drag * touch)
    after = speed[stop] * np.exp(drag * left)
    shift = place[stop] - place[start] - speed[start] * _reach(drag, touch)
    return before, after, shift - after * _reach(drag, left)


def _meets_wall(
    path: Float[ndarray, "time 2"], speed: Float[ndarray, "2"], table: Table
) -> tuple[float, Float[ndarray, "2"]] | None:
    """Return index and outward normal where a free path meets a wall, not at goals or corners."""
    limit = np.array((table.wall_x, table.wall_y))
    over = (np.abs(path) - limit) * (path * speed > 0.0)
    reached = (over > 0.0).any(0)
    if reached.sum() != 1:
        return None
    axis = int(reached.argmax())
    k = int((over[:, axis] > 0.0).argmax())
    if axis == 0 and abs(path[k, 1]) < table.goal_half_width + table.puck_radius:
        return None
    normal = np.zeros(2)
    normal[axis] = np.sign(path[k, axis])
    return _crossing(over[:, axis], k), normal


def _meets_mallet(
    recording: Recording,
    table: Table,
    run: tuple[int, int, int],
    path: Float[ndarray, "time 2"],
    times: Float[ndarray, " time"],
) -> tuple[float, Float[ndarray, "2"]] | None:
    """Return index and normal where a free path first touches the mallet."""
    apart = path - _mallet(recording, run, times)[0]
    near = table.contact_radius - np.linalg.norm(apart, axis=-1)
    if not len(near) or not (near > 0.0).any():
        return None
    k = int((near > 0.0).argmax())
    index = _crossing(near, k)
    low = int(index)
    part = index - low
    at = apart[low] + part * (apart[min(low + 1, len(apart) - 1)] - apart[low])
    return index, at / np.linalg.norm(at)


def _crossing(signed: Float[ndarray, " time"], k: int) -> float:
    """Return where, in indices, a signed quantity crosses zero just before index k."""
    return float(k) if k == 0 else k - signed[k] / (signed[k] - signed[k - 1])


def _mallet(
    recording: Recording, run: tuple[int, int, int], times: Float[ndarray, " time"]
) -> tuple[Float[ndarray, "time 2"], Float[ndarray, "time 2"]]:
    """Return places and velocities of the mallet after the run's start, by cubic pieces."""
    episode, start, _ = run
    k = np.minimum(start + (times / PERIOD).astype(int), recording.mallet.shape[1] - 2)
    s = (times / PERIOD - (k - start))[:, None]
    p, q = recording.mallet[episode, k], recording.mallet[episode, k + 1]
    v, w = (PERIOD * recording.mallet_velocity[episode, i] for i in (k, k + 1))
    a, b = 3.0 * (q - p) - 2.0 * v - w, 2.0 * (p - q) + v + w
    place = p + s * (v + s * (a + s * b))
    return place, (v + s * (2.0 * a + 3.0 * s * b)) / PERIOD


def _reach(drag: Float[ndarray, "2"], times: float | Float[ndarray, " time"]) -> ndarray:
    """Return the path of floating for a while at unit velocity, s."""
    rate = np.where(drag == 0.0, 1e-9, drag)
    return -np.expm1(-np.asarray(times)[..., None] * rate) / rate


def _stacked(found: list[tuple[ndarray, ...]], width: int) -> Contacts:
    """Return contacts as arrays."""
    if not found:
        none, pair, whole = np.zeros(0), np.zeros((0, 2)), np.zeros(0, dtype=int)
        return Contacts(whole, whole, whole, none, pair, np.zeros((0, width)), pair, pair)
    run, touch, normal, before, after, shift = (np.stack(part) for part in zip(*found, strict=True))
    return Contacts(run[:, 0], run[:, 1], run[:, 2], touch, normal, before, after, shift)
