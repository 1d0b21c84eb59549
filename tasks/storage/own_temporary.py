"""Temporary files in a folder of one user alone, not in one where all may make names.

Libraries make names there that others know, and take first. MLflow's server removes folders below
one, through a link of whoever made it, its client waits for a lock there; torch and Prefect's
workers keep files in others, and give up where they belong to somebody else.
"""

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

VARIABLE, DAY, TICK = "TMPDIR", 86400.0, 600.0
MADE = re.compile(r"ricochet-(\d{1,9})-[a-z0-9_]{8}")
"""Name of such a folder, with the number of its process."""


@contextlib.contextmanager
def own_temporary() -> Iterator[Path]:
    """Have this process, and what it starts, keep temporary files apart while the block lasts.

    Yields the folder, which is removed at the end.

    Raises:
        BadInput: None can be made, or another user could move it away.
    """
    from ricochet.tasks.storage import secret_files  # with numpy, for which no help waits
    from ricochet.tasks.storage.files import writing

    before = os.environ.get(VARIABLE), tempfile.tempdir
    with writing(Path(before[0] or "/tmp")):
        folder = Path(tempfile.mkdtemp(prefix=_prefix(os.getpid())))
    try:
        secret_files.taken_folder(folder)
        _remove_left(folder.parent)
        os.environ[VARIABLE] = tempfile.tempdir = str(folder)
        with _in_use(folder):
            yield folder
    finally:
        os.environ.pop(VARIABLE, None)
        os.environ |= {} if before[0] is None else {VARIABLE: before[0]}
        tempfile.tempdir = before[1]
        shutil.rmtree(folder, ignore_errors=True)


def remove_of(number: int) -> None:
    """Remove the folder that this process was given by one of a number, which was killed."""
    folder = Path(os.environ.get(VARIABLE, ""))
    if folder.name.startswith(_prefix(number)):
        shutil.rmtree(folder, ignore_errors=True)


def _prefix(number: int) -> str:
    return f"ricochet-{number}-"


def _remove_left(place: Path) -> None:
    """Remove this user's folders whose process was killed, once they are a day old."""
    for each in place.glob("ricochet-[0-9]*-*"):
        if (made := MADE.fullmatch(each.name)) is None:
            continue
        with contextlib.suppress(OSError):
            facts = each.lstat()
            ours = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()
            old = facts.st_mtime < time.time() - DAY
            if ours and old and not psutil.pid_exists(int(made[1])):
                shutil.rmtree(each, ignore_errors=True)


@contextlib.contextmanager
def _in_use(folder: Path) -> Iterator[None]:
    """Keep programs that clean up from a folder while the block lasts: its name is another's then.

    That of systemd looks at locks, others at times.
    """
    ended = threading.Event()
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def keep() -> None:
        while not ended.wait(TICK):
            with contextlib.suppress(OSError):
                os.utime(handle)

    thread = threading.Thread(target=keep, name="temporary files", daemon=True)
    with contextlib.suppress(OSError):  # where the disk knows no locks
        fcntl.flock(handle, fcntl.LOCK_SH)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        os.close(handle)
