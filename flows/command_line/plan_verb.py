"""`ricochet plan`: how many takes, from where, with which microphones, for a wanted precision."""

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ricochet.flows.command_line.verb import COMPUTES, Call, Verb, prepare_servers, write_result
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce
from ricochet.tasks.systems import catalogue

PLANS = Path("artifacts", "plan")


def plan(call: Call) -> Mapping[str, Any]:
    """Plan sessions of what was calibrated once."""
    announce("loading ...")
    from ricochet.tasks.console.progress import bar
    from ricochet.tasks.storage.files import output_folder
    from ricochet.tasks.systems.bouncing_ball.planning import calibrated_ball
    from ricochet.tasks.systems.bouncing_ball.planning import plan as planning

    given = call.arguments
    wanted = planning.Wanted(given.restitution_sd, given.concentration_sd)
    if wanted.restitution is None and wanted.concentration is None:
        raise BadInput("plan", "nothing wanted", "--restitution-sd, --concentration-sd or both")
    planned = calibrated_ball.of_result(_result(given.name), given.name)
    with bar("simulated sessions") as progress:
        found = planning.make(
            planned,
            wanted,
            call.settings,
            sessions=given.sessions,
            seed=call.seed,
            progress=progress,
        )
    for line in found.lines():
        call.report_line(line)
    out = call.out if given.out != PLANS else output_folder(call.out / planned.name)
    result = found.to_json()
    write_result(out, result)
    call.report_next("ricochet import --help   (once the takes are recorded)")
    return result


def _result(name: str) -> dict[str, Any]:
    """Return the result of a calibration, on disk or registered."""
    if Path(name).is_dir():
        from ricochet.tasks.systems.bouncing_ball.planning import calibrated_ball

        return calibrated_ball.read(Path(name) / "result.json")
    from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR

    catalogue.refuse_foreign([name], POSTERIOR.made_by)
    prepare_servers(announced="reading the registry ...")
    from ricochet.tasks.registry import runs, versions
    from ricochet.tasks.validation import record

    tracker = runs.connect()
    found = versions.resolve(tracker, name)
    if found is None:
        expected = f"a registered package, by `{POSTERIOR.made_by}`, or a folder"
        raise BadInput(name, "nothing in the registry", expected)
    version = tracker.client.get_model_version(found.name, found.version)
    return record.load_json(tracker, str(version.run_id), "result.json")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="in the registry, or the folder of a calibration"
    )
    parser.add_argument(
        "--restitution-sd", type=_deviation, metavar="SD", help="wanted of restitution"
    )
    parser.add_argument(
        "--concentration-sd", type=_deviation, metavar="SD", help="wanted of log10 concentration"
    )
    parser.add_argument(
        "--sessions",
        type=_sessions,
        default=5,
        metavar="N",
        help="simulated of each kind (default 5)",
    )


def _deviation(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0.0 < found < 10.0:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a positive number below 10")
    return found


def _sessions(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number from 1 to 100")
    return int(text)


VERB = Verb(
    ("plan",),
    "say how many takes, from which height, with which microphones, are enough",
    "ricochet plan ping-pong-table --restitution-sd 0.001 --concentration-sd 0.05",
    plan,
    _options,
    takes=COMPUTES,
)
