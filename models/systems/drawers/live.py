"""A drawer followed while its sound comes in: buffers in, an estimate at the end of each frame.

The answers are those of the whole recording at once (`hearing`, `tracking/follower.py`): a frame is
complete after 1024 samples, and what came before it is kept as features.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import coherences
from ricochet.models.systems.drawers import features, hearing
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import FRAME, SAMPLE_RATE
from ricochet.models.systems.drawers.tracking import follower
from ricochet.models.systems.drawers.tracking.follower import Estimate, Follower
from ricochet.models.systems.drawers.tracking.pace import Seen

KEPT = 1 + max(*features.SPEED, *features.PLACE, *features.DIRECTION)
"""Frames whose features are kept."""


@dataclass(frozen=True)
class Stream:
    """What is kept between two buffers.

    Attributes:
        pending: Samples of the frame that is not complete yet.
        alike, loud: Coherences and loudness of the last frames, the newest last.
        follower: The belief after the last complete frame.
        frames: How many were complete.
    """

    hearing: Hearing
    pending: Float[ndarray, "channel sample"]
    follower: Follower
    alike: Float[ndarray, "kept feature"] | None = None
    loud: Float[ndarray, "kept level"] | None = None
    frames: int = 0


def begin(heard: Hearing, channels: int) -> Stream:
    """Return a stream of which nothing was heard yet."""
    return Stream(heard, np.zeros((channels, 0)), follower.begin(heard.grammar))


def feed(
    stream: Stream, samples: Float[ndarray, "channel sample"], seen: Seen | None = None
) -> tuple[Stream, list[Estimate]]:
    """Return the stream after a buffer, and an estimate for each frame that it completed.

    Args:
        samples: At `labels.SAMPLE_RATE`, full scale 1.
        seen: Where the camera sees the drawer now; it counts for the frames that are completed.

    Raises:
        ValueError: If the buffer has another number of channels, or a sample is not finite.
    """
    if len(samples) != len(stream.pending):
        raise ValueError(f"{len(samples)} channels, expected {len(stream.pending)}")
    if not np.isfinite(samples).all():
        raise ValueError("a sample that is not finite, expected numbers")
    pending, found = np.hstack([stream.pending, samples]), []
    while pending.shape[1] >= FRAME:
        stream = _framed(stream, pending[:, :FRAME], seen)
        pending = pending[:, FRAME:]
        found.append(follower.estimate(stream.follower, stream.hearing.grammar))
    return replace(stream, pending=pending), found


def lose(stream: Stream, seen: Seen | None = None) -> tuple[Stream, Estimate]:
    """Return the stream after a frame of which nothing was heard, and the estimate at its end.

    The drawer may have moved as fast as drawers do, either way.

    Args:
        seen: Where the camera sees the drawer.
    """
    moved = follower.unheard(stream.follower, seen, stream.hearing.grammar)
    lost = replace(forget(stream), follower=moved, frames=stream.frames + 1)
    return lost, follower.estimate(moved, stream.hearing.grammar)


def forget(stream: Stream) -> Stream:
    """Return the stream without the frame that began, and without those that the next follows."""
    return replace(stream, pending=stream.pending[:, :0], alike=None, loud=None)


def _framed(stream: Stream, samples: Float[ndarray, "channel sample"], seen: Seen | None) -> Stream:
    """Return the stream after one more frame."""
    alike = coherences.band_coherences(samples.astype(float), FRAME, SAMPLE_RATE)
    loud = features.loudness(samples)
    every = np.vstack([alike if stream.alike is None else stream.alike, alike])[-KEPT:]
    louder = np.vstack([loud if stream.loud is None else stream.loud, loud])[-KEPT:]
    seen_now = features.last(features.of_frames(every, louder))
    (heard,) = hearing.listen(stream.hearing, seen_now).heard()
    moved = follower.step(stream.follower, heard, seen, stream.hearing.grammar)
    return replace(
        stream,
        follower=moved,
        alike=every,
        loud=louder,
        frames=stream.frames + 1,
    )
