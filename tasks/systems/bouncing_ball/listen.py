"""Record a bouncing ball until it lies still, and say what each bounce adds.

The sound is in its file as it comes, so that a kill loses nothing of it. Frames that were lost are
silence there, so that later bounces keep their times. What is wrong with the sound is said at once,
and of what goes on a line a second.
"""

import contextlib
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from ricochet.hardware.microphones.stream import Listener
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings.growing_file import GrowingFile
from ricochet.tasks.systems.bouncing_ball.live import LiveCalibration, Look

PERIOD = 0.2
"""Least time between two looks, s; the sound that comes during one waits."""
REST = 4.0
"""Time without a bounce after which the ball lies still, s."""
FEWEST = 3
"""Bounces of a ball from which it may be said to lie still."""
DEAD = 2.0
"""Length of nothing but zeros after which the microphone is refused, s."""
REMINDER = 5.0
"""Time without a bounce after which the level is said, s."""
BETWEEN = 1.0
"""Least sound between two lines of what is wrong with it, s."""

Clock = Callable[[], float]


def record(
    listener: Listener,
    path: Path,
    live: LiveCalibration,
    *,
    seconds: float,
    report_line: Callable[[str], None],
    clock: Clock = time.monotonic,
) -> None:
    """Record to a WAV file until the ball lies still, the time is over or Ctrl-C is pressed.

    Args:
        live: Takes the sound and its bounces.
        seconds: Longest recording.
        clock: Monotonic time, s.

    Raises:
        BadInput: The device gives nothing but zeros, or the file cannot be written.
    """
    rig, reminded = listener.rig, 0.0
    with (
        GrowingFile(path, channels=len(rig.microphones), sample_rate=rig.sample_rate) as file,
        contextlib.suppress(KeyboardInterrupt),
        contextlib.closing(_sound(listener, report_line)) as sound,
    ):
        looked = clock()
        for samples in sound:
            file.add(samples)
            live.add(samples)
            if clock() - looked < PERIOD:
                continue
            _refuse_zeros(live, rig.name)
            _report(live.look(), report_line)
            looked = clock()
            if _over(live, seconds):
                break
            if not len(live.reported) and live.seconds - reminded > REMINDER:
                reminded = live.seconds
                report_line(f"{reminded:4.0f} s: no bounces yet, {_level(live)}")
    _report(live.look(), report_line)


def lines(look: Look) -> list[str]:
    """Return a line for each new bounce, the last one with restitution by all bounces so far."""
    gaps = np.diff(look.times, prepend=np.nan if look.before is None else look.before)
    after = ["the first" if np.isnan(gap) else f"{gap:.3f} s" for gap in gaps]
    said = [
        f"bounce {number:3d} at {time:7.3f} s, {gap}"
        for number, (time, gap) in enumerate(zip(look.times, after, strict=True), look.first)
    ]
    at = look.answer.at_first_bounce
    low, high = at.region_90
    said[-1] += f"   restitution {at.mean:.4f}   90 %: {low:.4f} to {high:.4f}"
    return said


def _sound(
    listener: Listener, report_line: Callable[[str], None]
) -> Generator[Float32[ndarray, "channel frame"], None, None]:
    """Yield the stream with silence for what was lost, whose place is said."""
    received, rate = 0, listener.rig.sample_rate
    losses, faults = _Sparse(report_line), _Sparse(report_line)
    try:
        for buffer in listener.buffers():
            channels, size = buffer.samples.shape
            lost, now = round(buffer.time * rate) - received - size, received / rate
            missing = f"sound was lost at {now:.2f} s: at least {lost / rate:.2f} s"
            losses.say(now, missing if buffer.xruns else "")
            wrong = "; ".join(buffer.faults)
            faults.say(now, f"sound at {now:.2f} s: {wrong}" if wrong else "")
            if lost > 0:
                yield np.zeros((channels, lost), np.float32)
            yield buffer.samples
            received += lost + size
    finally:
        losses.end()
        faults.end()
    if listener.fault is not None:
        report_line(listener.fault)


@dataclass
class _Sparse:
    """Lines of one kind: the first at once, then the last of each BETWEEN, with their number."""

    report_line: Callable[[str], None]
    line: str = ""
    count: int = 0
    due: float = 0.0

    def say(self, now: float, line: str) -> None:
        """Take the line of a buffer, "" for none, at a time of the sound, s."""
        if line:
            self.line, self.count = line, self.count + 1
        if self.count and now >= self.due:
            self.end()
            self.due = now + BETWEEN

    def end(self) -> None:
        """Say what was not said yet."""
        before = f", and {self.count - 1} times before" if self.count > 1 else ""
        if self.count:
            self.report_line(self.line + before)
        self.count = 0


def _report(look: Look | None, report_line: Callable[[str], None]) -> None:
    for line in lines(look) if look is not None else ():
        report_line(line)


def _over(live: LiveCalibration, seconds: float) -> bool:
    """Return whether the time is over, or the ball lies still."""
    still = len(live.reported) >= FEWEST and live.seconds - live.reported[-1] > REST
    return live.seconds >= seconds or still


def _refuse_zeros(live: LiveCalibration, name: str) -> None:
    if live.seconds > DEAD and live.peak == 0.0:
        expected = "sound: is the microphone switched on, and may this program use it?"
        raise BadInput(name, f"nothing but zeros for {DEAD:g} s", expected)


def _level(live: LiveCalibration) -> str:
    return f"loudest sample {20.0 * np.log10(max(live.peak, 1e-9)):.0f} dB of full scale"
