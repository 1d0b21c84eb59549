"""A process that is killed by kill -9 leaves nothing running that it started.

Servers, and processes that share work, wait for ever when the one that started them is gone. So it
marks its environment, which all that it starts inherit, and starts a guard, which waits on a pipe
whose other end only the guarded process holds. Where the pipe ends without a word, that process was
killed, and the guard ends whatever carries the mark, and removes its temporary files.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil

from ricochet.tasks.storage import own_temporary, process_ids

MARK = "RICOCHET_STARTED_BY"
DONE = b"done\n"
_guards: list[subprocess.Popen[bytes]] = []
"""Of this process; the last one is on guard unless it was killed."""


def guard_children() -> None:
    """Have all that this process starts from now on ended, should it be killed.

    Called again it starts a guard where the last one is gone: it was killed, as any process may be.
    """
    name = process_ids.name_of(os.getpid())
    if os.environ.get(MARK) == name and not (_guards and _guards[-1].poll() is not None):
        return
    guard = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, name],
        env={key: value for key, value in os.environ.items() if key != MARK},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.environ[MARK] = name
    _guards.append(guard)
    atexit.register(_release, guard)


def end_children(name: str, *, patience: float = 10.0) -> int:
    """Ask all that a guarded process started to stop, then, after some patience (s), make them.

    The process is named as in `tasks.storage.process_ids`; returns how many it started itself.
    """
    found = [
        process
        for process in psutil.process_iter(["ppid", "environ"])
        if (process.info["environ"] or {}).get(MARK) == name and process.pid != os.getpid()
    ]  # another user's process does not tell its environment
    numbers = {process.pid for process in found}
    started = sum(process.info["ppid"] not in numbers for process in found)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    latest = time.monotonic() + patience
    while found and time.monotonic() < latest:
        time.sleep(0.05)
        found = [process for process in found if _runs(process)]
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.kill()
    return started


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _release(guard: subprocess.Popen[bytes]) -> None:
    """Tell the guard that all is well."""
    with contextlib.suppress(BrokenPipeError):
        guard.communicate(DONE)


def _watch(name: str) -> None:
    """Be the guard of a process."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.read() != DONE:
        for _ in range(2):  # once more for what was being started meanwhile
            end_children(name)
        own_temporary.remove_of(process_ids.number_of(name))


if __name__ == "__main__":
    _watch(sys.argv[1])
