"""Audio files at the border: what libsndfile reads, each fault one line.

Samples have full scale 1. A file is unusable when it is unreadable, cut short, empty, not finite or
silent; a take of a rig also when its channels or its rate are not the rig's, or when a channel is
stuck or clipped. Thresholds are those of a 16 bit recorder, whose step is 2^-15.
"""

import io
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import read_bytes

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
UNKNOWN_LENGTH = (0, 0xFFFFFFFF)  # what a recorder writes that could not go back to its header


@dataclass(frozen=True)
class Audio:
    """A decoded file, its sample rate in Hz, and how libsndfile names the form of a sample."""

    samples: Float[ndarray, "channel frame"]
    sample_rate: int
    subtype: str


def read(path: Path) -> Audio:
    """Decode a file; BadInput if unreadable, cut short, empty, not finite or silent."""
    content = content_of(path)
    audio = _decode(path, content)
    if audio.samples.shape[1] > 0:
        _refuse_truncated(path, content)
    check_sound(path, audio)
    return audio


def check_sound(path: Path, audio: Audio) -> None:
    """Refuse what is decoded but empty, not finite or silent."""
    if audio.samples.shape[1] == 0:
        raise BadInput(str(path), "no frames", "a recording")
    if not np.isfinite(audio.samples).all():
        channel, frame = np.argwhere(~np.isfinite(audio.samples))[0]
        found = f"{audio.samples[channel, frame]} in channel {channel} at frame {frame}"
        raise BadInput(str(path), found, "finite samples")
    if np.ptp(audio.samples, axis=1).max() <= SILENCE:
        raise BadInput(str(path), "silence in every channel", "sound")


def content_of(path: Path) -> bytes:
    """Read the bytes of a regular file that must hold something."""
    if path.is_symlink() or path.is_dir():
        raise BadInput(str(path), "a link or a folder", "a sound file")
    content = read_bytes(path, "a sound file")
    if not content:
        raise BadInput(str(path), "zero bytes", "a sound file")
    return content


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
    tops = [sign * track for sign in (1.0, -1.0) if (sign * track).max() >= CEILING]
    cut = [np.flatnonzero(top >= top.max() - SPREAD) for top in tops]
    near = sum(int((top >= (1.0 - BELOW) * top.max()).sum()) for top in tops)
    frames = np.sort(np.concatenate([*cut, np.empty(0, np.intp)]))
    return frames if len(frames) >= LEAST_CUT and len(frames) > near / 2 else frames[:0]


def longest_run(values: ndarray) -> tuple[int, float]:
    """Return the length of the longest run of one value, and the value."""
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    lengths = np.diff(np.append(starts, len(values)))
    best = int(lengths.argmax())
    return int(lengths[best]), float(values[starts[best]])


def encode(
    samples: Float[ndarray, "channel frame"], *, sample_rate: int, form: str, bits: int = 16
) -> bytes:
    """Encode samples of full scale 1 in 16 or 24 bit, as `flac` or `wav`."""
    buffer, most = io.BytesIO(), 2 ** (bits - 1)
    steps = np.clip(np.round(np.asarray(samples, np.float64).T * most), -most, most - 1)
    whole = steps.astype(np.int16) if bits == 16 else steps.astype(np.int32) * 2**8
    soundfile.write(buffer, whole, sample_rate, format=form, subtype=f"PCM_{bits}")
    return buffer.getvalue()


def _decode(path: Path, content: bytes) -> Audio:
    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            samples = file.read(dtype="float64", always_2d=True).T
            if samples.shape[1] < file.frames:
                found = f"{samples.shape[1]} of {file.frames} frames"
                raise BadInput(str(path), f"cut short, {found}", "a complete file")
            return Audio(np.ascontiguousarray(samples), int(file.samplerate), str(file.subtype))
    except (soundfile.LibsndfileError, RuntimeError) as error:
        reason = getattr(error, "error_string", None) or str(error)
        raise BadInput(str(path), f"unreadable: {reason}", READ) from error


def _refuse_truncated(path: Path, content: bytes) -> None:
    """Refuse a WAV whose header promises more than the file holds; libsndfile lets it pass."""
    if content[:4] != b"RIFF":
        return
    at = 12
    while at + 8 <= len(content):
        name, size = struct.unpack_from("<4sI", content, at)
        if name == b"data":
            held = len(content) - at - 8
            if size not in UNKNOWN_LENGTH and held < size:
                found = f"cut short, {held} of {size} bytes of sound"
                raise BadInput(str(path), found, "a complete file")
            return
        at += 8 + size + size % 2
