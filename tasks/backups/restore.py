"""A backup put back, at its own place or at another: all of it or nothing.

Every file is copied to a folder beside the state and its digest compared; MLflow's database is let
name files at the new place; then the folder is renamed to the state (`tasks.storage.exchange`).
Until that nothing that was there is touched. What was there stays beside it under another name.
Packages that a lab keeps in a folder of its own are put back there in the same way. A database in
PostgreSQL, which must be empty, is filled just before that, in a transaction that is committed just
afterwards. What a restore to the state that was killed had begun to rename is undone first.
"""

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.backups import backup, contents, databases, manifests
from ricochet.tasks.backups.contents import DUMPS, Stated
from ricochet.tasks.backups.manifests import Backup
from ricochet.tasks.backups.postgres import Server
from ricochet.tasks.registry import lab_databases, lab_places, lab_state
from ricochet.tasks.registry.lab_notes import Note, home_of
from ricochet.tasks.storage import exchange, mounts, secret_files
from ricochet.tasks.storage.files import output_folder, read_regular, shown, sync, writing
from ricochet.tasks.storage.free_space import refuse_below
from ricochet.tasks.storage.provenance import ARTIFACTS


@dataclass(frozen=True)
class Restored:
    """What was put back.

    Attributes:
        aside: Where what was there before is now; None where there was nothing.
        packages_aside: The same of a lab's own folder of packages.
        undone: Where is now what a restore that was killed had put in place.
        counts: As in the manifest, counted anew in what was put back.
    """

    backup: Backup
    state: Path
    aside: Path | None
    packages_aside: Path | None
    counts: dict[str, int]
    undone: Sequence[Path] = ()


@dataclass(frozen=True)
class _Places:
    """Where things belong, and beside that where they are made.

    Attributes:
        packages: A lab's own folder of packages, outside the state.
        below: The folder of packages within the state.
    """

    state: Path
    packages: Path | None
    below: str

    @property
    def staged(self) -> Path:
        """Where the state is made."""
        return exchange.staged(self.state)

    @property
    def moves(self) -> list[Path]:
        """What is renamed into place, the state last."""
        return [each for each in (self.packages, self.state) if each is not None]

    def target(self, name: str) -> Path:
        """Return where a file of the backup is made."""
        kept = contents.PACKAGES
        if not name.startswith(f"{kept}/"):
            return self.staged / name
        own = self.packages
        folder = self.staged / self.below if own is None else exchange.staged(own)
        return folder / name.removeprefix(f"{kept}/")


def put_back(
    folder: Path,
    state: Path,
    *,
    replace: bool = False,
    stated: Stated | None = None,
    progress: Progress = no_progress,
    refuse: Callable[[], None] = lambda: None,
) -> Restored:
    """Put a backup back as the folder of outputs; nothing may write there meanwhile.

    Args:
        replace: Move what is there aside; without it a state that is not empty is refused.
        stated: What a lab's file says of its databases and packages; databases of PostgreSQL must
            be empty.
        refuse: Raises BadInput where servers run there; asked while the lock of the state is held,
            which servers look at when they have said that they start.

    Raises:
        BadInput: The backup is not exactly what its manifest says or is a lab's, whose file is not
            stated, or has a database in SQLite that belongs into PostgreSQL by it; the state is not
            empty, is a mount point or another user could move it away, or space is short; what a
            restore that was killed had begun cannot be undone.
        BusyError: Another process restores it.
    """
    found = manifests.read(folder)
    if stated is None and lab_state.MARK in found.files and found.state == str(state):
        expected = "`--config` with its file, or `--state` elsewhere, to try it"
        raise BadInput(str(folder), "a backup of a lab", expected)
    stated = stated or Stated()
    secret_files.refuse_shared_way(state)
    _refuse_mounted(_places(state, stated))
    undone = exchange.undo_killed(state, refuse)
    places = _places(state, stated)
    for place in places.moves if not replace else ():
        if place.exists() and any(place.iterdir()):
            expected = "an empty folder, none, or --replace, which keeps what is there beside it"
            raise BadInput(str(place), "a folder with something in it", expected)
    servers = _servers(found, state, stated)
    for place in places.moves:
        output_folder(place.parent)
    lock = exchange.lock_of(state)
    with locks.hold(lock), secret_files.private():
        refuse()
        exchange.clear(places.moves)
        refuse_below(found.size + backup.RESERVE, "what is restored", state.parent)
        try:
            with writing(places.staged):
                _stage(folder, places, found, progress)
            _keep_passwords(places, servers)
            note = _mark_anew(places, stated, servers)
            _settle_in(places, found)
            restored = _finish(places, found, servers, note)
        except BaseException:
            exchange.clear(places.moves)
            raise
        lock.unlink(missing_ok=True)
    return dataclasses.replace(restored, undone=undone)


def _places(state: Path, stated: Stated) -> _Places:
    packages = stated.packages
    if packages is None:
        return _Places(state, None, contents.PACKAGES)
    packages = packages.resolve()
    if packages.is_relative_to(state):
        return _Places(state, None, packages.relative_to(state).as_posix())
    return _Places(state, packages, contents.PACKAGES)


def _refuse_mounted(places: _Places) -> None:
    """Refuse a place on which something is mounted: nothing can be renamed to it."""
    for place in filter(mounts.is_mounted, places.moves):
        key = f"`state`, {ARTIFACTS}" if place == places.state else "`artifact_store`"
        expected = f"a folder in it ({key}: {place / 'lab'}), or nothing mounted there"
        raise BadInput(str(place), "a mount point, which cannot be renamed", expected)


def _mark_anew(places: _Places, stated: Stated, servers: Mapping[str, Server]) -> str:
    """Mark what is restored of a lab as one of its own, and note so in its packages.

    Returns:
        Statements that note so in its databases.
    """
    mlflow, staged = DUMPS[contents.MLFLOW] in servers, places.staged
    if not mlflow and not lab_state.is_marked(staged):
        return ""
    database = mlflow or lab_state.read(staged).database
    note = Note(lab_places.new_id(), home_of(places.state))
    packages = places.target(f"{contents.PACKAGES}/-").parent
    if packages.is_dir():
        lab_places.Folder(packages).note(note)
    filled = {name: each for name, each in stated.servers.items() if DUMPS[name] in servers}
    kept = {
        place.key: place.shown
        for place in dataclasses.replace(stated, servers=filled).places(places.state)
        if packages.is_dir() or not isinstance(place, lab_places.Folder)
    }
    home = str(places.state)  # where it will be
    made = lab_state.Mark(database=database, registry=note.registry, places=kept, home=home)
    lab_state.write(staged, made)
    return lab_databases.statements(note)


def _finish(places: _Places, found: Backup, servers: Mapping[str, Server], note: str) -> Restored:
    """Fill databases of PostgreSQL and rename folders into place, or undo all that."""
    if servers:
        (places.staged / contents.UNFINISHED).touch()
    with ExitStack() as filled:
        plain = [lab_databases.TABLE, *(table for _, table in backup.COUNTED.values())]
        for name, server in servers.items():
            dump = places.staged / name
            filled.enter_context(server.put_back(dump, tables=plain, then=note))
        with exchange.exchanged(places.moves) as asides:
            filled.close()
    (places.state / contents.UNFINISHED).unlink(missing_ok=True)
    counts = backup.counts(places.state, servers)
    packages = None if places.packages is None else asides[places.packages]
    return Restored(found, places.state, asides[places.state], packages, counts)


def _keep_passwords(places: _Places, servers: Mapping[str, Server]) -> None:
    """Copy libpq's password file, which no backup holds, where the state that it is in is replaced.

    Databases are asked by it after that, and `ricochet up` needs it.
    """
    for kept in {found for server in servers.values() if (found := server.known_passwords)}:
        for place in map(Path, (os.path.abspath(kept), os.path.realpath(kept))):
            if place.is_relative_to(places.state):
                _copy_secret(kept, places.staged / place.relative_to(places.state))


def _copy_secret(kept: Path, target: Path) -> None:
    content = read_regular(kept, "libpq's password file", largest=secret_files.LARGEST)
    folder = secret_files.own_folder(target.parent)
    secret_files.write(folder, target.name, content.decode().removesuffix("\n"))


def _servers(found: Backup, state: Path, stated: Stated) -> dict[str, Server]:
    """Return the databases of PostgreSQL by their dumps; BadInput where one cannot be put back."""
    dumps = {name: dump for name, dump in DUMPS.items() if dump in found.files}
    for name, dump in dumps.items():
        if name not in stated.servers:
            raise BadInput(dump, "a dump of PostgreSQL", "--config FILE that names its database")
        stated.servers[name].refuse_unless_empty()
    for name in {*stated.servers} & {*found.files}:
        expected = f"a lab's file that names no database for it: {DUMPS[name]} is missing"
        raise BadInput(name, "a database of SQLite", expected)
    if contents.MLFLOW in dumps and found.state != str(state):
        expected = f"{found.state}: the database in PostgreSQL names files there"
        raise BadInput("the place", str(state), expected)
    if dumps:
        lab_places.refuse_mixed(stated.places(state))
    return {dump: stated.servers[name] for name, dump in dumps.items()}


def _stage(folder: Path, places: _Places, found: Backup, progress: Progress) -> None:
    """Copy all files; BadInput at the first that is not what the manifest says."""
    for place in places.moves:
        exchange.staged(place).mkdir(mode=0o700)
    for number, (name, entry) in enumerate(found.files.items(), start=1):
        target = places.target(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if backup.copied(folder / name, target, largest=entry.size) != entry:
            raise BadInput(shown(folder / name), "other bytes", f"SHA-256 {entry.sha256}")
        progress(number, len(found.files))


def _settle_in(places: _Places, found: Backup) -> None:
    """Check the databases, and let MLflow's name files at the new place."""
    staged = places.staged
    for name in (contents.MLFLOW, contents.PREFECT):
        if (staged / name).is_file():
            databases.check(staged / name)
    mlflow, place = staged / contents.MLFLOW, Path(contents.MLFLOW).parent
    if mlflow.is_file():
        databases.move(mlflow, str(Path(found.state) / place), str(places.state / place))
    for made in map(exchange.staged, places.moves):
        for each, _, _ in os.walk(made):
            sync(Path(each))
