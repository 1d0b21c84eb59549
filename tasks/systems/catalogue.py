"""The only list of systems; each is imported when it is asked for."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks import settings
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.systems.interface import LateValidation, NightlyStep, Study, System
from ricochet.tasks.training.steps import Training

T = TypeVar("T")

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


def kinds() -> tuple[PackageKind, ...]:
    """Return the kinds of packages of all systems."""
    return tuple(kind for system in systems() for kind in system.kinds)


def kind_of(name: str) -> PackageKind:
    """Return the kind of package that a name in the registry stands for.

    Of the kinds that match, the longest prefix decides.

    Raises:
        BadInput: If no kind has such names, or its kind refuses it.
    """
    matching = [kind for kind in kinds() if kind.matches(name)]
    if not matching:
        raise BadInput(name, "an unknown name", " or ".join(kind.pattern for kind in kinds()))
    found = max(matching, key=lambda kind: len(kind.prefix))
    found.refuse(name)
    return found


def refuse_foreign(names: Iterable[str], command: str) -> None:
    """Refuse names in the registry whose packages another command makes, or none."""
    for name in names:
        maker = kind_of(name).made_by
        if maker != command:
            raise BadInput(name, f"a name of the packages of `{maker}`", f"one for `{command}`")


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


def trainings() -> tuple[Training, ...]:
    """Return the trainings of all systems."""
    return tuple(training for system in systems() for training in system.trainings)


def training(name: str) -> Training:
    """Return a training by its name; BadInput if there is none."""
    return _named(name, {each.name: each for each in trainings()}, "training")


def studies() -> tuple[Study, ...]:
    """Return the studies of all systems."""
    return tuple(study for system in systems() for study in system.studies)


def study(name: str) -> Study:
    """Return a study by its name; BadInput if there is none."""
    return _named(name, {each.name: each for each in studies()}, "study")


def nightly_steps() -> tuple[NightlyStep, ...]:
    """Return the parts of the scheduled flow in their order."""
    return tuple(step for system in systems() for step in system.nightly)


def _named(name: str, found: Mapping[str, T], what: str) -> T:
    if name not in found:
        raise BadInput(what, repr(name), f"one of {', '.join(found)}")
    return found[name]
