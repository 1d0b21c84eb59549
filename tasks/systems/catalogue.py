"""The only list of systems; each is imported when it is asked for."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks import settings
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.systems.interface import LateValidation, System

SYSTEMS = ("bouncing_ball", "air_hockey")


def systems() -> tuple[System, ...]:
    """Return all systems."""
    modules = (import_module(f"ricochet.tasks.systems.{name}.system") for name in SYSTEMS)
    return tuple(module.SYSTEM for module in modules)


def sections() -> settings.Sections:
    """Return name and class of each section of params.yaml; classes may share a section."""
    names = ("general_settings", *(f"systems.{name}.settings" for name in SYSTEMS))
    modules = (import_module(f"ricochet.tasks.{name}") for name in names)
    return tuple(section for module in modules for section in module.SECTIONS.items())


def load_settings(
    params: str | Path | None = None, overrides: Sequence[str] | None = None
) -> settings.Settings:
    """Read the settings of a run, those of all systems: see `tasks.settings.load`."""
    return settings.load(sections(), None if params is None else Path(params), overrides or ())


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


def validations() -> tuple[LateValidation, ...]:
    """Return all kinds of packages that are validated."""
    return tuple(each for system in systems() for each in system.validations)


def validation_of(name: str) -> Any:
    """Import and return the `tasks.validation.judge.Validation` of a name in the registry.

    Raises:
        BadInput: If the name is unknown, or packages of its kind are not validated.
    """
    kind = kind_of(name)
    for each in validations():
        if each.kind is kind:
            return each.load()
    expected = " or ".join(each.kind.pattern for each in validations())
    raise BadInput(name, "a package that is not validated", expected)
