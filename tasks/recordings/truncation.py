"""Sounds that hold less than their own headers promise, which libsndfile takes for shorter ones.

WAV, RF64 and AIFF state the bytes of their sound before it. An Ogg is pages, of which the last says
that it is the last. A FLAC is decoded to the number of its frames. An MP3 states the bytes of all
of its frames in the first, as Xing's encoder did; one without that promises nothing.
"""

import struct
from pathlib import Path

from ricochet.models.core.bad_input import BadInput

SOUND = {b"RIFF": ("<", b"data"), b"RF64": ("<", b"data"), b"FORM": (">", b"SSND")}
"""Order of the bytes of a number, and the part that holds the sound, by how a file begins."""
MOST_PARTS = 10_000
UNKNOWN = (0, 2**32 - 1, 2**64 - 1)
"""What a recorder writes as a length that could not go back to its header."""
IN_64_BITS = 2**32 - 1
"""As a length of an RF64: its part `ds64` states it."""
PAGE, LAST = 27, 4
"""Bytes before the table of an Ogg's page; the flag of its last one."""

XING, FIRST_FRAME = (b"Xing", b"Info"), 64
"""How an MP3's statement begins, and in how many bytes of its first frame it does."""


def refuse(path: Path, content: bytes) -> None:
    """Refuse a sound of which a part at the end is missing; BadInput."""
    if content.startswith(b"OggS"):
        if not _has_last_page(content):
            raise BadInput(str(path), "cut short, without a last page", "a complete file")
        return
    mpeg = content.startswith((b"ID3", b"\xff"))
    promised, held = _frames(content) if mpeg else _sound(path, content)
    if promised not in UNKNOWN and held < promised:
        found = f"cut short, {held} of {promised} bytes of sound"
        raise BadInput(str(path), found, "a complete file")


def _sound(path: Path, content: bytes) -> tuple[int, int]:
    """Return how many bytes of sound a file of parts promises, and holds; 0 of another file."""
    if content[:4] not in SOUND:
        return 0, 0
    order, sound = SOUND[content[:4]]
    at, long = 12, 0
    for _ in range(MOST_PARTS):
        if at + 8 > len(content):
            return 0, 0
        name, size = struct.unpack_from(f"{order}4sI", content, at)
        if name == sound:
            return long if long and size == IN_64_BITS else size, len(content) - at - 8
        if name == b"ds64" and at + 24 <= len(content):
            long = struct.unpack_from("<Q", content, at + 16)[0]
        at += 8 + size + size % 2
    raise BadInput(str(path), "a header of parts without end", f"at most {MOST_PARTS}")


def _frames(content: bytes) -> tuple[int, int]:
    """Return how many bytes of frames an MP3 promises, and holds; 0 of one that says nothing."""
    start = 0
    if content.startswith(b"ID3"):  # text, whose length has seven bits a byte
        start = 10 + sum(byte << 7 * place for place, byte in enumerate(content[9:5:-1]))
    at = max(content.find(name, start, start + FIRST_FRAME) for name in XING)
    if at < 0 or at + 16 > len(content):
        return 0, 0
    flags, first, second = struct.unpack_from(">III", content, at + 4)
    if not flags & 2:
        return 0, 0
    return second if flags & 1 else first, len(content) - start


def _has_last_page(content: bytes) -> bool:
    """Whether the last page of an Ogg is whole, and says that it is the last."""
    at, last = 0, False
    while content.startswith(b"OggS", at) and at + PAGE <= len(content):
        table = content[at + PAGE : at + PAGE + content[at + PAGE - 1]]
        last = bool(content[at + 5] & LAST)
        at += PAGE + content[at + PAGE - 1] + sum(table)
    return last and at <= len(content)
