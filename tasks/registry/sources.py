"""Where a controller finds the champion: an MLflow server on this machine, or a plain folder.

Only the standard library is needed. A server is asked for the version behind the alias and for
the four files of its package, by name and bounded in size; what it answers is checked by the
reader (ricochet.tasks.registry.champion), not believed.
"""

import http.client
import json
import shutil
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import logins
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.packages import LARGEST_FILE
from ricochet.tasks.storage.files import sha256

LARGEST_ANSWER = 2**20
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class UnreachableError(RuntimeError):
    """The registry does not answer, or has no such version; the text is one line."""


@dataclass(frozen=True)
class Pointer:
    """The version behind the alias.

    Attributes:
        digest: SHA-256 of its manifest, where the source knows it.
        registered: When it was registered, s since 1970.
        run: The run whose files hold the package; empty for a folder.
    """

    version: str
    digest: str | None
    registered: float
    run: str = ""


class Source(Protocol):
    """Where champions are looked up."""

    def resolve(self, name: str, reader: Reader) -> Pointer:
        """Look up the champion of a name; UnreachableError where it cannot be."""

    def download(self, pointer: Pointer, folder: Path, reader: Reader) -> None:
        """Put the four files of a version into a folder; UnreachableError where it cannot be."""


@dataclass(frozen=True)
class Server:
    """An MLflow server.

    Attributes:
        address: `http://` and a loopback host, or `https://` and any.
        package: Folder of the package among the files of its run.
        patience: Longest wait for an answer, s.
        login: File of the name and password, for a server that asks (`tasks.registry.logins`).
    """

    address: str
    alias: str = CHAMPION
    package: str = "package"
    patience: float = 5.0
    login: Path | None = None

    def __post_init__(self) -> None:
        """Refuse with BadInput plain http to another machine, where anyone could answer."""
        parts = urllib.parse.urlsplit(self.address)
        if parts.scheme == "https" and parts.hostname:
            return
        if parts.scheme != "http" or parts.hostname not in LOOPBACK:
            raise BadInput("registry", repr(self.address), "http on loopback, or https")

    def resolve(self, name: str, reader: Reader) -> Pointer:
        """Look up the champion of a name; UnreachableError without an answer or an alias."""
        words = {"name": name, "alias": self.alias}
        answer = self._read("api/2.0/mlflow/registered-models/alias", words, LARGEST_ANSWER)
        try:
            found: dict[str, Any] = json.loads(answer)["model_version"]
            tags = {tag["key"]: tag["value"] for tag in found.get("tags", [])}
            made = float(found["creation_timestamp"]) / 1000.0
            digest = tags.get("package.sha256")
            return Pointer(str(found["version"]), digest, made, str(found["run_id"]))
        except (ValueError, KeyError, TypeError) as error:
            raise UnreachableError(f"{self.address}: an answer that is no version") from error

    def download(self, pointer: Pointer, folder: Path, reader: Reader) -> None:
        """Fetch the four files of a version; UnreachableError where one is not given."""
        for name in (reader.manifest, *reader.content):
            words = {"run_uuid": pointer.run, "path": f"{self.package}/{name}"}
            (folder / name).write_bytes(self._read("get-artifact", words, LARGEST_FILE))

    def _read(self, path: str, words: dict[str, str], most: int) -> bytes:
        address = f"{self.address.rstrip('/')}/{path}?{urllib.parse.urlencode(words)}"
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), _NoRedirect()
        )  # neither a proxy nor a redirect may answer in the server's place
        try:
            request = urllib.request.Request(address, headers=logins.header(self.login))
            with opener.open(request, timeout=self.patience) as answer:
                content: bytes = answer.read(most + 1)
        except urllib.error.HTTPError as error:
            raise UnreachableError(f"{self.address}: answer {error.code} to {path}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreachableError(f"{self.address}: no answer ({error})") from error
        if len(content) > most:
            raise UnreachableError(f"{self.address}: more than {most} bytes from {path}")
        return content


@dataclass(frozen=True)
class Folder:
    """A plain folder of packages, `<place>/<name>/` with the four files."""

    place: Path

    def resolve(self, name: str, reader: Reader) -> Pointer:
        """Look up the package of a name, registered when its manifest was written."""
        manifest = self.place / name / reader.manifest
        try:
            digest, made = sha256(manifest), manifest.stat().st_mtime
        except OSError as error:
            raise UnreachableError(f"{manifest}: {error.strerror or error}") from error
        return Pointer(digest[:12], digest, made, name)

    def download(self, pointer: Pointer, folder: Path, reader: Reader) -> None:
        """Copy the four files of a package; UnreachableError where one cannot be read."""
        for name in (reader.manifest, *reader.content):
            try:
                shutil.copyfile(self.place / pointer.run / name, folder / name)
            except OSError as error:
                raise UnreachableError(f"{self.place}: {error.strerror or error}") from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow nothing: the address that was given is the one that answers."""

    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        """Refuse."""
        return
