"""What reading packages of every kind takes, the largest and hostile ones: memory and time.

    python -m benchmarks.registry.reading [KIND ...]

Of each kind a row for a small package, for the largest that its reader takes, and for the hostile
one that took most memory and most time: each array in turn as large as a file may be, in seven
ways, and files that are hostile by their form. A row: bytes on the disk, the most memory that
reading took beside what the process had before (`VmHWM` of a process of its own), as a multiple of
the bytes, the time, and what became of it. The package itself is in memory once it is read, so that
three times its bytes beside it are four times in all. `FLOOR` is what a small package may take:
JSON of a megabyte is some 8 MB of objects. Ends with status 1 where more was taken, where it took
longer than `LONGEST`, or where a hostile one was read.
"""

import ctypes
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.registry import reading_cases
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.storage.files import sha256
from tests.crash.whole_packages import KINDS, READERS, made

MOST, FLOOR = 4.0, 24 * 2**20
"""Times its bytes, the package included, and bytes that any may take."""
LONGEST = 30.0
"""s, on a laptop's processor that has other work too."""
READ, ESCAPED = "read", "ESCAPED"


@dataclass(frozen=True)
class Reading:
    """What one reading took; `answer` is `READ`, or the line of the refusal."""

    name: str
    size: int
    extra: int
    seconds: float
    answer: str

    @property
    def within(self) -> bool:
        """Whether it took no more than is promised."""
        return self.extra <= MOST * self.size + FLOOR and self.seconds <= LONGEST

    def __str__(self) -> str:
        """Return the row that is printed."""
        share, beyond = self.extra / self.size, "" if self.within else "MORE THAN PROMISED "
        return (
            f"{self.name[:48]:48}{self.size / 2**20:7.1f} MiB{self.extra / 2**20:8.1f} MiB"
            f"{share:8.1f} times{self.seconds:7.2f} s  {beyond}{self.answer[-60:]}"
        )


def of_kind(
    kind: str, place: Path, ways: Sequence[str] = reading_cases.WAYS
) -> tuple[list[Reading], list[Reading]]:
    """Read packages of a kind, written in a folder one after the other.

    Args:
        ways: Those in which arrays become as large as a file may be.

    Returns:
        Of the small and the largest one, which are sound, and of all hostile ones.
    """
    reader, folder = READERS[kind], place / "package"
    sound = made(kind, place / "small")
    packages.write_package(folder, sound, reader=reader)
    packages.read_package(folder, reader=reader)  # all is loaded from now on
    whole = [measure(f"{kind}, small", folder, reader)]
    packages.write_package(folder, reading_cases.largest(kind, sound), reader=reader)
    whole.append(measure(f"{kind}, largest", folder, reader))
    packages.write_package(folder, sound, reader=reader)
    bad = []
    for name, arrays in reading_cases.hostile(sound, ways):
        replace(folder, reader, 0, packages._serialized(arrays))
        bad.append(measure(f"{kind}, {name}", folder, reader))
    for name, (file, content) in reading_cases.files(sound).items():
        packages.write_package(folder, sound, reader=reader)
        replace(folder, reader, file, content)
        bad.append(measure(f"{kind}, {name}", folder, reader))
    return whole, bad


def replace(folder: Path, reader: Reader, file: int, content: bytes) -> None:
    """Put another file into a package, its digest made good."""
    name = reader.content[file]
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / reader.manifest).read_text())
    manifest["files"][name] = sha256(content)
    (folder / reader.manifest).write_text(json.dumps(manifest))


def measure(name: str, folder: Path, reader: Reader) -> Reading:
    """Read a package in a process of its own, which has no memory that is free."""
    ctypes.CDLL(None).malloc_trim(0)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_read, args=(folder, reader, answers))
    process.start()
    extra, seconds, answer = answers.get(timeout=300.0)
    process.join()
    size = sum(path.stat().st_size for path in folder.iterdir())
    return Reading(name, size, extra, seconds, answer)


def not_as_promised(whole: Sequence[Reading], bad: Sequence[Reading]) -> list[Reading]:
    """Return what took too much, was refused though sound, or read or escaped though hostile."""
    beyond = [each for each in (*whole, *bad) if not each.within]
    refused = [each for each in whole if each.answer != READ]
    return [*beyond, *refused, *(e for e in bad if e.answer.startswith((READ, ESCAPED)))]


def main() -> None:
    """Print the rows of all kinds, or of those that are named."""
    kinds, failed = sys.argv[1:] or KINDS, 0
    for kind in kinds:
        with tempfile.TemporaryDirectory() as place:
            whole, bad = of_kind(kind, Path(place))
        shown = [*whole, max(bad, key=lambda each: each.extra), max(bad, key=lambda e: e.seconds)]
        wrong = not_as_promised(whole, bad)
        for each in (*shown, *(each for each in wrong if each not in shown)):
            print(each, flush=True)
        print(f"{kind}: {len(bad)} hostile ones, {len(wrong)} rows not as promised", flush=True)
        failed += len(wrong)
    if failed:
        raise SystemExit(1)


def _read(folder: Path, reader: Reader, answers: Any) -> None:
    before, began = _peak(), time.monotonic()
    try:
        packages.read_package(folder, reader=reader)
        answer = READ
    except BadInput as error:
        answer = str(error)
    except BaseException as error:
        answer = f"{ESCAPED} {error!r}"[:200]
    answers.put((_peak() - before, time.monotonic() - began, answer))


def _peak() -> int:
    """Return the most memory that this process had, bytes; `ru_maxrss` has its parent's in it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    main()
