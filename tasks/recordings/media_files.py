"""What phones write, m4a, mp4, mov, 3gp and amr: the first sound track, by PyAV, each fault a line.

PyAV brings FFmpeg and 36 MB with it, so that it is the extra `media` and is imported when a file
asks for it.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.recordings.audio_files import Audio

SUFFIXES = (".m4a", ".mp4", ".mov", ".3gp", ".amr", ".aac", ".webm")
NEEDED = (
    "WAV, FLAC, MP3 or OGG (`ffmpeg -i IN OUT.wav`), or PyAV (`pip install av`; in a checkout "
    "`make setup-media`)"
)


def read(path: Path) -> Audio:
    """Decode the first sound track; BadInput if unreadable, without sound, empty or silent."""
    content = audio_files.content_of(path)
    try:
        import av
    except ImportError as error:
        raise BadInput(str(path), f"a {path.suffix} file and no PyAV", NEEDED) from error
    try:
        audio = _decode(av, path, content)
    except av.error.FFmpegError as error:
        raise BadInput(str(path), f"unreadable: {error}", "a complete file") from error
    audio_files.check_sound(path, audio)
    return audio


def _decode(library: Any, path: Path, content: bytes) -> Audio:
    """Return the samples as floats, one row a channel, at the track's own rate."""
    with library.open(io.BytesIO(content)) as container:
        tracks = container.streams.audio
        if not tracks:
            raise BadInput(str(path), "no sound track", "a recording")
        track = tracks[0]
        plain = library.AudioResampler(format="fltp", layout=track.layout, rate=track.rate)
        frames = [part for frame in container.decode(track) for part in plain.resample(frame)]
        frames += plain.resample(None)
        parts = [frame.to_ndarray() for frame in frames if frame is not None]
        rate, name = int(track.rate), str(track.codec_context.name)
    samples = np.concatenate(parts, axis=1) if parts else np.zeros((1, 0))
    return Audio(samples.astype(np.float64), rate, name)
