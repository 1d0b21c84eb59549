"""All verbs of the command line, and those that systems fill: train, study, nightly.

With publishing a verb runs its Prefect flow; with `--no-publish` it calls the same steps without
any server, so that a quick look costs nothing.
"""

import argparse
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from ricochet.flows.command_line import (
    export_verb,
    judge_verb,
    plan_verb,
    recording_verbs,
    registry_verbs,
)
from ricochet.flows.command_line.verb import (
    Call,
    Verb,
    prepare_servers,
    report_published,
    write_result,
)
from ricochet.flows.servers import kill_guard
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import bar
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import Study, StudyRequest
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import Procedure, Training, TrainingRequest

STUDIES = Path("artifacts", "study")


def train(training: Training, call: Call) -> None:
    """Train what is not there and register it."""
    if call.arguments.trials is not None:
        if not _searches(training):
            able = [each.name for each in catalogue.trainings() if _searches(each)]
            raise BadInput("--trials", f"train {training.name}", f"one of {', '.join(able)}")
        call.arguments.overrides.append(f"{training.section}.trials={call.arguments.trials}")
    settings = catalogue.load_settings(call.arguments.params, call.arguments.overrides)
    procedure, request = training.load(), TrainingRequest(settings, call.out, call.seed)
    result = _already_registered(procedure, request) if call.publish else None
    if result is None and call.publish:
        from ricochet.flows.train import train as flow

        result = flow(name=training.name, **call.parameters())
    elif result is None:
        result = steps.run(procedure, request, lambda step: steps.take(step, bar))
    write_result(call.out, result)
    for line in procedure.lines(result, call.out):
        call.report_line(line)


def _searches(training: Training) -> bool:
    """Tell whether a training has trials, those of a search for its settings."""
    sections = (each for name, each in catalogue.sections() if name == training.section)
    return any(field.name == "trials" for each in sections for field in fields(each))


def nightly(call: Call) -> None:
    """Run the nightly parts of all systems, as the schedule does."""
    if not call.publish:
        raise BadInput("--no-publish", "nightly", "capture, then calibrate: nightly publishes")
    prepare_servers()
    from ricochet.flows import nightly as flows

    failure = None
    try:
        result = flows.nightly(session=call.arguments.session, **call.parameters())
    except flows.IncompleteNightError as error:
        result, failure = error.result, error
    call.report_line(
        f"nightly: {result['session']} {result['state']}, {len(result['pairs'])} pairs"
    )
    report_published(call, result["published"])
    if result["reason"] is not None:
        call.report_line(f"not all is published or at hand: {result['reason']}")
    if failure is not None:
        raise failure


def study(call: Call) -> None:
    """Make one paper's tables and figures."""
    from ricochet.tasks.storage.files import output_folder

    kill_guard.guard_children()
    found, out = catalogue.study(call.arguments.name), call.out
    count = _count_of(found, call.arguments)
    if call.arguments.out == STUDIES:  # the default: a study must not overwrite another's
        out = output_folder(out / found.name)
    with bar(found.name) as progress:
        quick, seed = call.arguments.quick, call.seed
        result = found.run(StudyRequest(call.settings, out, progress, quick, seed, count))
    write_result(out, {**result, "seed": call.seed})
    call.report_line(f"study {found.name}: {out / 'result.json'}")


def up(call: Call) -> None:
    """Start the servers and the worker."""
    from ricochet.flows.servers import up as servers

    found = servers.defaults()
    mlflow_port, host = call.arguments.mlflow_port, call.arguments.host
    request = servers.Request(
        host=found["host"] if host is None else host,
        mlflow_port=found["port"] if mlflow_port is None else mlflow_port,
        prefect_port=call.arguments.prefect_port,
        deployments=call.arguments.deployments.resolve(),
        state=call.arguments.state.resolve(),
        out=call.out,
    )
    servers.up(request, report_line=call.report_line)


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


def _count_of(found: Study, arguments: argparse.Namespace) -> int | None:
    """Return what the study's own option counts; refuse the option of other studies."""
    count: int | None = None
    for option, owners in _counts().items():
        value = getattr(arguments, option)
        if found.name in owners:
            count = value
        elif value is not None:
            expected = f"study {' or '.join(owners)}, which alone has it"
            raise BadInput(f"--{option}", f"study {found.name}", expected)
    return count


def _counts() -> dict[str, dict[str, str]]:
    """Return what each option counts, by the studies that have it."""
    counts: dict[str, dict[str, str]] = {}
    for study in catalogue.studies():
        if study.count is not None:
            option, counted = study.count
            counts.setdefault(option, {})[study.name] = counted
    return counts


def _train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, metavar="N", help="trials of an Optuna search")


def _nightly_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="name of the session (default: tonight's)")


def _study_options(parser: argparse.ArgumentParser) -> None:
    names = [study.name for study in catalogue.studies()]
    parser.add_argument("name", choices=names, help="the study")
    for option, owners in _counts().items():
        counted = ", ".join(f"{what} ({name})" for name, what in owners.items())
        parser.add_argument(f"--{option}", type=_count, metavar="N", help=counted)
    parser.add_argument("--quick", action="store_true", help="at reduced size")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number of 1 or more")
    return int(text)


def _up_options(parser: argparse.ArgumentParser) -> None:
    from ricochet.tasks.storage.provenance import ROOT, artifacts

    parser.add_argument("--host", help="address to listen on (default: loopback)")
    parser.add_argument("--mlflow-port", type=int, metavar="N", help="default 5000; 0: any free")
    parser.add_argument(
        "--prefect-port", type=int, default=4200, metavar="N", help="default 4200; 0: any free"
    )
    parser.add_argument(
        "--deployments", type=Path, default=ROOT / "prefect.yaml", metavar="FILE", help="what runs"
    )
    parser.add_argument(
        "--state", type=Path, default=artifacts(), metavar="DIR", help="databases and logs"
    )


def all_verbs() -> tuple[Verb, ...]:
    """Return the verbs of the command line, with the trainings and studies of all systems."""
    return (
        *recording_verbs.VERBS,
        *map(_train_verb, catalogue.trainings()),
        Verb(
            ("nightly",),
            "capture, train if needed, calibrate and publish, as the schedule does",
            "ricochet nightly --session nightly-2026-11-20",
            nightly,
            _nightly_options,
            only_publishes=True,
        ),
        _study_verb(),
        *registry_verbs.verbs(),
        export_verb.verb(),
        plan_verb.VERB,
        judge_verb.VERB,
        Verb(
            ("up",),
            "start the MLflow and Prefect servers and a worker, on loopback, until Ctrl-C",
            "ricochet up --mlflow-port 5001 --prefect-port 4201",
            up,
            _up_options,
        ),
    )


def _train_verb(training: Training) -> Verb:
    run = partial(train, training)
    return Verb(("train", training.name), training.summary, training.example, run, _train_options)


def _study_verb() -> Verb:
    found = catalogue.studies()
    names = "".join(f"  {study.name:16}{study.summary}\n" for study in found)
    counted = (f"{name} --{option} 100" for option, names in _counts().items() for name in names)
    examples = [f"ricochet study {words}" for words in (f"{found[0].name} --quick", *counted)]
    return Verb(
        ("study",),
        "make one paper's tables and figures",
        "\n  ".join(examples),
        study,
        _study_options,
        details=f"studies:\n{names}\n",
    )
