"""DVC's command for remotes that others may write to, and for hosts that are known.

    python -P -m ricochet.tasks.recordings.dvc_program pull data.dvc

DVC believes a remote: neither the list of a folder's files nor the files need have the digest that
names them, and both the paths and the digests in a list may lead out of where they belong, `..` and
all. So whoever writes to a remote writes any file of whoever pulls. Here a list has its digest and
names plain files, a digest is one, and every file that is fetched is compared with its own. Over
SSH, DVC talks to whoever answers, and puts a server's questions to whoever is at the terminal; here
a host counts whose key is in `~/.ssh/known_hosts`, as for `ssh` itself, and nobody is asked. What a
clone may say is in `dvc_repository`, what is fetched at all in `dvc_fetched`, what is listed in
`dvc_listed`, and what is printed of errors in `dvc_said`.
"""

import atexit
import contextlib
import hashlib
import importlib.util
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings.dvc_fetched import read_small, refuse_odd, verify_kinds, verify_room
from ricochet.tasks.recordings.dvc_listed import verify_listings
from ricochet.tasks.recordings.dvc_logins import refuse_lent
from ricochet.tasks.recordings.dvc_notes import settle_notes
from ricochet.tasks.recordings.dvc_repository import (
    is_plain,
    own_folder,
    refusal,
    refuse_programs,
    verify_places,
)
from ricochet.tasks.recordings.dvc_said import verify_words
from ricochet.tasks.recordings.dvc_web import verify_web
from ricochet.tasks.recordings.parent_process import end_with_starter
from ricochet.tasks.storage.files import read_bytes
from ricochet.tasks.storage.own_temporary import own_temporary
from ricochet.tasks.storage.secret_files import taken_folder

DIGEST = re.compile(r"[0-9a-f]{2,32}(?:\.dir)?")
"""Or how one begins, by which DVC asks for many."""
PLAIN, HERE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]*"), "localhost"
MEMORY = "DVC_SITE_CACHE_DIR"
"""Variable of where DVC remembers what it has seen of files and remotes."""
LONGEST = 2**24
"""Bytes of a list of files: more than a hundred thousand of them."""


def remember_apart() -> None:
    """Have DVC remember files in a folder of its user's; it must not be imported yet.

    DVC itself takes one of `/var/tmp` where all may rename, and what lies there may be code.
    """
    if MEMORY in os.environ:
        return
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "ricochet-dvc"
    try:
        os.environ[MEMORY] = str(taken_folder(folder))
    except (BadInput, OSError):  # nobody's home, or a full disk
        os.environ[MEMORY] = tempfile.mkdtemp(prefix="ricochet-dvc-")
        atexit.register(shutil.rmtree, os.environ[MEMORY], ignore_errors=True)


def verify_hosts() -> None:
    """Have DVC refuse a host whose key is not known, and ask nobody what a server would know."""
    if importlib.util.find_spec("dvc_ssh") is None:
        return
    from asyncssh import SSHClient
    from dvc_ssh import SSHFileSystem

    prepare = SSHFileSystem._prepare_credentials

    def verified(self: Any, **config: Any) -> dict[str, Any]:
        for each in (config["host"], config.get("user") or config.get("username") or HERE):
            if not PLAIN.fullmatch(str(each)):  # which `ssh`'s own settings may put into a command
                raise refusal(each, "no name of a host or a user", "letters, digits, .:_-")
        known = str(Path("~/.ssh/known_hosts").expanduser())
        login = prepare(self, **config, client_factory=SSHClient)  # DVC's own prints its questions
        return {**login, "known_hosts": known, "agent_forwarding": False}

    SSHFileSystem._prepare_credentials = verified


def verify_files() -> None:
    """Have DVC compare each file that it fetches with its digest, which is no path."""
    from dvc_data.hashfile import db
    from dvc_data.hashfile.db.local import LocalHashFileDB

    module: Any = db
    begin, add = module.HashFileDB.__init__, module.HashFileDB.add

    def begun(self: Any, *arguments: Any, **config: Any) -> None:
        begin(self, *arguments, **{**config, "verify": True})

    def added(self: Any, paths: Any, system: Any, *arguments: Any, **options: Any) -> Any:
        for each in [paths] if isinstance(paths, str) else paths:
            if system.protocol == "local" and os.path.exists(each):
                refuse_odd(each, system.info(each))
        return add(self, paths, system, *arguments, **options)

    module.HashFileDB.__init__, module.HashFileDB.add = begun, added
    kinds: list[Any] = [module.HashFileDB, LocalHashFileDB]
    for kind in kinds:
        kind.oid_to_path = _of_digests(kind.oid_to_path)


def _of_digests(place: Any) -> Any:
    """Return a method that gives the place of a digest, and of nothing else."""

    def placed(self: Any, digest: Any) -> str:
        if not (isinstance(digest, str) and DIGEST.fullmatch(digest)):
            raise refusal(digest, "no digest", "hexadecimal digits")
        found: str = place(self, digest)
        return found

    return placed


def verify_cache() -> None:
    """Have DVC take nothing of a cache that others write to but what has its digest."""
    from dvc_data.hashfile.hash import hash_file
    from dvc_data.index import index

    module: Any = index
    get = module.ObjectStorage.get

    def compared(self: Any, entry: Any) -> Any:
        system, path = get(self, entry)
        digest = entry.hash_info.value
        foreign = system.protocol == "local" and _is_foreign(path) and not digest.endswith(".dir")
        if foreign and hash_file(path, system, entry.hash_info.name)[1].value != digest:
            raise refusal(path, "another file in the cache", f"that of digest {digest}")
        return system, path

    module.ObjectStorage.get = compared


def _is_foreign(path: str) -> bool:
    try:
        return os.stat(path).st_uid not in (0, os.geteuid())
    except FileNotFoundError:
        return False


def verify_lists() -> None:
    """Have DVC take no list of another digest, or that names what is no plain file below it."""
    from dvc_data.hashfile import tree

    module: Any = tree
    load, read = module.Tree.load.__func__, module.Tree.from_list.__func__

    def loaded(cls: Any, place: Any, digest: Any, *arguments: Any, **options: Any) -> Any:
        found = place.get(digest.value)
        content = _content(found)
        if content is None or f"{hashlib.md5(content).hexdigest()}.dir" != digest.value:
            raise refusal(found.path, "another list of files", f"that of digest {digest.value}")
        once = SimpleNamespace(get=lambda _: _Read(content, found.path), hash_name=place.hash_name)
        made = load(cls, once, digest, *arguments, **options)
        made.fs = found.fs
        return made

    def listed(cls: Any, entries: Any, *arguments: Any, **options: Any) -> Any:
        for each in entries:
            if not is_plain(each["relpath"]):
                raise refusal(each["relpath"], "a path in a list", "plain names below its folder")
        return read(cls, entries, *arguments, **options)

    module.Tree.load, module.Tree.from_list = classmethod(loaded), classmethod(listed)


class _Read:
    """What DVC reads a list from: its content, as it was compared with the digest."""

    def __init__(self, content: bytes, path: str) -> None:
        self.content, self.path, self.fs = content, path, self

    def open(self, path: str, mode: str) -> io.BytesIO:
        """Open the content."""
        return io.BytesIO(self.content)


def _content(found: Any) -> bytes | None:
    """Read a list, None if it is too long; a local one without waiting."""
    if found.fs.protocol != "local":
        refuse_odd(found.path, found.fs.info(found.path))
        return read_small(found.fs, found.path, LONGEST)
    try:
        return read_bytes(Path(found.path), "a list of files", largest=LONGEST)
    except BadInput as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise error.__cause__ from None
        raise refusal(found.path, "no list of files", f"a file of {LONGEST} bytes") from error


def main() -> int:
    """Run DVC's command line with the words of this one."""
    end_with_starter()
    try:
        refuse_programs(Path.cwd())
        with own_temporary():
            return _run()
    except BadInput as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _run() -> int:
    os.environ["DVC_NO_ANALYTICS"] = "1"
    remember_apart()
    here = own_folder(Path.cwd())
    with contextlib.chdir("/"):  # asyncssh looks for libraries, and the linker in a clone for them
        from dvc.cli import main as command

        if importlib.util.find_spec("asyncssh") is not None:
            importlib.import_module("asyncssh")
        if here is not None:
            refuse_lent(here)
    settle_notes()
    verify_words()
    verify_hosts()
    verify_kinds()
    verify_room()
    verify_listings()
    verify_web()
    verify_files()
    verify_lists()
    verify_places()
    verify_cache()
    return int(command(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
