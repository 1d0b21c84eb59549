"""A backup made while everything runs: a folder that is whole, with its manifest, or absent.

Databases come first, each as of one instant, MLflow's together with the log of promotions while
nobody promotes; then files, which are written before a database names them and never changed. It
is filled under a hidden name, for its owner alone, forced to the disk, read once as `restore` does
and renamed; what a killed one left, the next one of that name removes.
"""

import contextlib
import errno
import hashlib
import math
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.backups import contents, databases, manifests, postgres
from ricochet.tasks.backups.contents import Contents, Stated
from ricochet.tasks.backups.manifests import Backup, Entry
from ricochet.tasks.backups.postgres import Server
from ricochet.tasks.registry import promotion_log
from ricochet.tasks.storage import secret_files
from ricochet.tasks.storage.files import output_folder, sync, write_json, writing
from ricochet.tasks.storage.free_space import refuse_below
from ricochet.tasks.storage.provenance import git_commit

CHUNK = 2**20
GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)
"""Why what was a regular file cannot be opened as one: it is not there, below a file, a link, or a
socket."""
RESERVE = 100e6
"""Bytes that stay free."""
COUNTED = {
    "runs": (contents.MLFLOW, "runs"),
    "versions": (contents.MLFLOW, "model_versions"),
    "aliases": (contents.MLFLOW, "registered_model_aliases"),
    "flow runs": (contents.PREFECT, "flow_run"),
}
"""Tables whose rows are counted, and the place of their database in a backup."""


def make(
    target: Path,
    *,
    since: Path | None = None,
    stated: Stated | None = None,
    progress: Progress = no_progress,
) -> Backup:
    """Make a backup.

    Args:
        target: Folder that is not there.
        since: An earlier backup; files that it holds too are linked, where it is on the same file
            system and nobody else can change them.
        stated: What a lab's file says of its databases.

    Raises:
        BadInput: The target is there, something cannot be read, or space is short.
        BusyError: Another process makes this one, or promotes.
    """
    if target.exists():
        raise BadInput(str(target), "something", "a name that is not taken")
    earlier = {} if since is None else manifests.read(since).files
    found = contents.find(stated)
    output_folder(target.parent)
    lock = target.with_name(f".{target.name}.lock")
    with locks.hold(lock), secret_files.private():
        partial = _emptied(target.with_name(f".{target.name}.partial"))
        try:
            refuse_below(_size(found) + RESERVE, "what is backed up", partial)
            with writing(target):
                made = _filled(_Copier(partial, earlier, since), found, progress)
                partial.rename(target)
                sync(target.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            lock.unlink(missing_ok=True)
    return made


def counts(folder: Path, servers: Mapping[str, Server] | None = None) -> dict[str, int]:
    """Count what the databases and the log in a backup, or in a state, hold.

    Args:
        servers: Databases of PostgreSQL that are asked in place of their dump, by its place.
    """
    found = dict.fromkeys(COUNTED, 0)
    for name, (file, table) in COUNTED.items():
        dump = contents.DUMPS[file]
        if server := (servers or {}).get(dump):
            found[name] = server.count(table)
        elif (folder / dump).is_file():
            found[name] = postgres.count(folder / dump, table)
        elif (folder / file).is_file():
            found[name] = databases.count(folder / file, table)
    log = folder / contents.LOG / promotion_log.place().name
    return found | {"promotions": len(promotion_log.lines(log))}


class _Copier:
    """Copies files into a backup and notes what it copied."""

    def __init__(self, folder: Path, earlier: Mapping[str, Entry], since: Path | None) -> None:
        self.folder, self.earlier, self.since = folder, earlier, since
        self.entries: dict[str, Entry] = {}
        self.left_out: dict[str, int] = {}

    def copy(self, source: Path, name: str) -> None:
        """Copy a file, or link the same one of an earlier backup."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        before = self.earlier.get(name)
        same = before is not None and _is(source, before)
        if before and self.since and same and _linked(self.since / name, target, before):
            self.entries[name] = before
            return
        self.entries[name] = copied(source, target)

    def note(self, name: str) -> None:
        """Note a file that is there already."""
        self.entries[name] = entry_of(self.folder / name)


def entry_of(path: Path) -> Entry:
    """Return size and digest of a file."""
    with _opened(path) as file:
        return _entry(file)


def copied(source: Path, target: Path, *, largest: float = math.inf) -> Entry:
    """Copy a regular file to the disk; returns what was written.

    Args:
        largest: Bytes after which it is not copied to its end.
    """
    digest, size = hashlib.sha256(), 0
    with _opened(source) as file, target.open("xb") as copy:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += copy.write(chunk)
            if size > largest:
                break
        copy.flush()
        os.fsync(copy.fileno())
    return Entry(size, digest.hexdigest())


def _opened(path: Path) -> BufferedReader:
    """Open a regular file.

    Raises:
        FileNotFoundError: It is none, or none any longer.
        BadInput: It cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in GONE:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from error
        reason = os.strerror(error.errno or 0).lower()
        raise BadInput(str(path), reason, "a file that can be read") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileNotFoundError(errno.ENOENT, "no regular file", str(path))
    return open(handle, "rb")


def _entry(file: BufferedReader) -> Entry:
    size = os.fstat(file.fileno()).st_size
    return Entry(size, hashlib.file_digest(file, "sha256").hexdigest())


def _filled(copier: _Copier, found: Contents, progress: Progress) -> Backup:
    """Fill a folder, on the disk when this returns; BadInput where `restore` would not take it."""
    begun = datetime.now(UTC)
    _fill(copier, found, progress)
    made = _manifest(copier, found, begun)
    write_json(copier.folder / manifests.MANIFEST, {**asdict(made)})
    manifests.read(copier.folder)
    _sync_folders(copier.folder)
    return made


def _fill(copier: _Copier, found: Contents, progress: Progress) -> None:
    with ExitStack() as stack:
        stack.enter_context(locks.hold(output_folder(promotion_log.place().parent)))
        for name, path in found.databases.items():
            target = copier.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            databases.copy(path, target)
            copier.note(name)
        for name, server in found.servers.items():
            target = copier.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            server.dump(target)
            copier.note(name)
        _copy_all(copier, _files_in(contents.LOG, found.folders.get(contents.LOG)), no_progress)
    others = {name: path for name, path in found.folders.items() if name != contents.LOG}
    files = dict(found.files)
    for name, path in others.items():
        files |= _files_in(name, path)
    held, copier.left_out = manifests.split(files)
    _copy_all(copier, {name: files[name] for name in held}, progress)


def _copy_all(copier: _Copier, files: Mapping[str, Path], progress: Progress) -> None:
    for number, (name, path) in enumerate(sorted(files.items()), start=1):
        try:
            copier.copy(path, name)
        except FileNotFoundError:  # a temporary file, or a run's that was removed or exchanged
            (copier.folder / name).unlink(missing_ok=True)
        progress(number, len(files))


def _files_in(name: str, folder: Path | None) -> dict[str, Path]:
    """Return the regular files of a folder by their place in the backup."""
    if folder is None:
        return {}
    return {f"{name}/{path.relative_to(folder).as_posix()}": path for path in _regular(folder)}


def _regular(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        paths = (Path(place, name) for name in names)
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _size(found: Contents) -> float:
    files = [*found.databases.values(), *found.files.values()]
    files += [path for folder in found.folders.values() for path in _regular(folder)]
    dumps = sum(server.size() for server in found.servers.values())
    return dumps + float(sum(map(_bytes_of, files)))


def _bytes_of(path: Path) -> int:
    with contextlib.suppress(OSError):  # it has gone meanwhile
        return path.stat().st_size
    return 0


def _is(source: Path, entry: Entry) -> bool:
    with _opened(source) as file:
        return os.fstat(file.fileno()).st_size == entry.size and _entry(file) == entry


def _linked(path: Path, target: Path, entry: Entry) -> bool:
    """Link a file that is this user's alone to change; tell whether it is there, and the right one.

    Folders on the way may be others', who exchange them meanwhile: what was linked is looked at.
    """
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError:  # on another file system, or another user's
        return False
    facts = target.lstat()
    own = facts.st_uid == os.geteuid() and not facts.st_mode & 0o022
    if stat.S_ISREG(facts.st_mode) and own and _is(target, entry):
        return True
    target.unlink()
    return False


def _manifest(copier: _Copier, found: Contents, begun: datetime) -> Backup:
    return Backup(
        schema=manifests.SCHEMA,
        when=begun.isoformat(timespec="seconds"),
        commit=git_commit(),
        state=str(found.databases.get(contents.MLFLOW, found.state / contents.MLFLOW).parents[1]),
        counts=counts(copier.folder),
        files=copier.entries,
        left_out=copier.left_out,
    )


def _emptied(partial: Path) -> Path:
    with writing(partial):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
    return partial


def _sync_folders(folder: Path) -> None:
    for place, _, _ in os.walk(folder):
        sync(Path(place))
