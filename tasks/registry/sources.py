"""Where a controller finds the champion: an MLflow server on this machine, or a plain folder.

Only the standard library is needed. A server is asked for the version behind the alias and for
the four files of its package, by name and bounded in size; what it answers is checked by the
reader (ricochet.tasks.registry.champion), not believed.
"""

import contextlib
import http.client
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.registry import logins, pointers
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.answer_heads import ShortHead
from ricochet.tasks.registry.bounded_json import LARGEST_TEXT, parse_object
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.packages import LARGEST_FILE
from ricochet.tasks.registry.pointers import Pointer
from ricochet.tasks.storage.files import read_regular, sha256
from ricochet.tasks.storage.login_transport import LOOPBACK

LARGEST_ANSWER = 2**20
BLOCK = 2**16
"""Bytes that are read of an answer at a time."""


class UnreachableError(RuntimeError):
    """The registry does not answer, or has no such version; the text is one line."""


class Source(Protocol):
    """Where champions are looked up."""

    def resolve(self, name: str, reader: Reader) -> Pointer:
        """Look up the champion of a name; UnreachableError where it cannot be."""

    def download(
        self, pointer: Pointer, folder: Path, reader: Reader, *, signed: bool = False
    ) -> None:
        """Put the four files of a version into a folder; UnreachableError where it cannot be.

        Args:
            signed: Whether its signature is fetched as well.
        """


@dataclass(frozen=True)
class Server:
    """An MLflow server.

    Attributes:
        address: `http://` and a loopback host, or `https://` and any.
        package: Folder of the package among the files of its run.
        patience: Longest wait for an answer, and for more of it, s.
        longest: For all of an answer, s.
        login: File of the name and password, for a server that asks (`tasks.registry.logins`).
    """

    address: str
    alias: str = CHAMPION
    package: str = "package"
    patience: float = 5.0
    longest: float = 120.0
    login: Path | None = None

    def __post_init__(self) -> None:
        """Refuse with BadInput what is no address, and plain http to another machine."""
        expected = "http on loopback, or https"
        try:
            parts = urllib.parse.urlsplit(self.address)
        except ValueError as error:
            raise BadInput("registry", repr(self.address), expected) from error
        if parts.scheme == "https" and parts.hostname:
            return
        if parts.scheme != "http" or parts.hostname not in LOOPBACK:
            raise BadInput("registry", repr(self.address), expected)

    def resolve(self, name: str, reader: Reader) -> Pointer:
        """Look up the champion of a name; UnreachableError without an answer or an alias."""
        words = {"name": name, "alias": self.alias}
        answer = self._read("api/2.0/mlflow/registered-models/alias", words, LARGEST_ANSWER)
        try:
            return pointers.of_answer(parse_object(self.address, answer), self.address)
        except BadInput as error:
            raise UnreachableError(f"an answer that is no version: {error}") from error

    def download(
        self, pointer: Pointer, folder: Path, reader: Reader, *, signed: bool = False
    ) -> None:
        """Fetch the four files of a version; UnreachableError where one is not given."""
        for name in _names(reader, signed):
            words = {"run_uuid": pointer.run, "path": f"{self.package}/{name}"}
            (folder / name).write_bytes(self._read("get-artifact", words, LARGEST_FILE))

    def _read(self, path: str, words: dict[str, str], most: int) -> bytes:
        """Ask for a path, by no proxy and along no redirect: this address alone may answer."""
        parts = urllib.parse.urlsplit(self.address)
        encrypted = parts.scheme == "https"
        make = http.client.HTTPSConnection if encrypted else http.client.HTTPConnection
        target = f"{parts.path.rstrip('/')}/{path}?{urllib.parse.urlencode(words)}"
        headers = {**logins.header(self.login), "Connection": "close"}
        try:
            connection = make(parts.netloc.rpartition("@")[2], timeout=self.patience)
            connection.response_class = _Answer
            with contextlib.closing(connection), _ending(connection, self.longest):
                connection.request("GET", target, headers=headers)
                answer = connection.getresponse()
                content = _content(answer, most) if answer.status == 200 else b""
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreachableError(f"{self.address}: no answer ({one_line(error)})") from error
        if answer.status != 200:
            raise UnreachableError(f"{self.address}: answer {answer.status} to {path}")
        if len(content) > most:
            raise UnreachableError(f"{self.address}: more than {most} bytes from {path}")
        return content


def _content(answer: http.client.HTTPResponse, most: int) -> bytes:
    """Read an answer, or one byte more than it may have; of many parts few at a time."""
    content = bytearray()
    while len(content) <= most and (block := answer.read(min(BLOCK, most + 1 - len(content)))):
        content += block
    return bytes(content)


class _Answer(ShortHead):
    """An answer whose parts have a length: one below zero would be all that comes."""

    def _read_next_chunk_size(self) -> int:
        size: int = super()._read_next_chunk_size()  # type: ignore[misc]
        if size < 0:
            raise http.client.HTTPException("a part of less than nothing")
        return size


@dataclass(frozen=True)
class Folder:
    """A plain folder of packages, `<place>/<name>/` with the four files."""

    place: Path

    def resolve(self, name: str, reader: Reader) -> Pointer:
        """Look up the package of a name, registered when its manifest was written."""
        manifest = self.place / name / reader.manifest
        try:
            digest = sha256(read_regular(manifest, "a manifest", largest=LARGEST_TEXT))
            made = pointers.time_of(str(manifest), manifest.stat().st_mtime)
        except (BadInput, OSError) as error:
            raise UnreachableError(one_line(error)) from error
        return Pointer(digest[:12], digest, made, name)

    def download(
        self, pointer: Pointer, folder: Path, reader: Reader, *, signed: bool = False
    ) -> None:
        """Copy the four files of a package; UnreachableError where one cannot be read."""
        for name in _names(reader, signed):
            path = self.place / pointer.run / name
            try:
                content = read_regular(path, "a file of a package", largest=LARGEST_FILE)
            except BadInput as error:
                raise UnreachableError(str(error)) from error
            (folder / name).write_bytes(content)


def _names(reader: Reader, signed: bool) -> tuple[str, ...]:
    names = (reader.manifest, *reader.content)
    return (*names, reader.signature) if signed else names


@contextlib.contextmanager
def _ending(connection: http.client.HTTPConnection, longest: float) -> Iterator[None]:
    """Connect, and end the connection after so long, s: a server may drip its answer for ever.

    Raises:
        TimeoutError: It was ended.
    """
    connection.connect()
    ended, stream = threading.Event(), connection.sock

    def end() -> None:
        ended.set()
        with contextlib.suppress(OSError):
            stream.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(longest, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        if ended.is_set():
            raise TimeoutError(f"not whole after {longest:g} s") from error
        raise
    finally:
        timer.cancel()
    if ended.is_set():
        raise TimeoutError(f"not whole after {longest:g} s")
