"""A package from a folder, or from the registry by its name: what controllers are made from."""

from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import signatures
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.registry.signatures import Key

LONGEST_PLACE = 240
"""Letters of a folder or a name."""


def load(
    source: str | Path, kind: PackageKind, *, alias: str = CHAMPION, key: Key | None = None
) -> tuple[Package, str]:
    """Return a verified package, and where it came from in words.

    Args:
        source: Folder that holds the kind's manifest, or a name in the registry.
        alias: In the registry.
        key: By which it must be signed, as `signatures.demanded` says.

    Raises:
        BadInput: If there is no such package, or it is not whole, or not signed by the key.
    """
    reader = kind.load_reader()
    if not isinstance(source, str | Path) or len(str(source)) > LONGEST_PLACE:
        raise BadInput("package", repr(source)[:80], "a folder or a name in the registry")
    if (Path(source) / reader.manifest).exists():
        demanded = signatures.demanded(key)
        return read_package(Path(source), reader=reader, key=demanded), str(source)
    if not kind.matches(str(source)):
        wanted = f"a folder with {reader.manifest}, or a name {kind.pattern}"
        raise BadInput(str(source), "no package", wanted)
    kind.refuse(str(source))
    return _registered(str(source), kind, alias, key)


def _registered(name: str, kind: PackageKind, alias: str, key: Key | None) -> tuple[Package, str]:
    from ricochet.tasks.registry import runs, versions

    tracker = runs.connect()
    version = versions.resolve(tracker, name, alias)
    if version is None:
        raise BadInput(name, f"no {alias} in the registry", "one; see ricochet validate --help")
    package = versions.load(tracker, version, kind=kind, key=key)
    return package, f"{name} version {version.version}"
