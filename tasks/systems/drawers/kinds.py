"""Which packages of drawers the registry is to hold: what a drawer sounds like."""

from ricochet.tasks.registry.kinds import Reader, prefixed

PREFIX = "drawer-"


def _reader() -> Reader:
    from ricochet.tasks.systems.drawers import packages

    return packages.READER


DRAWER = prefixed(PREFIX, "name", load_reader=_reader, made_by="ricochet train drawer")
"""All that is needed to follow a drawer by its sound, `packages`."""
