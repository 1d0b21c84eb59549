"""A package from a folder, or from the registry by its name: what controllers are made from."""

from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.packages import Package, read_package

LONGEST_PLACE = 240
"""Letters of a folder or a name."""


def load(source: str | Path, kind: PackageKind, *, alias: str = CHAMPION) -> tuple[Package, str]:
    """Return a verified package, and where it came from in words.

    Args:
        source: Folder that holds the kind's manifest, or a name in the registry.
        alias: In the registry.

    Raises:
        BadInput: If there is no such package, or it is not whole.
    """
    reader = kind.load_reader()
    if not isinstance(source, str | Path) or len(str(source)) > LONGEST_PLACE:
        raise BadInput("package", repr(source)[:80], "a folder or a name in the registry")
    if (Path(source) / reader.manifest).exists():
        return read_package(Path(source), reader=reader), str(source)
    if not kind.matches(str(source)):
        wanted = f"a folder with {reader.manifest}, or a name {kind.pattern}"
        raise BadInput(str(source), "no package", wanted)
    kind.refuse(str(source))
    return _registered(str(source), kind, alias)


def _registered(name: str, kind: PackageKind, alias: str) -> tuple[Package, str]:
    from ricochet.tasks.registry import runs, versions

    tracker = runs.connect()
    version = versions.resolve(tracker, name, alias)
    if version is None:
        raise BadInput(name, f"no {alias} in the registry", "one; see ricochet validate --help")
    package = versions.load(tracker, version, kind=kind)
    return package, f"{name} version {version.version}"
