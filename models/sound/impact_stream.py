r"""Impacts detected in a stream of short buffers, while it runs.

The evidence G of models.sound.onsets is computed hop by hop on a history of fixed length. The
recording's medians become exponential means over past hops h, with weights a_f and a_g,

    log floor_h = log floor_{h-1} + a_f (log power_h - log floor_{h-1}),
    ground_h = ground_{h-1} + a_g (min(G_h, cap) - ground_{h-1}),

and a hop is an impact where G is greatest within +-4 ms, exceeds both LEAST_EVIDENCE and four times
the ground, and comes a dead time after the last impact. First arrivals give the delays (the peak
times of Matl et al., STReSSD, section 3.3), hyperbolas the position. Everything hangs on absolute
hops, so the way in which the stream is cut into buffers does not matter.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

from ricochet.models.sound import onsets, realtime_localisation
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.multilateration import Region
from ricochet.models.sound.realtime_localisation import Search

SOUND_SPAN = 0.05
"""Sound kept, s."""
WINDOW_BEFORE = 0.012
"""Sound before an impact that is looked at to time it, s."""
HISTORY = 256
"""Hops kept."""
WAIT = 24
"""Hops after an impact before it is decided: 6 ms."""
LONGEST_CHUNK = 512
"""Frames taken in at once; longer buffers are cut."""
FLOOR_SPAN = 1.0
"""Time constant of the background's power, s."""
GROUND_SPAN = 0.3
"""Time constant of the background's evidence, s."""
LEAST_SHARE = 1e-6
"""Power that counts as silence, as a share of the background."""


@dataclass(frozen=True)
class BounceEvent:
    """One impact.

    Attributes:
        time: When it happened, s after the stream's first frame; the first arrival at a microphone
            where there is no position.
        arrival: First arrival at any microphone, s.
        position: On the surface, m, or None where the delays fit none.
        covariance: Of the position, m^2, or None.
        outlier: True if the delays contradict the array or point outside its surroundings.
        strength: Evidence of the rise in power, nats.
    """

    time: float
    arrival: float
    position: Float[ndarray, " 2"] | None
    covariance: Float[ndarray, "2 2"] | None
    outlier: bool
    strength: float


@dataclass(frozen=True)
class Stream:
    """State between buffers. All arrays keep their size and are updated in place.

    Attributes:
        sections, filters: Filters of the bands, and their memory.
        rest: Filtered frames of the unfinished hop.
        floor: Log power of the background; negative infinity before the first hop.
        power: Power of the last hops over the background.
        evidence: Evidence of the last hops, nats.
        ground: Its background at the last hops, nats.
        resting: Frames in `rest`.
        last: Last hop that was an impact.
    """

    search: Search
    sections: Float[ndarray, "band section 6"]
    filters: Float[ndarray, "band section channel 2"]
    freedom: Float[ndarray, " band"]
    sound: Float[ndarray, "channel frame"]
    rest: Float[ndarray, "band channel hop_frame"]
    floor: Float[ndarray, "band channel"]
    power: Float[ndarray, "hop band"]
    evidence: Float[ndarray, " hop"]
    ground: Float[ndarray, " hop"]
    frames: int = 0
    resting: int = 0
    hops: int = 0
    last: int = -HISTORY


def init(microphones: Microphones, *, region: Region | None = None) -> Stream:
    """Return the state before the first frame.

    >>> init(Microphones(np.array([[0.0, 0.0, 0.1]]), 44100.0)).sound.shape
    (1, 2205)

    Args:
        microphones: The array; with fewer than three microphones events have no position.
        region: Where impacts can be; None takes the surroundings of the microphones.

    Raises:
        ValueError: If the sample rate is under 8 kHz, or if three or more microphones stand so
            that they cannot fix a point.
    """
    rate = microphones.sample_rate
    if not rate >= 8000.0:
        raise ValueError(f"microphones.sample_rate must be at least 8000 Hz, got {rate}")
    edges, channels = onsets.bands(rate), len(microphones.positions)
    sections = np.stack(
        [signal.butter(2, edge, btype="bandpass", fs=rate, output="sos") for edge in edges]
    )
    hop = onsets.hop_length(rate)
    return Stream(
        search=realtime_localisation.prepare(microphones, region=region),
        sections=sections,
        filters=np.zeros((len(edges), sections.shape[1], channels, 2)),
        freedom=onsets.freedoms(rate),
        sound=np.zeros((channels, round(SOUND_SPAN * rate))),
        rest=np.zeros((len(edges), channels, hop)),
        floor=np.full((len(edges), channels), -np.inf),
        power=np.zeros((HISTORY, len(edges))),
        evidence=np.zeros(HISTORY),
        ground=np.zeros(HISTORY),
    )


def step(
    state: Stream, buffer: Float[ndarray, "channel frame"]
) -> tuple[Stream, tuple[BounceEvent, ...]]:
    """Take in one buffer and return the impacts that it decided.

    The state's arrays are updated in place: a state may be stepped once only. An impact is decided
    6 ms after its first arrival, so its event comes with the buffer that holds that instant.

    >>> state = init(Microphones(np.array([[0.0, 0.0, 0.1]]), 44100.0))
    >>> sound = 1e-3 * np.random.default_rng(0).standard_normal((1, 44100))
    >>> sound[0, 22050] = 1.0
    >>> state, events = step(state, sound)
    >>> [round(event.arrival, 4) for event in events]
    [0.5]

    Raises:
        ValueError: If the number of channels is not that of the array, or a sample is not finite.
    """
    channels = len(state.search.microphones.positions)
    if buffer.ndim != 2 or len(buffer) != channels:
        raise ValueError(f"buffer must have shape ({channels}, frame), got {buffer.shape}")
    if not np.isfinite(buffer).all():
        raise ValueError("buffer must be finite, got NaN or infinity")
    events: list[BounceEvent] = []
    for first in range(0, buffer.shape[1], LONGEST_CHUNK):
        state, found = _take_in(state, np.asarray(buffer[:, first : first + LONGEST_CHUNK], float))
        events.extend(found)
    return state, tuple(events)


def _take_in(
    state: Stream, chunk: Float[ndarray, "channel frame"]
) -> tuple[Stream, list[BounceEvent]]:
    """Filter a chunk, extend the history by the hops it finished, decide what is due."""
    before = state.hops
    _push(state.sound.T, chunk.T)
    state = _extend_power(state, chunk)
    state = replace(state, frames=state.frames + chunk.shape[1])
    fresh = state.hops - before
    if fresh == 0:
        return state, []
    _extend_evidence(state, fresh)
    events = []
    for hop in _due(state, fresh):
        if (hop - state.last) * onsets.HOP >= onsets.DEAD_TIME:
            state = replace(state, last=hop)
            events.append(_event(state, hop))
    return state, events


def _push(history: Float[ndarray, " kept *rest"], fresh: Float[ndarray, " new *rest"]) -> None:
    """Shift a history in place so that it ends with fresh entries."""
    count = len(fresh)
    history[:-count] = history[count:]
    history[-count:] = fresh


def _extend_power(state: Stream, chunk: Float[ndarray, "channel frame"]) -> Stream:
    """Filter a chunk and append the power of the hops it finishes, over the background."""
    bands, channels, hop = state.rest.shape
    total = state.resting + chunk.shape[1]
    fresh, resting = divmod(total, hop)
    band = np.empty((bands, channels, total))
    band[:, :, : state.resting] = state.rest[:, :, : state.resting]
    for index, sections in enumerate(state.sections):
        band[index, :, state.resting :], state.filters[index] = signal.sosfilt(
            sections, chunk, axis=1, zi=state.filters[index]
        )
    state.rest[:, :, :resting] = band[:, :, fresh * hop :]
    if fresh:
        whole = band[:, :, : fresh * hop].reshape(bands, channels, fresh, hop)
        power = np.einsum("bchf,bchf->bch", whole, whole) / hop
        _push(state.power, _over_background(state, power))
    return replace(state, resting=resting, hops=state.hops + fresh)


def _over_background(
    state: Stream, power: Float[ndarray, "band channel hop"]
) -> Float[ndarray, "hop band"]:
    """Divide by each channel's running background, in place of the recording's median."""
    level = np.log(power + 1e-30)
    started = np.isfinite(state.floor)
    state.floor[...] = np.where(started, state.floor, level[:, :, 0])
    floor = _smooth(level, state.floor, span=FLOOR_SPAN)
    state.floor[...] = floor[:, :, -1]
    return np.asarray(np.exp(level - floor).mean(axis=1).T)


def _smooth(
    values: Float[ndarray, "*batch hop"], last: Float[ndarray, "*batch"], *, span: float
) -> Float[ndarray, "*batch hop"]:
    """Return the exponential mean over hops, continued from the last value."""
    keep = float(np.exp(-onsets.HOP / span))
    begin = keep * last[..., None]
    smooth, _ = signal.lfilter([1.0 - keep], [1.0, -keep], values, axis=-1, zi=begin)
    return np.asarray(smooth)


def _extend_evidence(state: Stream, fresh: int) -> None:
    """Append the evidence of the hops whose window ahead is complete now."""
    ahead = round(onsets.AHEAD / onsets.HOP)
    context = round((onsets.PEAKS_BEHIND + onsets.AHEAD) / onsets.HOP)
    recent = state.power[-(fresh + ahead + context) :]
    evidence = onsets.rise_of_power(recent, state.freedom, floor=LEAST_SHARE)
    evidence = evidence[len(evidence) - ahead - fresh : len(evidence) - ahead]
    complete = state.hops - ahead - fresh + np.arange(fresh)
    evidence = np.where(complete >= round(onsets.BEHIND / onsets.HOP), evidence, 0.0)
    capped = np.minimum(evidence, 2.0 * onsets.LEAST_EVIDENCE)
    _push(state.ground, _smooth(capped, np.asarray(state.ground[-1]), span=GROUND_SPAN))
    _push(state.evidence, evidence)


def _due(state: Stream, fresh: int) -> list[int]:
    """Return the hops that are impacts among those that the fresh hops made decidable."""
    ahead = round(onsets.AHEAD / onsets.HOP)
    reach = round(0.5 * onsets.DEAD_TIME / onsets.HOP)
    first = HISTORY - (WAIT - ahead) - fresh
    recent = state.evidence[first : first + fresh]
    threshold = np.maximum(onsets.LEAST_EVIDENCE, 4.0 * state.ground[first : first + fresh])
    hops = []
    for index in np.flatnonzero(recent > threshold):
        place = first + int(index)
        if state.evidence[place - reach : place + reach + 1].max() == state.evidence[place]:
            hops.append(state.hops - ahead - (HISTORY - place))
    return hops


def _event(state: Stream, hop: int) -> BounceEvent:
    """Time and locate the impact at one hop, from a window that depends on the hop alone."""
    rate = state.search.microphones.sample_rate
    before, after = round(WINDOW_BEFORE * rate), WAIT * onsets.hop_length(rate)
    split = hop * onsets.hop_length(rate)
    first = state.sound.shape[1] - state.frames + split - before
    window = np.zeros((len(state.sound), before + after))
    window[:, max(-first, 0) :] = state.sound[:, max(first, 0) : first + before + after]
    impact = realtime_localisation.locate(window, before, state.search)
    origin = (split - before) / rate
    ahead = round(onsets.AHEAD / onsets.HOP)
    strength = float(state.evidence[HISTORY + hop - (state.hops - ahead)])
    first, fix = origin + impact.arrival, impact.fix
    if fix is None:
        return BounceEvent(first, first, None, None, True, strength)
    return BounceEvent(
        origin + fix.emission,
        first,
        fix.position,
        fix.covariance[:2, :2],
        impact.outlier,
        strength,
    )
