"""A verb that is killed by kill -9 leaves no process behind.

Prefect's temporary server and the processes that play shots wait for ever when the verb that
started them is gone. So a verb marks its environment, which all that it starts inherit, and has a
guard: a shell that waits on a pipe whose other end the verb holds. Where the pipe ends without a
word, the verb was killed, and the guard ends whatever carries the mark. Without `/proc` it finds
nothing, and nothing is lost but this.
"""

import atexit
import contextlib
import os
import subprocess

from ricochet.tasks.storage import process_ids

MARK = "RICOCHET_STARTED_BY"
GUARD = """
trap '' HUP INT TERM
read -r word && exit
cd /proc && for number in [0-9]*; do
    tr '\\0' '\\n' < "$number/environ" | grep -qxF "$0" && kill -s TERM "$number"
done
"""


def leave_nothing() -> None:
    """Have all that this process starts from now on ended, should it be killed."""
    name = process_ids.name_of(os.getpid())
    if os.environ.get(MARK) == name:
        return
    os.environ[MARK] = name
    guard = subprocess.Popen(
        ["/bin/sh", "-c", GUARD, f"{MARK}={name}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    atexit.register(_release, guard)


def _release(guard: subprocess.Popen[bytes]) -> None:
    """Tell the guard that all is well."""
    with contextlib.suppress(BrokenPipeError):
        guard.communicate(b"done\n")
