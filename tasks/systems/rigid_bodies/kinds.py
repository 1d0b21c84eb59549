"""Which packages of rigid bodies the registry holds: posteriors of pendulums that were filmed."""

import re

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import PackageKind, Reader

PREFIX = "pendulum-"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?")


def _refuse(name: str) -> None:
    if not _NAME.fullmatch(name.removeprefix(PREFIX)):
        raise BadInput(name, "no such name", f"{PREFIX} and small letters, digits and hyphens")


def _reader() -> Reader:
    from ricochet.tasks.systems.rigid_bodies import particle_packages

    return particle_packages.READER


PENDULUM = PackageKind(
    pattern=f"{PREFIX}<name>",
    prefix=PREFIX,
    matches=lambda name: name.startswith(PREFIX) and name != PREFIX,
    refuse=_refuse,
    load_reader=_reader,
    made_by="ricochet infer double-pendulum FILE --register NAME",
)
"""Particles of a double pendulum's parameters, `particle_packages`."""
