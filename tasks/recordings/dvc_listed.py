"""What a DVC remote lists: so many entries with short names, and no more.

To find out what a remote holds, DVC asks for the names of all its objects and keeps them until the
last has come. A server may go on for ever, over SSH as over S3, or give names of any length. The
objects lie in folders of two hexadecimal digits, each named by the other thirty. So here a list
over SSH goes no deeper than that, keeps of an entry what DVC asks for, and all lists that a process
reads end at `MOST` entries together. Remotes over http are asked for each object by its name.
"""

import contextlib
import importlib.util
import os
from collections.abc import AsyncIterator
from functools import cache, partial
from typing import Any
from xml.parsers import expat

from ricochet.tasks.recordings.dvc_repository import refusal

MOST = 2**20
"""Entries of the lists that a process reads: of ten years, whose nights left 280 files each."""
LONGEST = 1024
"""Characters of a name: of a key of S3, which holds its folders; those of folders have 255."""
LARGEST = 2**63
"""Bytes of a file: a number of any length would be kept."""
LETTERS = 128 * MOST
"""Bytes of all names, kept twice: those of an object have 33, and its place before it on S3."""
DEEPEST = 2
"""Folders within one another, of which the first holds all objects."""
_TEXTS = ("name", "ETag", "VersionId")
_KEPT = (*_TEXTS, "Key", "Size", "size", "type", "LastModified", "IsLatest")
"""What is kept of an entry of S3's."""
ANSWER = 2**22
"""Bytes of an answer of S3 other than a file: a list of a thousand of the longest names."""
NAMESPACE = 100
"""Characters of one in such an answer: a reader makes each name of an element anew with it."""


def verify_listings() -> None:
    """Have DVC read lists of remotes up to `MOST` entries in all, each with a short name."""
    lists = _Lists()
    _bound_folders(lists)
    if importlib.util.find_spec("sshfs") is not None:
        _bound_ssh(lists)
    if importlib.util.find_spec("dvc_s3") is not None:
        _bound_s3_once_used(lists)


class _Lists:
    """What remotes have listed so far."""

    def __init__(self) -> None:
        self.entries, self.letters = 0, 0

    def take(self, place: str, name: str) -> None:
        """Take the next entry of a list, or refuse it."""
        self.entries += 1
        self.letters += len(name) * (1 if name.isascii() else 4)
        if len(name) > LONGEST:
            found = f"a name of {len(name)} characters in the remote's list"
            raise refusal(place, found, f"at most {LONGEST}")
        if self.entries > MOST or self.letters > LETTERS:
            expected = f"at most {MOST} entries of {LETTERS} bytes"
            raise refusal(place, "a list of the remote without end", expected)


def _bound_folders(lists: _Lists) -> None:
    from dvc_objects.fs.local import FsspecLocalFileSystem

    kind: Any = FsspecLocalFileSystem
    ls = kind.ls

    def listed(self: Any, path: str, **options: Any) -> Any:
        if os.path.isdir(path):
            with os.scandir(path) as found:
                for each in found:
                    lists.take(path, each.name)
        return ls(self, path, **options)

    kind.ls = listed


def _bound_ssh(lists: _Lists) -> None:
    from sshfs import SSHFileSystem
    from sshfs.utils import wrap_exceptions

    kind: Any = SSHFileSystem
    find = kind._find

    async def listed(self: Any, path: str, detail: bool = True, **options: Any) -> list[Any]:
        found = []
        async with self._pool.get() as channel:
            async for each in channel.scandir(path):
                lists.take(path, each.filename)
                if each.filename not in ("", ".", ".."):
                    facts = self._decode_attributes(each.attrs)
                    name = f"{path.rstrip('/')}/{each.filename}"
                    found.append({"name": name, "type": facts["type"], "size": facts["size"]})
        return found if detail else [each["name"] for each in found]

    async def found(self: Any, path: str, maxdepth: int | None = None, **options: Any) -> Any:
        return await find(self, path, maxdepth=min(maxdepth or DEEPEST, DEEPEST), **options)

    kind._ls, kind._find = wrap_exceptions(listed), found


def _bound_s3_once_used(lists: _Lists) -> None:
    """Bound S3 where a remote of it is opened: what it imports is large."""
    from dvc_s3 import S3FileSystem

    kind: Any = S3FileSystem
    prepare, bound = kind._prepare_credentials, cache(partial(_bound_s3, lists))

    def prepared(self: Any, **config: Any) -> Any:
        bound()
        return prepare(self, **config)

    kind._prepare_credentials = prepared


def _bound_s3(lists: _Lists) -> None:
    from aiobotocore.awsrequest import AioAWSResponse
    from s3fs import S3FileSystem

    kind: Any = S3FileSystem
    answer: Any = AioAWSResponse
    iterate = kind._iterdir

    async def iterated(self: Any, bucket: str, *words: Any, **options: Any) -> AsyncIterator[Any]:
        async for each in iterate(self, bucket, *words, **options):
            place, size = f"s3://{bucket}", each.get("Size", each.get("size")) or 0
            if not (isinstance(size, int) and 0 <= size < LARGEST):
                raise refusal(place, "an odd size in the remote's list", "that of a file")
            lists.take(place, "".join(str(each.get(word, "")) for word in _TEXTS))
            yield {word: each[word] for word in _KEPT if word in each}

    kind._iterdir, answer._content_prop = iterated, _content


async def _content(self: Any) -> bytes:
    """Return an answer of S3 other than a file, read as far as it may go."""
    if self._content is None:
        parts, length = [], 0
        async for each in self.raw.content.iter_any():
            parts.append(each)
            length += len(each)
            if length > ANSWER:
                self.raw.close()
                raise refusal(self.url, "an answer without end", f"at most {ANSWER} bytes")
        content = b"".join(parts)
        if b"<!" in content or b"\0" in content:
            wrong = "an answer with declarations, or in UTF-16"
            raise refusal(self.url, wrong, "one of S3's: what they stand for has no bound")
        if _longest_namespace(content) > NAMESPACE:
            expected = f"at most {NAMESPACE} characters"
            raise refusal(self.url, "a namespace without end", expected)
        self._content = content
    found: bytes = self._content
    return found


def _longest_namespace(content: bytes) -> int:
    """Return the length of the longest namespace in an answer, as far as it is XML."""
    longest = 0

    def begin(_: str, attributes: dict[str, str]) -> None:
        nonlocal longest
        for name, text in attributes.items():
            longest = max(longest, len(text) if name.startswith("xmlns") else 0)

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    with contextlib.suppress(expat.ExpatError):  # the reader goes no further either
        parser.Parse(content, True)
    return longest
