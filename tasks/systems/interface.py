"""What a system offers to the command line, the flows and the registry.

A system is one folder here and one in `models/systems`. Its module `system` holds a `SYSTEM` made
of names and of callables that import late, so that a list of all systems costs nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ricochet.tasks.registry.kinds import PackageKind


@dataclass(frozen=True)
class LateValidation:
    """A kind of package that is validated, and may so become champion.

    Attributes:
        kind: The kind.
        load: Imports and returns its `tasks.validation.judge.Validation`.
    """

    kind: PackageKind
    load: Callable[[], Any]


@dataclass(frozen=True)
class System:
    """A system; all parts but the name may be absent.

    Attributes:
        name: Its folder in `tasks/systems`, and the word for it in the catalogue.
        kinds: The packages it puts into the registry.
        validations: How those that may become champion are validated.
    """

    name: str
    kinds: tuple[PackageKind, ...] = ()
    validations: tuple[LateValidation, ...] = ()
