"""A backup put back, at its own place or at another: all of it or nothing.

Every file is copied to a folder beside the state and its digest compared; MLflow's database is let
name files at the new place; then the folder is renamed to the state. Until that nothing that was
there is touched. What was there stays beside it under another name.
"""

import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.backups import backup, contents, databases, manifests
from ricochet.tasks.backups.manifests import Backup
from ricochet.tasks.storage.files import output_folder, shown, sync, writing
from ricochet.tasks.storage.free_space import refuse_below


@dataclass(frozen=True)
class Restored:
    """What was put back.

    Attributes:
        aside: Where what was there before is now; None where there was nothing.
        counts: As in the manifest, counted anew.
    """

    backup: Backup
    state: Path
    aside: Path | None
    counts: dict[str, int]


def put_back(
    folder: Path, state: Path, *, replace: bool = False, progress: Progress = no_progress
) -> Restored:
    """Put a backup back as the folder of outputs; nothing may write there meanwhile.

    Args:
        replace: Move what is there aside; without it a state that is not empty is refused.

    Raises:
        BadInput: The backup is not exactly what its manifest says, the state is not empty, or
            space is short.
        BusyError: Another process restores it.
    """
    if not replace and state.exists() and any(state.iterdir()):
        expected = "an empty folder, none, or --replace, which keeps what is there beside it"
        raise BadInput(str(state), "a folder with something in it", expected)
    found = manifests.read(folder)
    output_folder(state.parent)
    lock = state.with_name(f".{state.name}.lock")
    with locks.hold(lock):
        staged = state.with_name(f".{state.name}.restored")
        shutil.rmtree(staged, ignore_errors=True)
        refuse_below(found.size + backup.RESERVE, "what is restored", state.parent)
        try:
            with writing(staged):
                _stage(folder, staged, found, progress)
            _settle_in(staged, found, state)
            counts = backup.counts(staged)
            with writing(state):
                aside = _swap(staged, state)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        lock.unlink(missing_ok=True)
    return Restored(found, state, aside, counts)


def _stage(folder: Path, staged: Path, found: Backup, progress: Progress) -> None:
    """Copy all files; BadInput at the first that is not what the manifest says."""
    staged.mkdir(mode=0o755)
    for number, (name, entry) in enumerate(found.files.items(), start=1):
        target = staged / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if backup.copied(folder / name, target) != entry:
            raise BadInput(shown(folder / name), "other bytes", f"SHA-256 {entry.sha256}")
        progress(number, len(found.files))


def _settle_in(staged: Path, found: Backup, state: Path) -> None:
    """Check the databases, and let MLflow's name files at the new place."""
    for name in (contents.MLFLOW, contents.PREFECT):
        if (staged / name).is_file():
            databases.check(staged / name)
    mlflow, place = staged / contents.MLFLOW, Path(contents.MLFLOW).parent
    if mlflow.is_file():
        databases.move(mlflow, str(Path(found.state) / place), str(state / place))
    for place, _, _ in os.walk(staged):
        sync(Path(place))


def _swap(staged: Path, state: Path) -> Path | None:
    """Rename what was restored to the state; returns where what was there is now."""
    aside = None
    if state.exists() and any(state.iterdir()):
        aside = state.with_name(f"{state.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S}")
        state.rename(aside)
    elif state.exists():
        state.rmdir()
    staged.rename(state)
    sync(state.parent)
    return aside
