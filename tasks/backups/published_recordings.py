"""The recordings of a backup, to where DVC looks for them: a checkout's remote may be no state's.

A remote names its files by their digests, so that what is there already is the same.
"""

import os
import shutil
from pathlib import Path

from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.backups import contents
from ricochet.tasks.storage.files import output_folder, sync
from ricochet.tasks.storage.free_space import refuse_below

PART = ".restored"
"""End of the name of a file that is not whole yet."""


def bring_back(state: Path, *, progress: Progress = no_progress) -> tuple[Path, int] | None:
    """Copy from what was restored to a state what the DVC remote `published` lacks.

    Returns:
        The remote and how many files were copied; None where it is in the state or no folder.

    Raises:
        BadInput: Space is short.
        OSError: A file cannot be written.
    """
    kept = state / contents.REMOTE
    remote = contents.remote_folder() if kept.is_dir() else None
    if remote is None or remote == kept.resolve():
        return None
    named = [path.relative_to(kept) for path in kept.rglob("*") if path.is_file()]
    missing = [name for name in named if not (remote / name).is_file()]
    size = sum((kept / name).stat().st_size for name in missing)
    if missing:
        refuse_below(size, "recordings", output_folder(remote))
    for number, name in enumerate(missing, start=1):
        _copy(kept / name, output_folder((remote / name).parent) / name.name)
        progress(number, len(missing))
    return remote, len(missing)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all."""
    part = target.with_name(target.name + PART)
    shutil.copyfile(source, part)
    sync(part)
    os.replace(part, target)
