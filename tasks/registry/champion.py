"""The champion as a controller holds it: verified, kept on disk, swapped while running.

    server = Server("http://127.0.0.1:5000")
    held = Champion("ping-pong-table", server, kept, kind=POSTERIOR, oldest=30 * DAY)
    held.refresh()                    # from time to time, from any thread
    posterior = held.current()        # in every step: whole and checked, or an error in one line

The alias is resolved once; the four files of that version are fetched into a temporary folder and
digested against the manifest, the manifest against the registry's tag, and the self-test run. Then
the folder gets its name, one rename makes `current.json` point at it, and one assignment makes it
the posterior that `current` returns: a reader has the old one or the new one, never a half. What
is wrong with the registry is reported in one line and the last good package stays in use. Needs
numpy and safetensors alone; MLflow is asked over its REST interface, by the standard library.

    KEPT/<name>/current.json          version, digest, and when it was registered
    KEPT/<name>/<digest>/             the package; that before it is kept too
"""

import contextlib
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.registry import pointers, signatures
from ricochet.tasks.registry.bounded_json import LARGEST_TEXT, parse_object
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.packages import Package, read_signed
from ricochet.tasks.registry.pointers import Pointer
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.registry.sources import Source, UnreachableError
from ricochet.tasks.storage import secret_files
from ricochet.tasks.storage.files import read_regular, sha256, whole_folder, write_json

DAY = 86400.0
"""Seconds of a day."""
CURRENT = "current.json"
FETCHING = ".fetching."
OWN = re.compile(rf"[0-9a-f]{{64}}|\.[0-9a-f]{{64}}\..+|{re.escape(FETCHING)}.+")
"""Names of a package that is kept, and of one that a killed process left half written."""
CLOCK_ERROR = DAY
"""How far in the future a registration may lie before the clock is taken to be wrong, s."""


class NoPosteriorError(RuntimeError):
    """There is no posterior that may be used: nothing may move. The text is one line."""


@dataclass(frozen=True)
class Posterior:
    """A verified package, and which one it is; its arrays cannot be written to.

    Attributes:
        digest: SHA-256 of its manifest.
        registered: When it was registered, s since 1970; where a key is set, when it was signed if
            that was earlier.
    """

    package: Package
    version: str
    digest: str
    registered: float


class Champion:
    """The package in use of one name; one writer, any number of readers."""

    def __init__(
        self,
        name: str,
        source: Source,
        kept: Path,
        *,
        kind: PackageKind,
        oldest: float,
        report_line: Callable[[str], None] = lambda line: None,
        key: Key | None = None,
    ) -> None:
        """Take up the last good package, if there is one.

        Args:
            kept: Folder of the packages kept.
            oldest: Age, s since its registration, past which a posterior must not be used.
            report_line: Called with a line for everything that is not as it should be.
            key: By which packages must be signed, as `signatures.demanded` says.

        Raises:
            ValueError: If the name could leave the folder.
            BadInput: The folder is a link, or another user made it, may write there or could move
                it away: what is kept is the last good package. Or the key is none.
        """
        if not name or not all(letter.isalnum() or letter in "-_" for letter in name):
            raise ValueError(f"name: need letters, digits, - and _, got {name!r}")
        self._name, self._source, self._place = name, source, kept.resolve() / name
        self._check_place()
        self._oldest, self._report_line, self._reader = oldest, report_line, kind.load_reader()
        self._key, self._refreshing = signatures.demanded(key), threading.Lock()
        self._known: tuple[str, str, float] | None = None
        self._held = self._last_good()

    def current(self, *, now: float | None = None) -> Posterior:
        """Return the posterior to use now, s since 1970; cheap enough for every step.

        Raises:
            NoPosteriorError: If there is none, or it is too old.
        """
        held = self._held
        if held is None:
            raise NoPosteriorError(f"{self._name}: found no posterior, expected a champion")
        age = (time.time() if now is None else now) - held.registered
        if not -CLOCK_ERROR <= age <= self._oldest:
            found = f"version {held.version} of {age / DAY:.1f} days"
            limit = f"at most {self._oldest / DAY:.1f} days"
            raise NoPosteriorError(f"{self._name}: found {found}, expected {limit}")
        return held

    def refresh(self) -> bool:
        """Look the champion up and swap to it if it is another; return whether it was.

        One that was registered at another time is another: a server that stood in this one's place
        may have said a wrong one.
        """
        with self._refreshing:
            try:
                pointer = self._source.resolve(self._name, self._reader)
                if self._known == _which(pointer):
                    return False
                found = self._fetch(pointer)
            except (UnreachableError, BadInput, OSError, locks.BusyError) as error:
                self._report_line(f"{self._name}: {one_line(error)}; {self._fallback()}")
                return False
            self._held, self._known = found, _which(pointer)
            return True

    def keep_fresh(self, period: float, stop: threading.Event) -> None:
        """Refresh every so many seconds until `stop` is set; the body of a thread.

        Whatever goes wrong is reported, and the thread goes on: nobody would look after another.
        """
        while not stop.wait(period):
            try:
                self.refresh()
            except Exception as error:
                self._report_line(f"{self._name}: {one_line(error)}; {self._fallback()}")

    def _fallback(self) -> str:
        held = self._held
        return "no posterior" if held is None else f"last good version {held.version} stays in use"

    def _fetch(self, pointer: Pointer) -> Posterior:
        """Fetch, verify, rename, point: after each step the disk holds a good package."""
        self._place.mkdir(parents=True, exist_ok=True)
        self._check_place()
        with locks.hold(self._place):
            return self._fetched(pointer)

    def _fetched(self, pointer: Pointer) -> Posterior:
        """Fetch while no other controller does that removes packages of this folder."""
        with tempfile.TemporaryDirectory(prefix=FETCHING, dir=self._place) as place:
            folder = Path(place) / "package"
            folder.mkdir()
            self._source.download(pointer, folder, self._reader, signed=self._key is not None)
            digest = sha256(folder / self._reader.manifest)
            if digest != pointer.digest:
                where = f"version {pointer.version}"
                raise BadInput(where, f"manifest sha256 {digest}", pointer.digest)
            package, signed = self._read(folder)
            if not self._has(digest, signed):
                with whole_folder(self._place / digest) as partial:
                    shutil.copytree(folder, partial, dirs_exist_ok=True)
        before = self._pointed()
        facts = {"version": pointer.version, "digest": digest, "registered": pointer.registered}
        write_json(self._place / CURRENT, facts)
        held = self._held.digest if self._held else ""
        self._forget({digest, str(before.get("digest")), held})
        return Posterior(package, pointer.version, digest, min(pointer.registered, signed))

    def _read(self, folder: Path) -> tuple[Package, float]:
        """Return a verified package, and when it was signed, s; infinity without a key."""
        package, signed = read_signed(folder, reader=self._reader, name=self._name, key=self._key)
        return _frozen(package), signed

    def _last_good(self) -> Posterior | None:
        facts = self._pointed()
        if not facts:
            return None
        try:
            kept = pointers.of_file(facts, str(self._place / CURRENT))
            package, signed = self._kept(kept.digest)
            self._known = _which(kept)
            return Posterior(package, kept.version, kept.digest, min(kept.registered, signed))
        except (BadInput, OSError) as error:
            self._report_line(f"{self._name}: last good package, {one_line(error)}")
            return None

    def _kept(self, digest: str) -> tuple[Package, float]:
        folder = self._place / digest
        found = self._read(folder)
        if sha256(folder / self._reader.manifest) != digest:
            raise BadInput(str(folder), "another manifest", f"sha256 {digest}")
        return found

    def _has(self, digest: str, signed: float) -> bool:
        try:
            return self._kept(digest)[1] == signed
        except (BadInput, OSError):
            return False

    def _pointed(self) -> dict[str, Any]:
        path = self._place / CURRENT
        if not path.exists():
            return {}
        try:
            content = read_regular(path, "what is kept", largest=LARGEST_TEXT)
            return parse_object(str(path), content)
        except BadInput as error:
            self._report_line(f"{self._name}: {error}")
            return {}

    def _forget(self, wanted: set[str]) -> None:
        """Take away packages that are neither in use nor the ones before, and nothing else."""
        for folder in self._place.iterdir():
            own = OWN.fullmatch(folder.name) and folder.name not in wanted
            if own and folder.is_dir() and not folder.is_symlink():  # a pipe would be waited for
                with contextlib.suppress(OSError):
                    shutil.rmtree(folder)

    def _check_place(self) -> None:
        """Refuse a folder that is another's, or that a link puts elsewhere."""
        if self._place.is_symlink():
            raise BadInput(str(self._place), "a link", "a folder, of the packages of this name")
        secret_files.refuse_foreign(self._place)


def _which(pointer: Pointer) -> tuple[str, str, float]:
    return pointer.version, pointer.digest, pointer.registered


def _frozen(package: Package) -> Package:
    """Make the arrays read-only, since all readers share them."""
    for array in (*package.arrays.values(), *package.inputs.values()):
        array.flags.writeable = False
    return package
