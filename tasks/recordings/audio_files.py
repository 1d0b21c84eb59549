"""Audio files at the border: what libsndfile reads, each fault one line.

Samples have full scale 1. A file is unusable when it is unreadable, cut short, empty, not finite or
silent; a take of a rig also when its channels or its rate are not the rig's, or when a channel is
stuck or clipped. What a header claims is held against `limits` before it is decoded, in blocks.
Thresholds are those of a 16 bit recorder, whose step is 2^-15.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import lossy_sound, truncation
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import read_regular

STEP = 2.0**-15
SILENCE = 3 * STEP  # a channel that never leaves this range holds no sound
CEILING = 0.999  # full scale, less what a recorder's filter leaves
LEAST_CUT = 3  # frames at the extreme of a channel that make a clip; its own peaks are two
SPREAD = 2 * STEP  # over which a dithered conversion spreads the extreme
BELOW = 0.01  # of the extreme, beneath which frames of sound that fits are spread evenly
STUCK_SHARE = 0.5  # of a take in one unchanged value
READ = (
    "WAV, FLAC, AIFF, OGG or MP3; m4a, mp4, mov, 3gp or amr with PyAV (`pip install av`; in a "
    "checkout `make setup-media`); `ffmpeg -i IN OUT.wav` converts the rest"
)
SUBTYPES = ("PCM_16", "PCM_24", "FLOAT")
FORMATS = ("WAV", "WAVEX", "RF64", "FLAC", "AIFF", "OGG", "MP3")
MPEG = (b"ID3", *(bytes((0xFF, second)) for second in range(0xE0, 0x100)))
BEGINNINGS = (b"RIFF", b"RF64", b"fLaC", b"FORM", b"OggS", *MPEG)
MOST_OF_FLAC = 8  # channels
BLOCK = 2**20  # samples decoded at once


@dataclass(frozen=True)
class Audio:
    """A decoded file, its sample rate in Hz, and how libsndfile names the form of a sample."""

    samples: Float[ndarray, "channel frame"]
    sample_rate: int
    subtype: str


def read(path: Path) -> Audio:
    """Decode a file; BadInput if unreadable, cut short, empty, not finite or silent."""
    return decode(path, content_of(path))


def decode(path: Path, content: bytes) -> Audio:
    """Decode what a file holds; BadInput as `read`."""
    if not content.startswith(BEGINNINGS):
        raise BadInput(str(path), f"unreadable: it begins with {content[:4]!r}", READ)
    if content.startswith((b"OggS", *MPEG)):
        if len(content) > limits.LOSSY:
            raise BadInput(str(path), f"{len(content)} bytes", f"at most {limits.LOSSY} with loss")
        lossy_sound.check(path, content, READ)
    audio = _decode(path, content)
    if audio.samples.shape[1] > 0:
        truncation.refuse(path, content)
    check_sound(path, audio)
    return audio


def check_sound(path: Path, audio: Audio) -> None:
    """Refuse what is decoded but empty, not finite or silent."""
    if audio.samples.shape[1] == 0:
        raise BadInput(str(path), "no frames", "a recording")
    finite = np.isfinite(audio.samples)
    if not finite.all():
        channel, frame = np.unravel_index(int(finite.argmin()), finite.shape)
        found = f"{audio.samples[channel, frame]} in channel {channel} at frame {frame}"
        raise BadInput(str(path), found, "finite samples")
    if np.ptp(audio.samples, axis=1).max() <= SILENCE:
        raise BadInput(str(path), "silence in every channel", "sound")


def content_of(path: Path) -> bytes:
    """Read the bytes of a regular file, no link, that must hold something and not too much."""
    content = read_regular(path, "a sound file", largest=limits.SOUND)
    if not content:
        raise BadInput(str(path), "zero bytes", "a sound file")
    return content


def check_size(where: str, *, channels: int, frames: int, sample_rate: float) -> None:
    """Refuse a recording that is larger than `limits` lets a recording be.

    Args:
        sample_rate: Hz.
    """
    if not 1 <= channels <= limits.CHANNELS:
        raise BadInput(where, f"{channels} channels", f"1 to {limits.CHANNELS}")
    if not 1 <= sample_rate <= limits.RATES[1]:
        raise BadInput(where, f"{sample_rate:g} Hz", f"at most {limits.RATES[1]} Hz")
    longest = min(limits.SAMPLES / channels / sample_rate, limits.DURATION)
    if frames > longest * sample_rate:
        found = f"{frames} frames of {channels} channels at {sample_rate:g} Hz"
        raise BadInput(where, found, f"at most {longest:.4g} s of them")


def check_rig(
    path: Path, audio: Audio, *, channels: int, sample_rate: int, clipped: float = 0.0
) -> None:
    """Refuse a take that is not what its rig records, or has a stuck, copied or clipped channel.

    Args:
        clipped: Share of a channel's frames that may be cut off at full scale.
    """
    if len(audio.samples) != channels:
        raise BadInput(str(path), f"{len(audio.samples)} channels", f"{channels}")
    if audio.sample_rate != sample_rate:
        raise BadInput(str(path), f"{audio.sample_rate} Hz", f"{sample_rate} Hz")
    if audio.subtype not in SUBTYPES:
        raise BadInput(str(path), audio.subtype, "PCM of 16 or 24 bit, or float32")
    for channel, track in enumerate(audio.samples):
        _check_channel(f"{path}: channel {channel}", track, clipped)
    for second in range(1, channels):
        if (audio.samples[second] == audio.samples[:second]).all(axis=1).any():
            raise BadInput(f"{path}: channel {second}", "a copy of another", "its own sound")


def _check_channel(where: str, track: Float[ndarray, " frame"], clipped: float) -> None:
    """Refuse a channel that is stuck at a value or cut off at full scale."""
    longest, value = longest_run(track)
    if longest > STUCK_SHARE * len(track) or np.ptp(track) <= SILENCE:
        raise BadInput(where, f"stuck at {value:.4g} for {longest} frames", "sound")
    cut = clipped_frames(track)
    if len(cut) > clipped * len(track):
        raise BadInput(where, f"clipped, {len(cut)} frames at full scale", "a lower gain")


def clipped_frames(track: Float[ndarray, " frame"]) -> Int[ndarray, " cut"]:
    """Find where a channel is cut off at full scale, however short its flat tops are.

    Clicks ring at up to 16 kHz, and a flat top is then one or two frames long: its length tells
    little. Where the cut frames lie tells more. Of the frames of a tone that are within BELOW of
    its peak, a share sqrt(SPREAD / BELOW) = 0.08 is within SPREAD of it, and of noise a smaller
    one; cutting off piles up on the extreme all that was above. A channel is clipped when LEAST_CUT
    frames or more lie at its extremes, and they are more than half of those within BELOW of them.
    """
    low, high = float(track.min()), float(track.max())
    cut, near = np.zeros(len(track), np.bool_), 0
    if high >= CEILING:
        cut |= track >= high - SPREAD
        near += int(np.count_nonzero(track >= (1.0 - BELOW) * high))
    if -low >= CEILING:
        cut |= track <= low + SPREAD
        near += int(np.count_nonzero(track <= (1.0 - BELOW) * low))
    clipped = np.count_nonzero(cut) >= max(LEAST_CUT, near // 2 + 1)
    return np.flatnonzero(cut) if clipped else np.empty(0, np.intp)


def longest_run(values: ndarray) -> tuple[int, float]:
    """Return the length of the longest run of one value, and the value."""
    best = start = place = 0
    for first in range(0, len(values), BLOCK):  # and no array as long as that of the values
        part = values[first : first + BLOCK + 1]
        starts = np.append(start, first + 1 + np.flatnonzero(part[1:] != part[:-1]))
        lengths = np.diff(starts)
        if len(lengths) and lengths.max() > best:
            best, place = int(lengths.max()), int(starts[lengths.argmax()])
        start = int(starts[-1])
    if len(values) - start > best:
        best, place = len(values) - start, start
    return best, float(values[place])


def encode(
    samples: Float[ndarray, "channel frame"], *, sample_rate: int, form: str, bits: int = 16
) -> bytes:
    """Encode samples of full scale 1 in 16 or 24 bit, as `flac` or `wav`; in blocks."""
    buffer, most, step = io.BytesIO(), 2 ** (bits - 1), max(1, BLOCK // len(samples))
    kind = {"format": form, "subtype": f"PCM_{bits}"}
    with soundfile.SoundFile(buffer, "w", sample_rate, len(samples), **kind) as file:
        for first in range(0, samples.shape[1], step):
            block = np.asarray(samples[:, first : first + step], np.float64).T
            steps = np.clip(np.round(block * most), -most, most - 1)
            file.write(steps.astype(np.int16) if bits == 16 else steps.astype(np.int32) * 2**8)
    return buffer.getvalue()


def _decode(path: Path, content: bytes) -> Audio:
    try:
        with _quiet(content), soundfile.SoundFile(io.BytesIO(content)) as file:
            if file.format not in FORMATS:
                raise BadInput(str(path), f"a file of {file.format}", READ)
            facts = {"channels": file.channels, "frames": file.frames}
            check_size(str(path), sample_rate=file.samplerate, **facts)
            samples = np.empty((file.channels, file.frames))
            got = _fill(samples, file)
            if got < file.frames:
                found = f"{got} of {file.frames} frames"
                raise BadInput(str(path), f"cut short, {found}", "a complete file")
            return Audio(samples, int(file.samplerate), str(file.subtype))
    except (soundfile.LibsndfileError, RuntimeError) as error:
        reason = getattr(error, "error_string", None) or str(error)
        raise BadInput(str(path), f"unreadable: {reason}", READ) from error


@contextlib.contextmanager
def _quiet(content: bytes) -> Iterator[None]:
    """Keep off standard error what the decoder of MP3 writes there by itself."""
    if not content.startswith(MPEG):
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _fill(samples: Float[ndarray, "channel frame"], file: soundfile.SoundFile) -> int:
    """Decode into an array, a block after another; return how many frames there were."""
    got, step = 0, max(1, BLOCK // len(samples))
    while got < samples.shape[1]:
        wanted = min(step, samples.shape[1] - got)
        block = file.read(wanted, dtype="float64", always_2d=True)
        samples[:, got : got + len(block)] = block.T
        got += len(block)
        if len(block) < wanted:
            break
    return got
