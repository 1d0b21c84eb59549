"""DVC's command as `ricochet` runs it, on a made-up disk with a few bytes of room."""

import subprocess
import sys

PROGRAM = """
import sys
from pathlib import Path
from ricochet.tasks.recordings import dvc_fetched, dvc_program

room, fills, cache = int(sys.argv.pop(1)), int(sys.argv.pop(1)), Path(".dvc/cache").absolute()
least = [room]

def free_under(place):
    used = fills * sum(each.stat().st_size for each in cache.rglob("*") if each.is_file())
    least.append(room - used)
    return dvc_fetched.SPARE + room - used

dvc_fetched.free_under = free_under
code = dvc_program.main()
print("least", min(least))
sys.exit(code)
"""


def refused(root, *words, room, fills=1):
    """Pull on a disk with some bytes beside those that stay free, and see it refused.

    Args:
        root: A repository.
        words: For `dvc pull`.
        room: Bytes.
        fills: Bytes that are written there for each one of the cache, by others too.

    Returns:
        What DVC says, and the least that was left of the room when it was looked at.
    """
    command = [sys.executable, "-P", "-c", PROGRAM, str(room), str(fills), "pull", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120.0)
    assert done.returncode and "expected room for it" in done.stderr, done
    return done.stderr, int(done.stdout.rpartition("least")[2])


def fetched(root):
    """Return the files in a cache, whole or not, but for lists of files, which come first."""
    cache = root / ".dvc" / "cache"
    return [each for each in cache.rglob("*") if each.is_file() and each.suffix != ".dir"]
