"""Frames against time: blocks that a sound card lost or gave twice without a word.

    r = t - n / rate        n: frames up to a block; t: when they came, by one clock

Without loss the lower envelope of r is level, but for a clock that drifts: callbacks come late,
never early. Lost frames raise it for good, doubled ones lower it. The envelope is the least r in
each BIN of time. A step is a rise from the median of SPAN bins that lasts for HORIZON bins, or to
the end, and at least for SPAN; or a fall from what lasted for HORIZON bins. Stalls of callbacks
that are made up for afterwards are therefore none. A step of TOLERANCE or more is a slip: 5 ms, 221
frames at 44.1 kHz, less than half a buffer of a stream. Clocks that are 300 ppm apart move r by
1 ms in that time.

Two clocks are compared where both are there: the machine's, when the callback ran, and the stream's
(PortAudio's `inputBufferAdcTime`), when the block was recorded. Callbacks that are late for long
raise r by the first alone, and a driver that states nonsense by the second alone: a slip is what
both show. A stated time that only counts the frames again is no clock. A block equal to one of the
RECENT before to the last bit is a doubled one, unless it is constant.
"""

import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

BIN = 0.2  # s
SPAN = 3  # bins on either side of a step, at least
HORIZON = 15  # bins for which what is said to last must last
TOLERANCE = 5e-3  # s
RATE_ERROR = 0.03  # share by which frames may come faster or slower than was asked, without loss
FAR_OFF = 0.25  # the same, however unsteadily they come
COUNTED = 1e-7  # s by which times that are counted from frames are off, by their rounding
RECENT = 4  # blocks: a driver that has few buffers may give an old one again
KEPT = 4.0  # s of blocks that a stream looks back on


@dataclass(frozen=True)
class Slip:
    """Frames that were lost or doubled without a word.

    Attributes:
        frame: Frame, of those that came, before which it happened.
        frames: How many were lost; below 0: doubled.
    """

    frame: int
    frames: int

    def __str__(self) -> str:
        """Say it in a line."""
        what = "lost" if self.frames > 0 else "doubled"
        return f"about {abs(self.frames)} frames {what} at frame {self.frame}, not flagged"


@dataclass(frozen=True)
class Blocks:
    """Blocks as they came.

    Attributes:
        begins, sizes: First frame and frames of each.
        arrived: When its callback ran, s of the machine's clock.
        recorded: When its first frame was recorded, s of the stream's clock; NaN: not stated.
    """

    begins: Int[ndarray, " block"]
    sizes: Int[ndarray, " block"]
    arrived: Float[ndarray, " block"]
    recorded: Float[ndarray, " block"]


class FrameClock:
    """The blocks of one stream and their times; one thread notes them, one asks."""

    def __init__(
        self,
        sample_rate: int,
        *,
        kept: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin before the first block.

        Args:
            sample_rate: Hz.
            kept: How long to remember blocks, s; all when absent.
            clock: The machine's, s.
        """
        self._rate, self._clock, self._kept = sample_rate, clock, kept
        self._rows: deque[tuple[int, int, float, float]] = deque()
        self._doubled: list[Slip] = []
        self._recent: deque[Float[ndarray, "frame channel"]] = deque(maxlen=RECENT)
        self._frames, self._origin = 0, clock()

    def note(self, block: Float[ndarray, "frame channel"], stated: Any) -> None:
        """Note a block in its callback; `stated` are PortAudio's times, or None."""
        now, size = self._clock(), len(block)
        if size > 1 and any(_repeats(each, block) for each in self._recent):
            self._doubled.append(Slip(self._frames, -size))
        self._recent.append(np.array(block))
        adc = getattr(stated, "inputBufferAdcTime", None)
        self._rows.append((self._frames, size, now, np.nan if adc is None else float(adc)))
        self._frames += size
        while self._kept is not None and now - self._rows[0][2] > self._kept:
            self._rows.popleft()

    @property
    def doubled(self) -> int:
        """How many blocks were earlier ones again."""
        return len(self._doubled)

    def rate(self) -> float:
        """Return frames a second by the machine's clock; a driver may count its own from frames.

        Where they hardly come steadily it is that of all of them together, if that is far off. It
        is what was asked where few came, and where r has steps: those are slips.
        """
        blocks = self._blocks()
        if blocks is None or (seconds := float(np.ptp(blocks.arrived))) < 2 * SPAN * BIN:
            return float(self._rate)
        bins = _full_bins(blocks, self._rate)
        late = _late(blocks, self._rate)[0]
        rise = 0.0
        if len(bins) >= 2 * SPAN:
            rise = _rise(blocks.arrived[bins[:, 0]], _floors(late, bins))
        mean = float(blocks.sizes[1:].sum()) / seconds
        return mean if rise == 0.0 and _far(mean / self._rate) else self._rate * (1.0 - rise)

    def odd_rate(self) -> str | None:
        """Return in a line that frames come steadily at another rate than was asked, else None."""
        if abs((rate := self.rate()) / self._rate - 1.0) <= RATE_ERROR:
            return None
        return f"found some {rate:.0f} frames a second by its clock, expected {self._rate}"

    def slips(self) -> tuple[Slip, ...]:
        """Return what was lost or doubled among the blocks that are remembered, by frame."""
        found, blocks = list(self._doubled), self._blocks()
        if blocks is not None:
            near = BIN * self._rate
            found += [
                slip
                for slip in stepped(blocks, self._rate)
                if all(abs(slip.frame - each.frame) > near for each in self._doubled)
            ]
        return tuple(sorted(found, key=lambda slip: slip.frame))

    def _blocks(self) -> Blocks | None:
        """Return the blocks that are remembered, None where they are few."""
        rows = list(self._rows)
        if len(rows) <= 2 * SPAN:
            return None
        begins, sizes, arrived, recorded = (np.array(column) for column in zip(*rows, strict=True))
        return Blocks(begins, sizes, arrived - self._origin, recorded)


def stepped(blocks: Blocks, sample_rate: int) -> tuple[Slip, ...]:
    """Find the steps of the lower envelope of r, which must be SPAN bins from either end."""
    bins = _full_bins(blocks, sample_rate)
    if len(bins) < 2 * SPAN:
        return ()
    late = _late(blocks, sample_rate)
    steps = np.array([_steps(_floors(each, bins)) for each in late])
    agree = (np.sign(steps) == np.sign(steps[0])).all(axis=0)
    least = np.where(agree, np.sign(steps[0]) * np.abs(steps).min(axis=0), 0.0)
    return tuple(
        Slip(
            int(blocks.begins[_row(late[-1], bins, at, float(least[at]))]),
            round(float(least[at]) * sample_rate),
        )
        for at in _peaks(least)
    )


def _late(blocks: Blocks, sample_rate: int) -> list[Float[ndarray, " block"]]:
    """Return r by the machine's clock, and by the stream's where that is stated."""
    late = [blocks.arrived - (blocks.begins + blocks.sizes) / sample_rate]
    between = np.diff(blocks.recorded)
    counted = np.ptp(between - blocks.sizes[:-1] / sample_rate) <= COUNTED
    if np.isfinite(blocks.recorded).all() and (between > 0.0).all() and not counted:
        late.append(blocks.recorded - blocks.begins / sample_rate)
    return late


def _far(share: float) -> bool:
    """Tell whether a rate is off by more than losses explain, which would be slips."""
    return not 1.0 - FAR_OFF < share < 1.0 + FAR_OFF


def _rise(times: Float[ndarray, " bin"], floors: Float[ndarray, " bin"]) -> float:
    """Return by how much the envelope rises a second where that is steady, else 0."""
    slope, start = np.polyfit(times, floors, 1)
    off = float(np.median(np.abs(floors - start - slope * times)))
    return float(slope) if off < TOLERANCE else 0.0


def _full_bins(blocks: Blocks, sample_rate: int) -> Int[ndarray, "bin 2"]:
    """Return first block and end of each bin of time, but of the last, which is not over.

    Bins with less than half of the blocks that come in their time say little: a stall is in them.
    """
    bins = np.floor(blocks.arrived / BIN).astype(int)
    edges = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    usual = BIN * sample_rate / float(np.median(blocks.sizes))
    pairs = np.stack((edges[:-1], edges[1:]), axis=-1)
    return pairs[np.diff(pairs, axis=-1)[:, 0] >= usual / 2.0]


def _floors(late: Float[ndarray, " block"], bins: Int[ndarray, "bin 2"]) -> Float[ndarray, " bin"]:
    """Return the least of each bin."""
    return np.minimum.reduceat(late, bins.ravel())[::2]


def _steps(floors: Float[ndarray, " bin"]) -> Float[ndarray, " bin"]:
    """Return by how much the envelope is higher after the begin of each bin than before, s.

    A rise must last, a fall must be from what lasted: HORIZON bins, or to the end.
    """
    medians = np.median(np.lib.stride_tricks.sliding_window_view(floors, SPAN), axis=-1)
    steps = np.zeros(len(floors))
    for at in range(SPAN, len(floors) - SPAN + 1):
        rise = floors[at : at + HORIZON].min() - medians[at - SPAN]
        fall = medians[at] - floors[max(at - HORIZON, 0) : at].min()
        if rise > 0.0:
            steps[at] = rise
        elif fall < 0.0 and at >= HORIZON:
            steps[at] = fall
    return steps


def _peaks(steps: Float[ndarray, " bin"]) -> list[int]:
    """Return the bin of the largest step in each run of slips of one sign."""
    kinds = np.where(np.abs(steps) >= TOLERANCE, np.sign(steps), 0.0)
    bounds = np.flatnonzero(np.diff(kinds, prepend=0.0, append=0.0))
    return [
        int(begin + np.abs(steps[begin:end]).argmax())
        for begin, end in itertools.pairwise(bounds)
        if kinds[begin]
    ]


def _row(late: Float[ndarray, " block"], bins: Int[ndarray, "bin 2"], at: int, step: float) -> int:
    """Return the block at which the envelope crosses the middle of a step, near a bin's begin."""
    first, last = int(bins[at - 2, 0]), int(bins[min(at + 1, len(bins) - 1), 1])
    before = float(np.median(_floors(late, bins[at - SPAN : at])))
    low = np.flatnonzero(late[first:last] < before + step / 2.0)
    if step > 0.0:
        return min(first + int(low[-1]) + 1, last - 1) if len(low) else first
    return first + int(low[0]) if len(low) else last - 1


def _repeats(earlier: ndarray, block: Float[ndarray, "frame channel"]) -> bool:
    """Return whether a block is an earlier one again; silence may be."""
    return bool(np.array_equal(earlier, block) and np.ptp(block, axis=0).any())
