"""Which packages of batting the registry holds: the law of impacts, with shapes and camera."""

from ricochet.tasks.registry.kinds import Reader, prefixed

PREFIX = "batting-"


def _reader() -> Reader:
    from ricochet.tasks.systems.batting import packages

    return packages.READER


BATTER = prefixed(PREFIX, "set", load_reader=_reader, made_by="ricochet train batting")
"""All that a controller must know of objects, table and camera, `packages`."""
