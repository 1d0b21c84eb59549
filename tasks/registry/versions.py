"""Packages in the MLflow registry; an alias moves only to a package that came back whole.

The order is: upload to the run, register, wait for READY, download again, verify every digest, run
the self-test, and only then the alias. Each step finds its own earlier result, so a repetition adds
nothing, and a crash leaves at worst a version without an alias.
"""

import contextlib
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mlflow.artifacts import download_artifacts, list_artifacts
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException

from ricochet.models.core.bad_input import BadInput, shown
from ricochet.models.core.nearest_name import did_you_mean
from ricochet.tasks.registry import pages, runs, signatures, version_page
from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.registry.bounded_json import LARGEST_TEXT
from ricochet.tasks.registry.kinds import PackageKind, Reader
from ricochet.tasks.registry.packages import (
    LARGEST_FILE,
    LARGEST_REFERENCE,
    Package,
    read_package,
)
from ricochet.tasks.registry.pointers import DIGEST, NUMBER
from ricochet.tasks.registry.runs import BY_SERVER, Tracker
from ricochet.tasks.registry.server_confinement import is_within
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.storage.files import sha256, write_json

FOLDER = "package"
SERVED = (f"{BY_SERVER}/", "runs:/")
MOST_FILES, LARGEST = 5, LARGEST_FILE + LARGEST_REFERENCE + 3 * LARGEST_TEXT
"""Of a package, with its signature; and bytes of all together."""
ABSENT = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")
"""How MLflow says that there is no such name, or no such alias of a name."""


@dataclass(frozen=True)
class Registered:
    """A version of a named package.

    Raises:
        BadInput: The version is no number as MLflow gives them. A server may say anything, and
            files are named by it.
    """

    name: str
    version: str

    def __post_init__(self) -> None:
        """Look at the version."""
        if not NUMBER.fullmatch(self.version):
            raise BadInput(f"{self.name}: its version", shown(self.version), "a number from 1")

    @property
    def where(self) -> str:
        """The version in words, for errors."""
        return f"{self.name} version {self.version}"


def register(
    tracker: Tracker,
    name: str,
    folder: Path,
    *,
    kind: PackageKind,
    run_id: str,
    tags: Mapping[str, str],
    figure: str | None = None,
) -> Registered:
    """Put a package into the registry and, once it came back whole, point `candidate` at it.

    It is signed where the environment names a key (`signatures.SIGNING_KEY`).

    Args:
        run_id: The run that made it; it has at most one version of a name.
        figure: Path of a picture of that run, which the version's page shows.

    Raises:
        BadInput: If the package is not whole or has another name, before or after the upload.
    """
    reader = kind.load_reader()
    read_package(folder, reader=reader, name=name)
    digest = sha256(folder / reader.manifest)
    version = _find_version(tracker, name, run_id)
    if version is None:
        tracker.client.log_artifacts(run_id, str(folder), FOLDER)
        _sign(tracker, folder, reader, run_id)
        version = _create_version(tracker, name, run_id, {**tags, DIGEST: digest}, kind)
    _wait_until_ready(tracker, version)
    registered = Registered(name, str(version.version))
    stated = str(version.tags.get(DIGEST, digest))
    package = _fetch(tracker, registered, reader, digest=stated)
    if not version.description:
        said = version_page.of_version(package, kind, run_id=run_id, figure=figure)
        tracker.client.update_model_version(name, registered.version, said)
    _point_candidate(tracker, registered)
    return registered


def resolve(tracker: Tracker, name: str, alias: str = CANDIDATE) -> Registered | None:
    """Return the version behind an alias, or None where there is none."""
    try:
        found = tracker.client.get_model_version_by_alias(name, alias)
    except MlflowException as error:
        if error.error_code not in ABSENT:
            raise
        return None
    return Registered(name, str(found.version))


def candidates(names: Iterable[str]) -> dict[str, str]:
    """Return the version that is the candidate now, of each of some names, in this process's store.

    There is none of a registry that is away by then: what was registered stands.
    """
    found: dict[str, str] = {}
    with contextlib.suppress(MlflowException, BadInput, OSError):
        tracker = runs.connect()
        for name in names:
            candidate = resolve(tracker, name)
            found |= {} if candidate is None else {name: candidate.version}
    return found


def names(tracker: Tracker) -> list[str]:
    """Return all names in the registry."""
    return [found.name for found in pages.every(tracker.client.search_registered_models)]


def of_run(tracker: Tracker, name: str, run_id: str) -> Registered | None:
    """Return the version of a name that a run made, or None where there is none."""
    found = _find_version(tracker, name, run_id)
    return None if found is None else Registered(name, str(found.version))


def tags(tracker: Tracker, registered: Registered) -> dict[str, str]:
    """Return the tags of a version, which the administrator alone writes; none if it is absent."""
    version = _find(tracker, registered)
    return {} if version is None else dict(version.tags)


def is_registered(tracker: Tracker, name: str, folder: Path, *, kind: PackageKind) -> bool:
    """Tell whether some version of a name is the package in a folder."""
    digest = sha256(folder / kind.load_reader().manifest)
    found = pages.versions(tracker.client, f"name = '{name}'")
    return any(version.tags.get(DIGEST) == digest for version in found)


def load(
    tracker: Tracker, registered: Registered, *, kind: PackageKind, key: Key | None = None
) -> Package:
    """Download, verify and read a version.

    Args:
        key: By which it must be signed, as `signatures.demanded` says.

    Raises:
        BadInput: If it is not there, or not exactly what its manifest promises, or another one than
            was registered, or not signed by the key.
    """
    version = _find(tracker, registered)
    if version is None:
        near = did_you_mean(registered.name, names(tracker))
        raise BadInput(registered.where, "nothing in the registry", f"a version{near}")
    stated, demanded = str(version.tags.get(DIGEST, "none")), signatures.demanded(key)
    return _fetch(tracker, registered, kind.load_reader(), digest=stated, key=demanded)


def _find(tracker: Tracker, registered: Registered) -> ModelVersion | None:
    try:
        return tracker.client.get_model_version(registered.name, registered.version)
    except MlflowException as error:
        if error.error_code not in ABSENT:
            raise
        return None


def _sign(tracker: Tracker, folder: Path, reader: Reader, run_id: str) -> None:
    """Put a signature beside the files of a run, if the environment names a key."""
    private = signatures.signing_key()
    if private is None:
        return
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, reader.signature)
        write_json(path, signatures.sign(folder, reader, private))
        tracker.client.log_artifact(run_id, str(path), FOLDER)


def _fetch(
    tracker: Tracker,
    registered: Registered,
    reader: Reader,
    *,
    digest: str,
    key: bytes | None = None,
) -> Package:
    """Download and verify a version, whose manifest has the digest that its tag says."""
    source = tracker.client.get_model_version_download_uri(registered.name, registered.version)
    _check_source(tracker, source, registered.where)
    with tempfile.TemporaryDirectory() as place:
        found = download_artifacts(artifact_uri=source, dst_path=place, tracking_uri=tracker.uri)
        if (there := sha256(Path(found, reader.manifest))) != digest:
            expected = f"that of its tag {DIGEST}, {shown(digest)}"
            raise BadInput(registered.where, f"manifest sha256 {there}", expected)
        return read_package(Path(found), reader=reader, name=registered.name, key=key)


def _check_source(tracker: Tracker, source: str, where: str) -> None:
    """Refuse files of another store, and what is no package by its size, before any is fetched."""
    if not source.isprintable() or not _is_own(tracker, source):
        raise BadInput(f"{where}: source", source, "files of the registry's own store")
    found = list_artifacts(artifact_uri=source, tracking_uri=tracker.uri)
    size = sum(each.file_size or 0 for each in found)
    if any(each.is_dir for each in found) or len(found) > MOST_FILES or size > LARGEST:
        found_there = f"{len(found)} files and folders of {size} bytes"
        raise BadInput(where, found_there, f"at most {MOST_FILES} files of {LARGEST} bytes")


def _is_own(tracker: Tracker, source: str) -> bool:
    """Tell whether files are of the store that is asked."""
    if source.startswith(SERVED):
        return True
    local = tracker.artifacts is None or is_within(source, tracker.artifacts)
    return local and source.startswith(("/", "file:"))


def _find_version(tracker: Tracker, name: str, run_id: str) -> ModelVersion | None:
    versions = pages.versions(tracker.client, f"name = '{name}' and run_id = '{run_id}'")
    return min(versions, key=lambda version: int(version.version), default=None)


def _create_version(
    tracker: Tracker, name: str, run_id: str, tags: Mapping[str, str], kind: PackageKind
) -> ModelVersion:
    try:
        tracker.client.get_registered_model(name)
    except MlflowException as error:
        if error.error_code not in ABSENT:
            raise
        tracker.client.create_registered_model(name, description=version_page.of_name(kind))
    source = f"runs:/{run_id}/{FOLDER}"
    made = tracker.client.create_model_version(name, source, run_id=run_id, tags=dict(tags))
    # the first, where an answer was lost and the client asked again
    return _find_version(tracker, name, run_id) or made


def _wait_until_ready(tracker: Tracker, version: ModelVersion, *, patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while tracker.client.get_model_version(version.name, version.version).status != "READY":
        if time.monotonic() > end:
            raise TimeoutError(f"{version.name} version {version.version} is not READY")
        time.sleep(0.2)


def _point_candidate(tracker: Tracker, registered: Registered) -> None:
    name, version = registered.name, registered.version
    present = resolve(tracker, name)
    if present is None or int(present.version) < int(version):
        tracker.client.set_registered_model_alias(name, CANDIDATE, version)
