"""Decodes sound that was coded with loss, in a process of its own before.

What an OGG says of its code in a few thousand bytes may stand for gigabytes of tables, or end the
process that reads it. So a file is decoded first where memory and time are bounded, and refused if
they do not suffice.

python -m ricochet.tasks.recordings.lossy_sound < FILE
"""

import io
import sys
from pathlib import Path

import soundfile

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import bounded_decoding

BLOCK = 2**16
"""Frames decoded at once."""


def check(path: Path, content: bytes, expected: str) -> None:
    """Decode the content of a file apart, and forget what comes of it.

    Args:
        expected: What is expected of a file that is no sound.

    Raises:
        BadInput: It cannot be decoded, or not within the limits.
    """
    module = __spec__.name if __spec__ else __name__
    tried = bounded_decoding.run(module, path, content)
    if tried.returncode == 0:
        return
    said = tried.stdout.decode(errors="replace")[:300].strip()
    bounds = bounded_decoding.BOUNDS
    raise BadInput(str(path), said or "one that takes more", expected if said else bounds)


def main() -> int:
    """Decode standard input where memory and time are bounded; print what is wrong with it."""
    content = sys.stdin.buffer.read()
    bounded_decoding.bound()
    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            while len(file.read(BLOCK, dtype="float32", always_2d=True)):
                pass
    except MemoryError:
        return 1
    except (soundfile.LibsndfileError, RuntimeError) as error:
        reason = getattr(error, "error_string", None) or str(error)
        print("unreadable:", " ".join(reason.split()))  # noqa: T201 - to the process that asked
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
