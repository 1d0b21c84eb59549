"""The only list of systems; each is imported when it is asked for."""

from importlib import import_module

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.systems.interface import System

SYSTEMS = ("bouncing_ball", "air_hockey")


def systems() -> tuple[System, ...]:
    """Return all systems."""
    modules = (import_module(f"ricochet.tasks.systems.{name}.system") for name in SYSTEMS)
    return tuple(module.SYSTEM for module in modules)


def kind_of(name: str) -> PackageKind:
    """Return the kind of package that a name in the registry stands for.

    Raises:
        BadInput: If no kind has such names, or the kind knows that this one stands for nothing.
    """
    kinds = [kind for system in systems() for kind in system.kinds]
    matching = [kind for kind in kinds if kind.matches(name)]
    if not matching:
        raise BadInput(name, "an unknown name", " or ".join(kind.pattern for kind in kinds))
    found = max(matching, key=lambda kind: len(kind.prefix))
    found.refuse(name)
    return found
