"""What a lab cannot make again: databases, packages, the log of promotions, recordings, settings.

All is named by its path within the state (`artifacts/`), the folder that a backup is like.
"""

import filecmp
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups.postgres import Server
from ricochet.tasks.recordings import dvc_publish, manifests
from ricochet.tasks.registry import lab_places, lab_state, local_store, promotion_log
from ricochet.tasks.storage import exchange
from ricochet.tasks.storage.provenance import artifacts, workplace

MLFLOW, PREFECT = "mlflow/mlflow.db", "prefect/prefect.db"
DUMPS = {MLFLOW: "mlflow/mlflow.dump", PREFECT: "prefect/prefect.dump"}
"""Names in a backup of databases that PostgreSQL keeps."""
PACKAGES, LOG, REMOTE = "mlflow/artifacts", "registry", "published"
SETTINGS = "checkout"
"""Folder of copies of what belongs to the checkout; to be compared and put back by hand."""
CHECKOUT = ("data.dvc", "params.yaml", "prefect.yaml", "lab.yaml", ".dvc/config", "dvc.lock")
FOREIGN = ("mlflow", "prefect", REMOTE, LOG, "servers", "secrets", "cluster", SETTINGS)
"""Folders of a state in which no session lies."""
DEEPEST = 4
UNFINISHED = ".unfinished-restore"
"""File in a state that is in place before its databases of PostgreSQL are committed."""


@dataclass(frozen=True)
class Contents:
    """Where everything is now.

    Attributes:
        databases: SQLite's, by their place in a backup.
        servers: PostgreSQL's, by the place of their dump in a backup.
        folders: Folders that are copied whole, by their place in a backup.
        files: Single files, by their place in a backup.
        state: The folder of outputs.
    """

    databases: dict[str, Path]
    servers: dict[str, Server]
    folders: dict[str, Path]
    files: dict[str, Path]
    state: Path


@dataclass(frozen=True)
class Stated:
    """What a lab's file says of its databases and files; by default all are in the state.

    Attributes:
        servers: PostgreSQL's databases, by the name that SQLite's has.
        packages: Folder of packages and files of runs.
        bucket: Address of a store in S3, which has them in its place; no backup holds those.
    """

    servers: dict[str, Server] = field(default_factory=dict)
    packages: Path | None = None
    bucket: str = ""

    def places(self, state: Path) -> list[lab_places.Place]:
        """Return where the registry is that a state is with."""
        keys = {MLFLOW: lab_places.MLFLOW, PREFECT: lab_places.PREFECT}
        databases = {keys[name]: server.address for name, server in self.servers.items()}
        passwords = next((server.passwords for server in self.servers.values()), None)
        store = self.bucket or str(self.packages or "")
        return lab_places.of_lab(state, databases, store, passwords=passwords)


def refuse_unfinished(state: Path) -> None:
    """Refuse a state that a restore left which was killed, or whose databases may lack its content.

    Raises:
        BadInput: So it is.
    """
    exchange.refuse_unfinished(state)
    if (state / UNFINISHED).exists():
        expected = "a whole one: empty its databases (`dropdb`, `createdb`) and restore --replace"
        raise BadInput(str(state), "a restore that was killed as it ended", expected)


def find(stated: Stated | None = None) -> Contents:
    """Find what is to be kept.

    Raises:
        BadInput: A database is no file of this machine, or there is none, or the lab's file names
            another; or no folder of packages is where that says, or it is another lab's; or nothing
            says so though the state is a lab's; or a restore to the state was killed as it ended;
            or a session that is not published has the place of another, or `PREFECT_HOME` another
            database.
    """
    state = artifacts()
    refuse_unfinished(state)
    if stated is None:
        lab_state.refuse_marked(state)
    of_lab, stated = stated is not None, stated or Stated()
    own: dict[str, Path] = {}
    if MLFLOW not in stated.servers:
        lab_state.refuse_another_s_store(state)
        own[MLFLOW] = _mlflow(state)
    if PREFECT not in stated.servers:
        own[PREFECT] = _prefect(state)
    there = {name: path for name, path in own.items() if path.is_file()}
    if MLFLOW in own and MLFLOW not in there:
        raise BadInput(str(own[MLFLOW]), "no database of MLflow", "a lab's outputs")
    if stated.packages is not None and not stated.packages.is_dir():
        raise BadInput(str(stated.packages), "no folder", "that of packages, as `artifact_store`")
    if of_lab:
        lab_places.refuse_others(state, stated.places(state))
    beside = own.get(MLFLOW, state / MLFLOW).parent / "artifacts"
    folders = {PACKAGES: stated.packages or beside, LOG: promotion_log.place().parent}
    remote = _remote()
    folders |= {} if remote is None else {REMOTE: remote}
    files = {f"{SETTINGS}/{name}": workplace() / name for name in CHECKOUT}
    files[lab_state.MARK] = state / lab_state.MARK
    for place in lab_state.outputs(state):
        for session in _unpublished(place):
            _add(files, session, place)
    return Contents(
        there,
        {DUMPS[name]: server for name, server in stated.servers.items()},
        {name: path for name, path in folders.items() if path.is_dir()},
        {name: path for name, path in files.items() if path.is_file()},
        state,
    )


def strangers(names: Iterable[str]) -> list[str]:
    """Return those of the files of a backup that none is made with, by name.

    A state holds settings of programs, keys and passwords too; those come from no backup.
    """
    all_names = {*names}
    single = {MLFLOW, PREFECT, *DUMPS.values(), *(f"{SETTINGS}/{name}" for name in CHECKOUT)}
    single.add(lab_state.MARK)
    whole = tuple(f"{folder}/" for folder in (PACKAGES, LOG, REMOTE))
    others = (name for name in all_names - single if not name.startswith(whole))
    return sorted(name for name in others if not _is_of_session(name, all_names))


def _mlflow(state: Path) -> Path:
    address = os.environ.get("MLFLOW_TRACKING_URI")
    found = local_store.file_of(address) if address else (state / MLFLOW).resolve()
    if found is None:
        raise BadInput("MLFLOW_TRACKING_URI", "no SQLite file", "that of the machine that keeps it")
    return found


def _prefect(state: Path) -> Path:
    """Return Prefect's database: that of `up`, or where there is none that of the environment."""
    own, home = state / PREFECT, os.environ.get("PREFECT_HOME")
    named = own if not home else Path(home).resolve() / own.name
    if own.is_file() and named.is_file() and not own.samefile(named):
        raise BadInput("PREFECT_HOME", f"another database of Prefect than {own}", "none")
    return own if own.is_file() else named


def remote_folder() -> Path | None:
    """Return where the DVC remote is that nights publish to, there or not; None if no folder."""
    root = workplace()
    if not (root / ".dvc").is_dir():
        return None
    address = dvc_publish.remotes(root).get("published", "")
    return Path(root / ".dvc", address).resolve() if address and "://" not in address else None


def _remote() -> Path | None:
    place = remote_folder()
    return place if place is not None and place.is_dir() else None


def _unpublished(state: Path) -> Iterator[Path]:
    """Yield the folders of sealed sessions that are not known to be in the remote."""
    for depth in range(1, DEEPEST):
        for parent in {
            path.parent.parent for path in state.glob("*/" * depth + manifests.MANIFEST)
        }:
            for session in dvc_publish.waiting(parent):
                if _may_hold_session(session.relative_to(state)):
                    yield session


def _add(files: dict[str, Path], session: Path, place: Path) -> None:
    """Add a session's files by their place in the outputs; BadInput where another's are there."""
    for path in _of_session(session):
        known = files.setdefault(path.relative_to(place).as_posix(), path)
        if known != path and not filecmp.cmp(known, path, shallow=False):
            found = f"another session than {known.parent}, of the same id"
            raise BadInput(str(session), found, "one of the two moved away")


def _of_session(folder: Path) -> Iterator[Path]:
    """Yield the files of a session; links and other things are none of it."""
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in manifests.FILES and path.is_file() and not path.is_symlink():
            yield path


def _is_of_session(name: str, names: set[str]) -> bool:
    """Tell whether a name is that of a file of a session that lies where sessions do."""
    path = PurePosixPath(name)
    sealed = (path.parent / manifests.MANIFEST).as_posix() in names
    return sealed and path.suffix.lower() in manifests.FILES and _may_hold_session(path.parent)


def _may_hold_session(folder: PurePath) -> bool:
    """Tell whether a session may be in a folder, given within the state."""
    parts = folder.parts
    hidden = any(part.startswith(".") for part in parts)
    return 1 <= len(parts) < DEEPEST and parts[0] not in FOREIGN and not hidden
