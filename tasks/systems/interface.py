"""What a system offers to the command line, the flows and the registry.

A system is one folder here and one in `models/systems`. Its module `system` holds a `SYSTEM` made
of names and of callables that import late, so that a list of all systems costs nothing.
"""

from dataclasses import dataclass

from ricochet.tasks.registry.kinds import PackageKind


@dataclass(frozen=True)
class System:
    """A system; all parts but the name may be absent.

    Attributes:
        name: Its folder in `tasks/systems`, and the word for it in the catalogue.
        kinds: The packages it puts into the registry.
    """

    name: str
    kinds: tuple[PackageKind, ...] = ()
