"""A backup put back, at its own place or at another: all of it or nothing.

Every file is copied to a folder beside the state and its digest compared; MLflow's database is let
name files at the new place; then the folder is renamed to the state. Until that nothing that was
there is touched. What was there stays beside it under another name. A database in PostgreSQL, which
must be empty, is filled in one transaction just before that.
"""

import itertools
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.backups import backup, contents, databases, manifests
from ricochet.tasks.backups.contents import Stated
from ricochet.tasks.backups.manifests import Backup
from ricochet.tasks.backups.postgres import Server
from ricochet.tasks.storage import secret_files
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
    folder: Path,
    state: Path,
    *,
    replace: bool = False,
    stated: Stated | None = None,
    progress: Progress = no_progress,
) -> Restored:
    """Put a backup back as the folder of outputs; nothing may write there meanwhile.

    Args:
        replace: Move what is there aside; without it a state that is not empty is refused.
        stated: What a lab's file says of its databases; those of PostgreSQL must be empty.

    Raises:
        BadInput: The backup is not exactly what its manifest says, the state is not empty, or
            space is short.
        BusyError: Another process restores it.
    """
    if not replace and state.exists() and any(state.iterdir()):
        expected = "an empty folder, none, or --replace, which keeps what is there beside it"
        raise BadInput(str(state), "a folder with something in it", expected)
    found = manifests.read(folder)
    servers = _servers(found, state, stated or Stated())
    output_folder(state.parent)
    lock = state.with_name(f".{state.name}.lock")
    with locks.hold(lock), secret_files.private():
        staged = state.with_name(f".{state.name}.restored")
        shutil.rmtree(staged, ignore_errors=True)
        refuse_below(found.size + backup.RESERVE, "what is restored", state.parent)
        try:
            with writing(staged):
                _stage(folder, staged, found, progress)
            _settle_in(staged, found, state)
            for dump, server in servers.items():
                server.put_back(staged / dump)
            counts = backup.counts(staged)
            with writing(state):
                aside = _swap(staged, state)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        lock.unlink(missing_ok=True)
    return Restored(found, state, aside, counts)


def _servers(found: Backup, state: Path, stated: Stated) -> dict[str, Server]:
    """Return the databases of PostgreSQL by their dumps; BadInput where one cannot be put back."""
    dumps = {name: dump for name, dump in contents.DUMPS.items() if dump in found.files}
    for name, dump in dumps.items():
        if name not in stated.servers:
            raise BadInput(dump, "a dump of PostgreSQL", "--config FILE that names its database")
        stated.servers[name].refuse_unless_empty()
    if contents.MLFLOW in dumps and found.state != str(state):
        expected = f"{found.state}: the database in PostgreSQL names files there"
        raise BadInput("the place", str(state), expected)
    return {dump: stated.servers[name] for name, dump in dumps.items()}


def _stage(folder: Path, staged: Path, found: Backup, progress: Progress) -> None:
    """Copy all files; BadInput at the first that is not what the manifest says."""
    staged.mkdir(mode=0o700)
    for number, (name, entry) in enumerate(found.files.items(), start=1):
        target = staged / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if backup.copied(folder / name, target, largest=entry.size) != entry:
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
    for each, _, _ in os.walk(staged):
        sync(Path(each))


def _swap(staged: Path, state: Path) -> Path | None:
    """Rename what was restored to the state; returns where what was there is now."""
    aside = None
    if state.exists() and any(state.iterdir()):
        aside = _unused(state.with_name(f"{state.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S}"))
        state.rename(aside)
    elif state.exists():
        state.rmdir()
    staged.rename(state)
    sync(state.parent)
    return aside


def _unused(path: Path) -> Path:
    """Return a path where nothing is: two restores may fall into one second."""
    numbered = (path.with_name(f"{path.name}-{number}") for number in itertools.count(2))
    return next(each for each in itertools.chain([path], numbered) if not each.exists())
