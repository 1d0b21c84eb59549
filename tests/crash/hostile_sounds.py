"""Files of sound that are damaged, or whose headers lie."""

import struct
from collections.abc import Iterator

import numpy as np

from ricochet.tasks.recordings import audio_files
from ricochet.tasks.storage import limits

RATE = 8000
FORMAT, RATE_AT, DATA = 20, 24, 36
"""Where a WAV of PCM has its format, its rate, and the part of its samples."""
STREAMINFO = 8
"""Where a FLAC has what it claims."""


def noise(channels: int = 2, frames: int = 600) -> np.ndarray:
    draw = np.random.default_rng(5)
    return draw.integers(-3000, 3000, (channels, frames)) / 2**15


def wav() -> bytes:
    return audio_files.encode(noise(), sample_rate=RATE, form="wav")


def flac() -> bytes:
    return audio_files.encode(noise(), sample_rate=RATE, form="flac")


def put(content: bytes, at: int, form: str, *values: float) -> bytes:
    """Write numbers over some bytes."""
    found = bytearray(content)
    struct.pack_into(form, found, at, *values)
    return bytes(found)


def header(channels: int, rate: int, bits: int, size: int, tag: int = 1) -> bytes:
    """Return the beginning of a WAV whose samples have so many bytes."""
    step = channels * bits // 8
    head = struct.pack("<4sI4s", b"RIFF", min(size + 36, 2**32 - 1), b"WAVE")
    form = struct.pack(
        "<4sIHHIIHH", b"fmt ", 16, tag, channels, rate, rate * step % 2**32, step % 2**16, bits
    )
    return head + form + struct.pack("<4sI", b"data", min(size, 2**32 - 1))


def cases() -> Iterator[tuple[str, bytes]]:
    """Yield files by name, none of which may be taken."""
    yield from _cut("wav", wav())
    yield from _cut("flac", flac())
    yield from _wavs(wav())
    yield from _flacs(flac())
    yield from _samples()
    for begins in (b"OggS", b"ID3", b"\xff\xfb\x90\x00", b"FORM", b"RF64", b"fLaC", b"RIFF"):
        yield f"{begins!r} and zeros", begins + bytes(5000)
        yield f"{begins!r} and bytes", begins + bytes(range(256)) * 20
    id3 = b"ID3\x04\x00\x00\x7f\x7f\x7f\x7f"
    yield "ID3 of 256 MB", id3 + bytes(5000)
    yield "AIFF of nothing", b"FORM" + struct.pack(">I", 2**32 - 1) + b"AIFF" + bytes(200)
    yield "AU", b".snd" + struct.pack(">IIIII", 24, 2**32 - 1, 3, 8000, 1) + bytes(200)
    yield "W64", b"riff\x2e\x91\xcf\x11" + bytes(200)
    yield "CAF", b"caff" + bytes(200)
    yield "MAT5", b"MATLAB 5.0 MAT-file" + bytes(200)
    yield "a picture", b"\x89PNG\r\n\x1a\n" + bytes(200)
    yield "a program", b"\x7fELF" + bytes(200)


def _cut(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    for share in (0.01, 0.02, 0.05, 0.2, 0.5, 0.9, 0.99):
        yield f"{name} cut at {share:g}", content[: int(share * len(content))]


def _wavs(good: bytes) -> Iterator[tuple[str, bytes]]:
    yield "no channel", put(good, FORMAT + 2, "<H", 0)
    yield "65535 channels", put(good, FORMAT + 2, "<H", 65535)
    yield "65 channels", header(65, 8000, 16, 130 * 600) + bytes(130 * 600)
    yield "rate 0", put(good, RATE_AT, "<I", 0)
    yield "rate 2^32", put(good, RATE_AT, "<I", 2**32 - 1)
    yield "rate 2^31", put(good, RATE_AT, "<I", 2**31)
    yield "no bits", put(good, FORMAT + 14, "<H", 0)
    yield "65535 bits", put(good, FORMAT + 14, "<H", 65535)
    for tag in (0, 2, 6, 17, 49, 85, 255, 0xFFFE, 0xFFFF):
        yield f"format {tag}", put(good, FORMAT, "<H", tag)
    yield "samples of 4 GB less one", put(good, DATA + 4, "<I", 2**32 - 2)
    yield "samples of 2 GB", put(good, DATA + 4, "<I", 2**31)
    yield "a form of 4 GB", put(good, 16, "<I", 2**32 - 1)
    yield "no form", good[:12] + good[DATA:]
    yield "no samples", good[:DATA]
    yield "no frames", header(2, 8000, 16, 0)
    yield "parts without end", good[:DATA] + b"junk\0\0\0\0" * 100_000
    yield "twice the form", good[:DATA] + good[12:DATA]
    yield "a part of 4 GB", good[:DATA] + b"LIST" + struct.pack("<I", 2**32 - 1) + good[DATA:]
    sizes = struct.pack("<4sI4s4sIQQQI", b"RF64", 2**32 - 1, b"WAVE", b"ds64", 28, *[2**60] * 3, 0)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16)
    data = struct.pack("<4sI", b"data", 2**32 - 1)
    yield "RF64 of 2^60", sizes + form + data + bytes(1000)


def _flacs(good: bytes) -> Iterator[tuple[str, bytes]]:
    packed = int.from_bytes(good[STREAMINFO + 10 : STREAMINFO + 18], "big")

    def claims(**bits: tuple[int, int, int]) -> bytes:
        value = packed
        for shift, width, wanted in bits.values():
            value = value & ~(((1 << width) - 1) << shift) | wanted << shift
        return good[: STREAMINFO + 10] + value.to_bytes(8, "big") + good[STREAMINFO + 18 :]

    for frames in (601, 10_000, limits.SAMPLES, 2**30, 2**35, 2**36 - 1):
        yield f"{frames} frames", claims(frames=(0, 36, frames))
    yield "rate 0 of FLAC", claims(rate=(44, 20, 0))
    yield "rate 2^20", claims(rate=(44, 20, 2**20 - 1))
    yield "eight channels", claims(channels=(41, 3, 7))
    yield "bits", claims(bits=(36, 5, 31))
    yield "all claims", claims(all=(0, 64, 2**64 - 1))
    yield "blocks of nothing", put(good, STREAMINFO, ">HH", 0, 0)
    yield "a block of 16 MB", good[:5] + b"\xff\xff\xff" + good[8:]
    yield "a first block of another kind", good[:4] + b"\x7f" + good[5:]
    picture = b"\x06\xff\xff\xff" + bytes(1000)
    yield "a picture of 16 MB", good[:4] + bytes((good[4] & 0x7F,)) + good[5:42] + picture
    yield "no frame of FLAC", good[:42]
    yield "blocks without end", good[:42].replace(b"\x80", b"\0", 1) + b"\x01\0\0\0" * 100_000


def _samples() -> Iterator[tuple[str, bytes]]:
    sound = noise().T.astype("<f4")
    for value in (np.nan, np.inf, -np.inf):
        wrong = sound.copy()
        wrong[7, 1] = value
        content = wrong.tobytes()
        yield f"samples of {value}", header(2, 8000, 32, len(content), tag=3) + content
    yield "silence", header(1, 8000, 16, 20_000) + bytes(20_000)
    most = limits.SAMPLES
    yield "silence of the largest size", header(1, 48000, 8, most) + b"\x80" * most
    yield "a sample too many", header(1, 48000, 8, most + 1) + b"\x80" * (most + 1)
    nothing = np.full(most // 2, np.nan, "<f4").tobytes()
    yield "8 million that are no number", header(1, 48000, 32, len(nothing), tag=3) + nothing
