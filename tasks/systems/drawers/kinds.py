"""Which packages of drawers the registry holds: what a drawer sounds like."""

import re

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import PackageKind, Reader

PREFIX = "drawer-"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?")


def _refuse(name: str) -> None:
    if not _NAME.fullmatch(name.removeprefix(PREFIX)):
        raise BadInput(name, "no such name", f"{PREFIX} and small letters, digits and hyphens")


def _reader() -> Reader:
    from ricochet.tasks.systems.drawers import packages

    return packages.READER


DRAWER = PackageKind(
    pattern=f"{PREFIX}<name>",
    prefix=PREFIX,
    matches=lambda name: name.startswith(PREFIX) and name != PREFIX,
    refuse=_refuse,
    load_reader=_reader,
    made_by="ricochet train drawer",
)
"""All that is needed to follow a drawer by its sound, `packages`."""
