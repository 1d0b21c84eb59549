"""Which packages of batting the registry holds: the law of impacts, with shapes and camera."""

import re

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import PackageKind, Reader

PREFIX = "batting-"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?")


def _refuse(name: str) -> None:
    if not _NAME.fullmatch(name.removeprefix(PREFIX)):
        raise BadInput(name, "no such name", f"{PREFIX} and small letters, digits and hyphens")


def _reader() -> Reader:
    from ricochet.tasks.systems.batting import packages

    return packages.READER


BATTER = PackageKind(
    pattern=f"{PREFIX}<set>",
    prefix=PREFIX,
    matches=lambda name: name.startswith(PREFIX) and name != PREFIX,
    refuse=_refuse,
    load_reader=_reader,
    made_by="ricochet train batting",
)
"""All that a controller must know of objects, table and camera, `packages`."""
