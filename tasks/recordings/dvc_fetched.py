"""What DVC fetches from a remote: regular files, for which there is room.

A remote's file may be a pipe, for which DVC would wait. It may also be larger than the disk (zeros
take no room where they lie), without an end, or longer than its remote says, as is what comes
packed. To what shows the progress of a file, DVC reports the length l that its remote states, 0
if none, and how much has been written, w. Here each report looks at the free space f as well, and
the file is refused where

    max(l - w, 0) > f - SPARE.

DVC fetches several files at once. What each has written is missing in f, so this keeps `SPARE` free
whatever they take together. DVC removes what it has of a file that is refused.
"""

import importlib.util
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import LONGEST
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.recordings.dvc_repository import refusal
from ricochet.tasks.storage.free_space import free_under

SPARE = 2**30
"""Bytes that stay free on the disk."""


def verify_kinds() -> None:
    """Have DVC fetch regular files alone over SSH, whose length it knows before the first byte."""
    if importlib.util.find_spec("sshfs") is None:
        return
    from asyncssh import Error
    from sshfs import SSHFileSystem

    kind: Any = SSHFileSystem
    get, decode = kind._get_file, kind._decode_attributes

    def decoded(self: Any, attributes: Any) -> Any:
        attributes.permissions = attributes.permissions or 0  # which a server may leave out
        return decode(self, attributes)

    async def fetched(self: Any, source: str, target: str, **options: Any) -> None:
        facts = await self._info(source)
        refuse_odd(source, facts)
        if (shown := options.get("callback")) is not None:
            shown.set_size(facts["size"])
        try:
            await get(self, source, target, **options)
        except Error as error:
            found = f"the remote's error {one_line(error, longest=LONGEST)}"
            raise refusal(source, found, "its content") from None

    kind._get_file, kind._decode_attributes = fetched, decoded


def refuse_odd(path: str, facts: Mapping[str, Any]) -> None:
    """Refuse what is no regular file, by what its file system says of it."""
    if facts["type"] != "file":
        raise refusal(path, "no regular file", "one, as a pipe would be waited for")


def read_small(system: Any, path: str, largest: int) -> bytes | None:
    """Return the content of a remote's file as far as `largest` bytes; None if it has more.

    It is written as it comes: to be asked for a part of it, a server may answer with any more, all
    of which DVC would keep in memory.
    """
    from fsspec.callbacks import Callback

    class Bounded(Callback):  # type: ignore[misc]
        def set_size(self, size: int | None) -> None:
            self._look(size or 0)

        def relative_update(self, inc: int = 1) -> None:
            self.absolute_update(self.value + inc)

        def absolute_update(self, value: int) -> None:
            self.value = value
            self._look(value)

        def _look(self, length: int) -> None:
            if length > largest:
                raise _TooLongError

    with tempfile.TemporaryDirectory(prefix="ricochet-dvc-") as folder:
        target = Path(folder) / "file"
        try:
            system.get_file(path, str(target), callback=Bounded())
        except _TooLongError:
            return None
        return target.read_bytes()


class _TooLongError(Exception):
    """More has come than is read."""


def verify_room() -> None:
    """Have DVC refuse a file of a remote that would leave less than `SPARE` free.

    From folder to folder DVC copies much else than what it fetches; that is left as it is.
    """
    from dvc_data.index import fetch
    from dvc_objects.fs import generic

    every: Any = generic
    remotes: Any = fetch
    get, transfer = every._get, remotes.transfer

    def got(system: Any, sources: Any, targets: Any, callback: Any, **options: Any) -> Any:
        return get(system, sources, targets, callback=_Files(callback), **options)

    def transferred(source: Any, target: Any, *words: Any, callback: Any, **options: Any) -> Any:
        shown = _FilesOfFolder(callback) if source.fs.protocol == "local" else callback
        return transfer(source, target, *words, callback=shown, **options)

    every._get, remotes.transfer = got, transferred


class _Progress:
    """What DVC reports to; it passes on what it does not have."""

    def __init__(self, shown: Any) -> None:
        self._shown = shown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shown, name)


class _Files(_Progress):
    """The progress of many files, each of which looks at the free space."""

    def branched(self, source: str, target: str, **options: Any) -> "_File":
        """Return the progress of one of them."""
        return _File(self._shown.branched(source, target, **options), source, Path(target))


class _FilesOfFolder(_Files):
    """The same from folder to folder, where DVC reports nothing of files below a gigabyte."""

    def branched(self, source: str, target: str, **options: Any) -> "_File":
        """Return the progress of one of them, whose length is known."""
        found = super().branched(source, target, **options)
        found.set_size(Path(source).stat().st_size)
        return found


class _File(_Progress):
    """The progress of a file, which is refused where too little would stay free."""

    def __init__(self, shown: Any, source: str, target: Path) -> None:
        super().__init__(shown)
        self._source, self._target = source, target
        self._length, self._written = 0, 0

    def __enter__(self) -> "_File":
        self._shown.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._shown.__exit__(*error)

    def set_size(self, length: int | None) -> None:
        """Take the length of the file that its remote states; None if it states none."""
        self._length = length or 0
        self._shown.set_size(length)
        self._look()

    def relative_update(self, more: int = 1) -> None:
        """Take the number of bytes that were written since the last call."""
        self.absolute_update(self._written + more)

    def absolute_update(self, written: int) -> None:
        """Take the number of bytes that were written."""
        self._written = written
        self._shown.absolute_update(written)
        self._look()

    def _look(self) -> None:
        if max(self._length - self._written, 0) <= free_under(self._target) - SPARE:
            return
        stated = self._length > self._written
        found = f"{self._length} bytes" if stated else f"at least {self._written} bytes"
        raise refusal(self._source, found, f"room for it, and {SPARE} bytes beside it")
