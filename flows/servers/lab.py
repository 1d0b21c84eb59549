"""The servers of a lab, as a file states them: `ricochet up --config lab.yaml`.

No password stands in the file. Those of databases lie in `pgpass`, in libpq's form, in the folder
of secrets, which its owner alone may read; the others are made there when they are missing.
"""

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Interval
from pydantic import ConfigDict, Strict, TypeAdapter, ValidationError

from ricochet.models.core.bad_input import BadInput, unknown_key
from ricochet.tasks.storage import checked_yaml, database_address, limits, login_transport
from ricochet.tasks.storage.provenance import artifacts

if TYPE_CHECKING:
    from ricochet.tasks.registry.lab_places import Place

Port = Annotated[int, Strict(), Interval(ge=0, le=65535)]
Whether = Annotated[bool, Strict()]
PGPASS = "pgpass"
"""File of databases' passwords in the folder of secrets."""
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:(\d{1,5}|\*))?")
_EXPECTED = {"path": "a path", "tuple": "a list", "bool": "true or false"}
"""What a value is, in words, by the fault that pydantic finds."""
_STORE = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#\s]*)?")


@dataclass(frozen=True)
class Lab:
    """Which servers run where, and on what they stand.

    Attributes:
        state: Folder of logs and of the ledger, and of databases and files without another place.
        secrets: Folder of passwords and keys; by default `secrets` in `state`.
        host: The address that is listened on.
        mlflow_port, prefect_port: 0 takes a free one.
        names: Names by which the servers are reached, beside loopback; others get 403.
        mlflow_database, prefect_database: addresses of PostgreSQL (`database_address`); empty:
            SQLite in `state`.
        artifact_store: Where packages and figures lie: a folder or `s3://bucket/path`; empty is a
            folder in `state`.
        login: Whether MLflow asks for a name and a password. Prefect always asks for its password.
        behind_proxy: Whether a proxy in front of the servers encrypts; without one they listen on
            loopback alone.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    state: Path = field(default_factory=artifacts)
    secrets: Path | None = None
    host: str = "127.0.0.1"
    mlflow_port: Port = 5000
    prefect_port: Port = 4200
    names: tuple[str, ...] = ()
    mlflow_database: str = ""
    prefect_database: str = ""
    artifact_store: str = ""
    login: Whether = True
    behind_proxy: Whether = False

    @property
    def secrets_folder(self) -> Path:
        """Return the folder of passwords and keys."""
        return self.secrets or self.state / "secrets"

    def places(self, *, patience: float) -> "list[Place]":
        """Return where its registry is, beside its state.

        Args:
            patience: For how long PostgreSQL may be starting, s.
        """
        from ricochet.tasks.registry import lab_places  # with numpy, for which no help waits

        databases = {
            lab_places.MLFLOW: self.mlflow_database,
            lab_places.PREFECT: self.prefect_database,
        }
        return lab_places.of_lab(
            self.state,
            databases,
            self.artifact_store,
            passwords=self.secrets_folder / PGPASS,
            patience=patience,
        )


def load(path: Path) -> Lab:
    """Read a lab's file; paths in it are relative to it.

    Raises:
        BadInput: It cannot be read, a key is unknown, a value is of another type or out of range,
            an address holds a password, or the servers would be open to a network.
    """
    content = checked_yaml.read(path, "a file of a lab's servers")
    if not isinstance(content, dict):
        found = "an empty file" if content is None else type(content).__name__
        raise BadInput(str(path), found, "keys with values")
    return _placed(checked(_parsed(content, str(path)), str(path)), path)


def checked(lab: Lab, where: str) -> Lab:
    """Return a lab whose values fit together, or raise BadInput."""
    for key in ("mlflow_database", "prefect_database"):
        if address := getattr(lab, key):
            passwords = "`pgpass` in the folder of secrets"
            database_address.check(f"{where}: {key}", address, os.environ, passwords=passwords)
    for name in lab.names:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{where}: names", repr(name), "host names, with `:port` or `:*`")
    _check_store(lab.artifact_store, f"{where}: artifact_store")
    if lab.host not in login_transport.LOOPBACK and not (lab.login and lab.behind_proxy):
        found = f"{lab.host} without {'an encrypting proxy' if lab.login else 'a login'}"
        raise BadInput(f"{where}: host", found, "loopback, or login and behind_proxy: true")
    return lab


def _parsed(content: dict[Any, Any], where: str) -> Lab:
    known = Lab.__dataclass_fields__
    for key in content:
        if key not in known:
            raise unknown_key(where, key, known)
    try:
        return TypeAdapter(Lab).validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key, found = ".".join(map(str, first["loc"])), repr(first["input"])[:80]
        message = first["msg"].lower().removeprefix("input should be ")
        message = _EXPECTED.get(first["type"].partition("_")[0], message)
        raise BadInput(f"{where}: {key}", found, message) from error


def _check_store(address: str, where: str) -> None:
    """Refuse an address other than S3's; what may be a key is not shown."""
    scheme, colon, _ = address.partition(":")
    if not colon or "/" in scheme:
        return
    if "@" in address:
        expected = "an address without it; boto3 finds keys in `~/.aws/credentials`"
        raise BadInput(where, "a key", expected)
    if not _STORE.fullmatch(address):
        raise BadInput(where, repr(address), "a folder or s3://bucket/path")


def _placed(lab: Lab, file: Path) -> Lab:
    """Return a lab whose paths are absolute."""
    state = _place(lab.state, file, "state")
    secrets = None if lab.secrets is None else _place(lab.secrets, file, "secrets")
    store = lab.artifact_store
    if store and "://" not in store:
        store = str(_place(Path(store), file, "artifact_store"))
    return replace(lab, state=state, secrets=secrets, artifact_store=store)


def _place(path: Path, file: Path, key: str) -> Path:
    """Return where a path of a lab's file leads; BadInput where that is no folder's name."""
    from ricochet.tasks.storage.files import shown  # with numpy, for which no help waits

    where, expected = f"{file}: {key}", "the name of a folder"
    if path == Path() or not str(path).isprintable() or len(str(path)) > limits.LONGEST:
        raise BadInput(where, shown(path), expected)
    try:
        return (file.resolve().parent / path.expanduser()).resolve()
    except RuntimeError as error:  # of no such user
        raise BadInput(where, shown(path), expected) from error
