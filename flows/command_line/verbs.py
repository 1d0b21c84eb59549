"""All verbs of the command line, and among them nightly and up.

With publishing a verb runs its Prefect flow; with `--no-publish` it calls the same steps without
any server, so that a quick look costs nothing.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from ricochet.flows.command_line import (
    backup_verbs,
    cluster_verbs,
    completion,
    device_verb,
    export_verb,
    import_verb,
    infer_verb,
    judge_verb,
    listen_verb,
    listing_verbs,
    plan_verb,
    recording_verbs,
    registry_verbs,
    study_verbs,
    train_verbs,
    worker_verb,
)
from ricochet.flows.command_line.number_options import port
from ricochet.flows.command_line.verb import (
    COMPUTES,
    Call,
    Takes,
    Verb,
    prepare_servers,
    report_published,
)
from ricochet.tasks.console.progress import announce


def nightly(call: Call) -> None:
    """Run the nightly parts of all systems, as the schedule does."""
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
    call.report_next("ricochet up   (to look at the runs)")


def up(call: Call) -> None:
    """Start the servers and the workers."""
    given = call.arguments
    from ricochet.flows.servers import deployments

    stated = _lab(given)
    deployments.check(given.deployments)
    announce("starting MLflow, Prefect and workers ...")
    from ricochet.flows.servers import up as servers

    request = servers.Request(
        stated, given.deployments.resolve(), call.out, shared=given.config is not None
    )
    servers.up(request, report_line=call.report_line)


def _lab(given: argparse.Namespace) -> Any:
    """Return the servers that a file states, or those of this machine, options coming last."""
    from ricochet.flows.servers import environments, lab

    if given.config is None:
        found = environments.defaults()
        stated = lab.Lab(host=found["host"], mlflow_port=found["port"], login=False)
    else:
        stated = lab.load(given.config)
    names = ("host", "mlflow_port", "prefect_port", "state")
    said = {name: value for name in names if (value := getattr(given, name)) is not None}
    if "state" in said:
        said["state"] = said["state"].resolve()
    return lab.checked(replace(stated, **said), "ricochet up")


def _no_options(parser: argparse.ArgumentParser) -> None:
    """Add none."""


def _nightly_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="name of the session (default: tonight's)")


def _up_options(parser: argparse.ArgumentParser) -> None:
    from ricochet.tasks.storage.provenance import ROOT

    parser.add_argument("--host", help="address to listen on (default: loopback)")
    parser.add_argument("--mlflow-port", type=port, metavar="N", help="default 5000; 0: any free")
    parser.add_argument("--prefect-port", type=port, metavar="N", help="default 4200; 0: any free")
    parser.add_argument(
        "--deployments", type=Path, default=ROOT / "prefect.yaml", metavar="FILE", help="what runs"
    )
    parser.add_argument("--state", type=Path, metavar="DIR", help="databases and logs")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the servers of a lab")


def all_verbs() -> tuple[Verb, ...]:
    """Return the verbs of the command line, with the trainings and studies of all systems."""
    return (
        *recording_verbs.VERBS,
        *import_verb.VERBS,
        *device_verb.VERBS,
        listen_verb.VERB,
        *train_verbs.verbs(),
        Verb(
            ("nightly",),
            "capture, train if needed, calibrate and publish, as the schedule does",
            "ricochet nightly --session nightly-2026-11-20",
            nightly,
            _nightly_options,
            takes=COMPUTES,
        ),
        *infer_verb.verbs(),
        *study_verbs.verbs(),
        *registry_verbs.verbs(),
        *listing_verbs.verbs(),
        export_verb.verb(),
        plan_verb.VERB,
        judge_verb.VERB,
        Verb(
            ("up",),
            "start the MLflow and Prefect servers and workers, on loopback, until Ctrl-C",
            "ricochet up --mlflow-port 5001 --prefect-port 4201",
            up,
            _up_options,
            takes=Takes.OUT,
        ),
        worker_verb.VERB,
        *cluster_verbs.VERBS,
        *backup_verbs.VERBS,
        completion.VERB,
    )
