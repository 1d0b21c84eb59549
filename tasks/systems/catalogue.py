"""The only list of systems; each is imported when it is asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks import settings
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.systems.interface import (
    Export,
    Inference,
    LateValidation,
    NightlyStep,
    SessionKind,
    Study,
    System,
)
from ricochet.tasks.training.steps import Training

T = TypeVar("T")

SYSTEMS = ("bouncing_ball", "air_hockey", "rigid_bodies", "batting", "drawers")


def systems() -> tuple[System, ...]:
    """Return all systems.

    Raises:
        RuntimeError: If the names of two kinds of packages begin alike, so that neither decides.
    """
    found = tuple(_system(name) for name in SYSTEMS)
    _check_prefixes(kind for system in found for kind in system.kinds)
    return found


def sections() -> settings.Sections:
    """Return name and class of each section of params.yaml; classes may share a section."""
    general = ("general_settings", "upkeep_settings")
    names = (*general, *(f"systems.{name}.settings" for name in SYSTEMS))
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
    matching = [kind for kind in kinds() if name.startswith(kind.prefix) and kind.matches(name)]
    if not matching:
        raise BadInput(name, "an unknown name", _patterns())
    found = max(matching, key=lambda kind: len(kind.prefix))
    _refuse(name, found, found.refuse)
    return found


def refuse_untried(name: str, validation: Any) -> None:
    """Refuse a name that no rig can try, with the `Validation` of its kind."""
    _refuse(name, validation.kind, validation.refuse)


def refuse_unregistered(name: str, tracker: Any) -> None:
    """Refuse a name of which the registry of a `tasks.registry.runs.Tracker` has no candidate."""
    from ricochet.tasks.validation import contenders

    kind = kind_of(name)
    _refuse(name, kind, partial(contenders.refuse_unregistered, tracker, kind=kind))


def _refuse(name: str, kind: PackageKind, refuse: Callable[[str], None]) -> None:
    """Refuse a name as its kind does.

    A kind without a prefix also has the names of all others, mistyped: it adds their patterns.
    """
    try:
        refuse(name)
    except BadInput as error:
        if kind.prefix:
            raise
        expected = f"{error.expected} (all names are {_patterns()})"
        raise BadInput(error.where, error.found, expected) from error


def _check_prefixes(kinds: Iterable[PackageKind]) -> None:
    found: dict[str, PackageKind] = {}
    for kind in kinds:
        if kind.prefix in found:
            tied = f"{found[kind.prefix].pattern} and {kind.pattern}"
            raise RuntimeError(f"names of packages {tied} both begin with {kind.prefix!r}")
        found[kind.prefix] = kind


def _patterns() -> str:
    return " or ".join(kind.pattern for kind in kinds())


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


def inferences() -> tuple[Inference, ...]:
    """Return the inferences of all systems."""
    return tuple(each for system in systems() for each in system.inferences)


def inference(name: str) -> Inference:
    """Return an inference by its name; BadInput if there is none."""
    return _named(name, {each.name: each for each in inferences()}, "inference")


def session_kinds() -> tuple[SessionKind, ...]:
    """Return the recordings of all systems that have a form of their own."""
    return tuple(kind for system in systems() for kind in system.sessions)


def session_kind(name: str) -> SessionKind:
    """Return recordings of a form of their own by name; BadInput if there are none."""
    return _named(name, {each.name: each for each in session_kinds()}, "recordings")


def kind_of_sessions(folders: Sequence[str]) -> SessionKind | None:
    """Return whose form the recordings in some folders have; None: that of drops, or none.

    Those that cannot be read are passed over: who reads them says why.

    Raises:
        BadInput: If they are of several forms.
    """
    from ricochet.tasks.recordings import manifests
    from ricochet.tasks.recordings.manifests import MANIFEST

    by_schema = {kind.schema: kind for kind in session_kinds()}
    schemas = [(each, manifests.schema_of(Path(each) / MANIFEST)) for each in folders]
    found = [(folder, by_schema.get(schema)) for folder, schema in schemas if schema is not None]
    for folder, kind in found:
        if kind is not (first := found[0][1]):
            names = ["drops" if each is None else f"a {each.name}" for each in (kind, first)]
            raise BadInput(folder, f"recordings of {names[0]}", f"of {names[1]}, as the first are")
    return found[0][1] if found else None


def exports() -> tuple[Export, ...]:
    """Return the exports of all systems."""
    return tuple(export for system in systems() for export in system.exports)


def nightly_steps(name: str) -> tuple[NightlyStep, ...]:
    """Return a system's parts of the scheduled flow in their order; imports no other system."""
    return _system(name).nightly


def _system(name: str) -> System:
    module = import_module(f"ricochet.tasks.systems.{name}.system")
    return cast(System, module.SYSTEM)


def _named(name: str, found: Mapping[str, T], what: str) -> T:
    if name not in found:
        raise BadInput(what, repr(name), f"one of {', '.join(found)}")
    return found[name]
