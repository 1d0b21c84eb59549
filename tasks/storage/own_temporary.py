"""Temporary files in a folder of one user alone, not in one where all may make names.

Libraries make names there that others know, and take first. MLflow's server removes folders below
one, through a link of whoever made it, its client waits for a lock there; torch and Prefect's
workers keep files in others, and give up where they belong to somebody else.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "TMPDIR"


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
        folder = Path(tempfile.mkdtemp(prefix="ricochet-"))
    try:
        secret_files.taken_folder(folder)
        os.environ[VARIABLE] = tempfile.tempdir = str(folder)
        yield folder
    finally:
        os.environ.pop(VARIABLE, None)
        os.environ |= {} if before[0] is None else {VARIABLE: before[0]}
        tempfile.tempdir = before[1]
        shutil.rmtree(folder, ignore_errors=True)


def keep() -> None:
    """Say that the folder is in use, as programs that clean up after weeks look at its time."""
    with contextlib.suppress(OSError):
        os.utime(os.environ.get(VARIABLE, ""))
