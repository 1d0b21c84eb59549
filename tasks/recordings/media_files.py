"""What phones write, m4a, mp4, mov, 3gp and amr: the first sound track, by PyAV, each fault a line.

PyAV brings FFmpeg and 36 MB with it, so that it is the extra `media` and is imported when a file
asks for it. FFmpeg is held to the containers of these endings: some others are lists of further
files and addresses, which it would open.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.recordings.audio_files import Audio

SUFFIXES = (".m4a", ".mp4", ".mov", ".3gp", ".amr", ".aac", ".webm")
DEMUXERS = "mov,mp4,m4a,3gp,3g2,mj2,amr,aac,matroska,webm"
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
    options = {"format_whitelist": DEMUXERS, "protocol_whitelist": ""}
    with library.open(io.BytesIO(content), options=options) as container:
        tracks = container.streams.audio
        if not tracks:
            raise BadInput(str(path), "no sound track", "a recording")
        track = tracks[0]
        rate, name = int(track.rate or 0), str(track.codec_context.name)
        channels = len(track.layout.channels)
        audio_files.check_size(str(path), channels=channels, frames=0, sample_rate=rate)
        plain = library.AudioResampler(format="fltp", layout=track.layout, rate=rate)
        parts, got = [], 0
        for frame in (*container.decode(track), None):
            for part in plain.resample(frame):
                parts.append(part.to_ndarray())
                got += parts[-1].shape[1]
            audio_files.check_size(str(path), channels=channels, frames=got, sample_rate=rate)
    samples = np.concatenate(parts, axis=1) if parts else np.zeros((1, 0))
    return Audio(samples.astype(np.float64), rate, name)
