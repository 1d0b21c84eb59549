"""What phones write, m4a, mp4, mov, 3gp and amr: the first sound track, by PyAV, each fault a line.

PyAV brings FFmpeg and 36 MB with it, so that it is the extra `media` and is imported when a file
asks for it. FFmpeg is held to the containers of these endings: some others are lists of further
files and addresses, which it would open.

FFmpeg indexes all of a file before it decodes a sample, and a few bytes may state a billion of
them. Where memory ends it goes on without the index and says nothing, so that a file may pass
within bounds and take gigabytes outside. Hence FFmpeg runs only in a bounded process of its own,
and the samples come from there.

python -m ricochet.tasks.recordings.media_files < FILE

It writes a line of JSON (`sample_rate`, `channels`, `form`), then the samples as float32, frame by
frame. If something is wrong, it ends with 1, and the last line is JSON: `found`, `expected`.
"""

import importlib.util
import io
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files, bounded_decoding
from ricochet.tasks.recordings.audio_files import Audio

SUFFIXES = (".m4a", ".mp4", ".mov", ".3gp", ".amr", ".aac", ".webm")
DEMUXERS = "mov,mp4,m4a,3gp,3g2,mj2,amr,aac,matroska,webm"
OPTIONS = {"format_whitelist": DEMUXERS, "protocol_whitelist": ""}
NEEDED = (
    "WAV, FLAC, MP3 or OGG (`ffmpeg -i IN OUT.wav`), or PyAV (`pip install av`; in a checkout "
    "`make setup-media`)"
)
SAMPLE = np.dtype("<f4")


def read(path: Path) -> Audio:
    """Decode the first sound track; BadInput if unreadable, without sound, empty or silent."""
    content = audio_files.content_of(path)
    if importlib.util.find_spec("av") is None:
        raise BadInput(str(path), f"a {path.suffix} file and no PyAV", NEEDED)
    module = __spec__.name if __spec__ else __name__
    done = bounded_decoding.run(module, path, content)
    if done.returncode != 0:
        raise _fault(path, done.stdout)
    head, _, sound = done.stdout.partition(b"\n")
    facts = json.loads(head)
    samples = np.frombuffer(sound, SAMPLE).reshape(-1, facts["channels"]).T
    audio = Audio(samples.astype(np.float64, order="C"), facts["sample_rate"], facts["form"])
    audio_files.check_sound(path, audio)
    return audio


def _fault(path: Path, written: bytes) -> BadInput:
    """Return what the process said at its end; one that said nothing was ended by its bounds."""
    try:
        said = json.loads(written.rpartition(b"\n")[2])
        return BadInput(str(path), said["found"], said["expected"])
    except (ValueError, KeyError, TypeError):
        return BadInput(str(path), "one that takes more", bounded_decoding.BOUNDS)


def main() -> int:
    """Decode standard input where memory and time are bounded; write samples, or what is wrong."""
    content = sys.stdin.buffer.read()
    try:
        _write_sound(content)
    except MemoryError:
        return 1
    except BadInput as fault:
        return _refuse(fault.found, fault.expected)
    except ImportError as error:
        return _refuse(f"PyAV that cannot be imported: {error}", NEEDED)
    except Exception as error:  # of hostile files PyAV raises nearly anything
        return _refuse(f"unreadable: {error}", "a complete file")
    return 0


def _refuse(found: str, expected: str) -> int:
    fault = json.dumps({"found": found, "expected": expected})
    sys.stdout.buffer.write(f"\n{fault}".encode())
    return 1


def _write_sound(content: bytes) -> None:
    import av

    bounded_decoding.bound()
    # Latin-1 in a title says nothing of the sound
    file = av.open(io.BytesIO(content), options=OPTIONS, metadata_errors="replace")
    with file as container:
        tracks = container.streams.audio
        if not tracks:
            raise BadInput("", "no sound track", "a recording")
        if tracks[0].codec_context is None:
            raise BadInput("", "a sound track whose codec is not known", "one such as AAC")
        for written in _pieces(av, container, tracks[0]):
            sys.stdout.buffer.write(written)


def _pieces(library: Any, container: Any, track: Any) -> Iterator[bytes]:
    """Yield the line of facts and then the samples, as long as `limits` lets a recording be."""
    track.thread_count = 1  # what it takes does not depend on the machine
    rate, channels = int(track.rate or 0), len(track.layout.channels)
    size: dict[str, Any] = {"channels": channels, "sample_rate": rate}
    audio_files.check_size("", frames=0, **size)
    yield json.dumps({**size, "form": str(track.codec_context.name)}).encode() + b"\n"
    got = 0
    for block in _blocks(library, container, track):
        got += len(block)
        audio_files.check_size("", frames=got, **size)
        yield block.astype(SAMPLE).tobytes()
    if got == 0 and track.frames > 0:  # of an index that did not fit, FFmpeg says nothing
        found = f"none of the {track.frames} pieces of sound that it states"
        raise BadInput("", found, f"a complete file of {bounded_decoding.BOUNDS}")


def _blocks(
    library: Any, container: Any, track: Any
) -> Iterator[Float32[ndarray, "frame channel"]]:
    """Decode a track at its own rate.

    The channels of a frame are asked for in one plane: of more than eight, PyAV reads elsewhere.
    """
    plain = library.AudioResampler(format="flt", layout=track.layout, rate=track.rate)
    for frame in itertools.chain(container.decode(track), [None]):
        for part in plain.resample(frame):
            yield part.to_ndarray().reshape(part.samples, -1)


if __name__ == "__main__":
    sys.exit(main())
