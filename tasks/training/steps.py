"""A training as data: what `ricochet train NAME` does, step by step.

Each step finds its own earlier result by the digest of all that decides it, so that an interrupted
training goes on where it stopped. What a training does is imported when it runs, so that the
command line can list all trainings at no cost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.progress import Progress
from ricochet.tasks.console.progress import ProgressFactory
from ricochet.tasks.settings import Settings


@dataclass(frozen=True)
class TrainingRequest:
    """What is asked of a training.

    Attributes:
        fallbacks: Folders of other trainings, whose intermediate results serve where they are the
            same.
    """

    settings: Settings
    out: Path
    seed: int
    fallbacks: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Step:
    """A step of a training; `run` does nothing where its result is there already."""

    label: str
    run: Callable[[Progress], object]


@dataclass(frozen=True)
class Publication:
    """What publishing a training made.

    Attributes:
        result: Entries of `result.json` that name what was registered.
    """

    experiment_id: str
    run_id: str
    result: Mapping[str, Any]


@dataclass(frozen=True)
class Procedure:
    """How a training is done.

    Attributes:
        describe: What `result.json` holds of a completed training, but for `trained`.
        packages: The packages of a completed training by their names in the registry.
        publish: Records and registers a completed training; it is given the Prefect flow run's id.
            Publishing again adds nothing.
        lines: The result, whose files are in a folder, in a few lines for the terminal.
        metrics: The few numbers by which results are compared.
    """

    is_complete: Callable[[TrainingRequest], bool]
    steps: Callable[[TrainingRequest], tuple[Step, ...]]
    describe: Callable[[TrainingRequest], dict[str, Any]]
    packages: Callable[[TrainingRequest], Mapping[str, Path]]
    publish: Callable[[TrainingRequest, str], Publication]
    lines: Callable[[Mapping[str, Any], Path], Sequence[str]]
    metrics: Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Writing:
    """A file that `ricochet train NAME --write-WHAT FILE` writes in place of a training.

    Attributes:
        summary: What it is, for the help.
        load: Imports and returns what writes it and returns the line that says what to do next.
    """

    what: str
    summary: str
    load: Callable[[], Callable[[TrainingRequest, Path], str]]


@dataclass(frozen=True)
class Training:
    """A training that `ricochet train NAME` offers.

    Attributes:
        section: Section of params.yaml in which `--trials` is set.
        summary: What it does, for the help.
        load: Imports and returns the procedure.
        then: The command that a user may want after it; `{name}` is that of the first package.
        loads: What takes a moment before it begins.
        writings: Files that it may write instead.
    """

    name: str
    section: str
    summary: str
    example: str
    load: Callable[[], Procedure]
    then: str = ""
    loads: str = "PyTorch"
    writings: tuple[Writing, ...] = ()


def take(step: Step, show: ProgressFactory) -> None:
    """Take a step and show its progress."""
    with show(step.label) as progress:
        step.run(progress)


def run(
    procedure: Procedure, request: TrainingRequest, take: Callable[[Step], object]
) -> dict[str, Any]:
    """Take all steps, unless nothing is left to do; return the result before registration."""
    trained = not procedure.is_complete(request)
    for step in procedure.steps(request) if trained else ():
        take(step)
    return procedure.describe(request) | {"trained": trained}
