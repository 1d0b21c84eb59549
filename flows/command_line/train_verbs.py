"""The verbs `ricochet train NAME`, one for each training of a system.

With publishing a verb runs its Prefect flow; with `--no-publish` it calls the same steps without
any server, so that a quick look costs nothing.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from ricochet.flows.command_line.verb import (
    Call,
    Verb,
    prepare_servers,
    write_metrics,
    write_result,
)
from ricochet.tasks.console.progress import announce, bar
from ricochet.tasks.registry import candidacy
from ricochet.tasks.systems import catalogue
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import Procedure, Training, TrainingRequest, Writing


def train(training: Training, call: Call) -> Mapping[str, Any]:
    """Train what is not there and register it."""
    overrides, trials = call.arguments.overrides, getattr(call.arguments, "trials", None)
    if trials is not None:
        overrides.append(f"{training.section}.trials={trials}")
    settings = catalogue.load_settings(call.arguments.params, overrides)
    for writing in training.writings:
        file = getattr(call.arguments, _destination(writing))
        if file is not None:
            return _write(writing, TrainingRequest(settings, call.out, call.seed), file, call)
    announce(f"train {training.name}: loading {training.loads} ...")
    procedure, request = training.load(), TrainingRequest(settings, call.out, call.seed)
    result = _already_registered(procedure, request) if call.publish else None
    if result is None and call.publish:
        from ricochet.flows.train import train as flow

        result = flow(name=training.name, **call.parameters())
    elif result is None:
        result = steps.run(procedure, request, lambda step: steps.take(step, bar))
    write_metrics(call.out, procedure.metrics(result))
    write_result(call.out, result)
    for line in procedure.lines(result, call.out):
        call.report_line(line)
    if not call.publish:
        again = f"ricochet train {training.name}{call.stated_settings()}"
        call.report_next(f"{again}   (to register it too)")
    else:
        _report_registered(training, tuple(procedure.packages(request)), result["registered"], call)
    return result


def _report_registered(
    training: Training, names: Sequence[str], registered: Mapping[str, str], call: Call
) -> None:
    """Report the versions of the packages, which may be earlier ones, and what may follow.

    Args:
        registered: Versions by name, or `name` and `version` of the only one.
    """
    from ricochet.tasks.registry import versions

    candidates = versions.candidates(names)
    made = {name: registered.get(name, registered.get("version", "")) for name in names}
    for name, version in made.items():
        alias = candidacy.of_registered(name, version, candidates)
        call.report_line(f"registered as {name}, version {version}{alias}")
    if training.then:
        call.report_next(_then(training.then.format(name=names[0]), made, candidates))


def _then(command: str, made: Mapping[str, str], candidates: Mapping[str, str]) -> str:
    """Return the command that may follow, which is another where it would try another version."""
    for name, version in made.items():
        if command == f"ricochet validate {name}":
            return candidacy.to_try(name, version, candidates)
    return command


def _write(writing: Writing, request: TrainingRequest, file: Path, call: Call) -> dict[str, Any]:
    """Write a file in place of a training; the result is its path."""
    call.report_line(writing.load()(request, file))
    return {writing.what: str(file)}


def _destination(writing: Writing) -> str:
    return f"write_{writing.what}"


def _searches(training: Training) -> bool:
    """Tell whether a training has trials, those of a search for its settings."""
    sections = (each for name, each in catalogue.sections() if name == training.section)
    return any(field.name == "trials" for each in sections for field in fields(each))


def _already_registered(procedure: Procedure, request: TrainingRequest) -> dict[str, Any] | None:
    """Return the result of a training that is complete and registered: no server starts for it."""
    prepare_servers()
    from ricochet.tasks.registry import runs, versions

    if not procedure.is_complete(request):
        return None
    tracker = runs.connect()
    for name, folder in procedure.packages(request).items():
        if not versions.is_registered(tracker, name, folder, kind=catalogue.kind_of(name)):
            return None
    published = procedure.publish(request, "").result
    return {**procedure.describe(request), "trained": False, **published}


def _train_options(training: Training, parser: argparse.ArgumentParser) -> None:
    if _searches(training):
        parser.add_argument("--trials", type=int, metavar="N", help="trials of an Optuna search")
    for each in training.writings:
        parser.add_argument(
            f"--write-{each.what}",
            dest=_destination(each),
            type=Path,
            metavar="FILE",
            help=f"write {each.summary} and train nothing",
        )


def verbs() -> tuple[Verb, ...]:
    """Return the verbs of all trainings."""
    return tuple(map(_train_verb, catalogue.trainings()))


def _train_verb(training: Training) -> Verb:
    run = partial(train, training)
    options = partial(_train_options, training)
    return Verb(("train", training.name), training.summary, training.example, run, options)
