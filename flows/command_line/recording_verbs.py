"""The verbs of recordings: calibrate, capture, simulate.

With publishing a verb runs its Prefect flow; with `--no-publish` it calls the same steps without
any server, so that a quick look costs nothing.
"""

import argparse
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ricochet.flows.command_line import train_verbs
from ricochet.flows.command_line.parser import report_error
from ricochet.flows.command_line.verb import (
    COMPUTES,
    SERVERS,
    Call,
    Verb,
    complete_by,
    prepare_servers,
    report_published,
)
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console import table
from ricochet.tasks.console.progress import announce, bar
from ricochet.tasks.registry import candidacy
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import SessionKind

if TYPE_CHECKING:
    from ricochet.tasks.systems.bouncing_ball.calibration.targets import CalibrationRequest

DATA = "data"
RECORDED_NOTHING = 1
"""Exit status of `capture` where it recorded no take."""


def calibrate(call: Call) -> Mapping[str, Any]:
    """Turn recordings into posteriors."""
    announce("loading ...")
    from ricochet.tasks.systems.bouncing_ball.calibration import targets
    from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR

    sessions = [str(path) for path in call.arguments.session]
    if (kind := catalogue.kind_of_sessions(sessions)) is not None:
        return _learnt_from(kind, sessions, call)
    density, ball = call.arguments.density, call.arguments.ball
    request = targets.CalibrationRequest(
        call.settings,
        call.out,
        call.seed,
        density=density,
        ball=ball,
        anyway=call.arguments.anyway,
    )
    targets.check_ball(sessions, request)
    if call.arguments.page:
        targets.check_page(sessions)
    catalogue.refuse_foreign(targets.registered_names(sessions, call.out), POSTERIOR.made_by)
    if call.publish and not targets.is_bare(sessions):
        from ricochet.tasks.systems.bouncing_ball.calibration import publish

        result = _calibrated_and_published(call, sessions, request)
        return report_answers(sessions, result, call, candidates=publish.candidates(result))
    return _calibrated_alone(call, sessions, request)


def _learnt_from(kind: SessionKind, sessions: list[str], call: Call) -> Mapping[str, Any]:
    """Learn from recordings of a form of their own, by the training of their kind."""
    for option in ("density", "ball", "page", "anyway"):
        if getattr(call.arguments, option):
            raise BadInput(f"--{option}", "sessions of a " + kind.name, "recordings of drops")
    learnt = kind.calibration
    folders = ", ".join(json.dumps(str(Path(each).resolve())) for each in sessions)
    call.arguments.overrides.append(f"{learnt.setting}=[{folders}]")
    return train_verbs.train(catalogue.training(learnt.training), call)


def _calibrated_alone(
    call: Call, sessions: list[str], request: "CalibrationRequest"
) -> Mapping[str, Any]:
    """Calibrate and report without publishing; a bad recording among others is said at the end."""
    from ricochet.tasks.systems.bouncing_ball.calibration import folders, run, targets

    earlier = [each.folder / folders.PAGE for each in targets.targets(sessions, call.out)]
    renewed = [page for page in earlier if page.is_file()]
    refused: list[BadInput] = []
    before = run.unchanged(sessions, request)
    results = before or run.run(sessions, request, refused=refused)
    answers = report_answers(sessions, results, call, renewed=renewed) if results else {}
    for error in refused[:-1]:
        report_error(str(error))
    if refused:
        raise refused[-1]
    return answers


def report_answers(
    sessions: list[str],
    results: Mapping[str, Any],
    call: Call,
    *,
    renewed: Sequence[Path] = (),
    candidates: Mapping[str, str] | None = None,
) -> Mapping[str, Any]:
    """Report what a calibration found, and return it.

    Args:
        renewed: Pages that were there before, and are written anew.
        candidates: The version that is a candidate now, by the name in the registry.
    """
    from ricochet.tasks.systems.bouncing_ball.calibration import report

    for line in (*report.lines(results, call.out, candidates), *_table(results)):
        call.report_line(line)
    _write_pages(sessions, results, call, renewed)
    call.report_next(_after(sessions, results, call, candidates or {}))
    found = {name: entry["result"] for name, entry in results.items()}
    return next(iter(found.values())) if len(found) == 1 else {"results": found}


def _write_pages(
    sessions: list[str], results: Mapping[str, Any], call: Call, renewed: Sequence[Path]
) -> None:
    """Write the page of each bare recording beside its results, if asked for or there before."""
    from ricochet.tasks.systems.bouncing_ball.calibration import folders

    for recording in map(Path, sessions):
        entry = results.get(recording.stem)
        if entry is None or not (
            call.arguments.page or Path(entry["folder"]) / folders.PAGE in renewed
        ):
            continue
        from ricochet.tasks.systems.bouncing_ball.page import document

        written = document.write(recording, Path(entry["folder"]))
        call.report_line(f"open it in a browser: {written.resolve().as_uri()}")


def _table(results: Mapping[str, Any]) -> list[str]:
    """Return a row for each target, its numbers in the order of the headings."""
    header = ("", "restitution", "sd", "log10 concentration", "sd", "takes", "set aside")
    rows: list[list[table.Cell]] = []
    for name, entry in results.items():
        result = entry["result"]
        rows.append([name, *_numbers(result)])
        rows[-1] += [result["takes"]["used"], len(result["takes"]["rejected"])]
    return table.lines(header, rows)


def _numbers(result: Mapping[str, Any]) -> list[table.Cell]:
    """Return mean and standard deviation of both parameters; what is unknown is absent."""
    found: list[table.Cell] = []
    for name in ("restitution", "log10_concentration"):
        place = result["parameters"].index(name) if name in result["parameters"] else None
        if place is None or name in result.get("unknown", []):
            found += [None, None]
        else:
            deviation = result["covariance"][place][place] ** 0.5
            digits = max(0, 1 - math.floor(math.log10(max(deviation, 1e-12))))
            found += [f"{each:.{digits}f}" for each in (result["mean"][place], deviation)]
    return found


def _after(
    sessions: list[str], results: Mapping[str, Any], call: Call, candidates: Mapping[str, str]
) -> str:
    """Return the command that may follow a calibration."""
    registered = [entry["result"]["registered"] for entry in results.values()]
    stated, named = call.stated_settings(), shlex.join(sessions)
    if first := next(filter(None, registered), None):
        outside = _outside_data(sessions)
        copied = f"mkdir -p {DATA} && cp -r {shlex.join(outside)} {DATA}/ && " if outside else ""
        name, version = first["name"], first["version"]
        return candidacy.to_try(name, version, candidates, settings=stated, first=copied)
    if any(entry["result"].get("unknown") for entry in results.values()):
        if call.arguments.ball is None:
            return f"ricochet calibrate {named} --ball NAME   (with the air's part)"
        if not call.arguments.page:
            asked = f"ricochet calibrate {named} --ball {shlex.quote(call.arguments.ball)} --page"
            return f"{asked}   (every bounce to look at and hear)"
        return "ricochet capture --help   (three microphones give the concentration too)"
    if any(entry["result"].get("withheld") for entry in results.values()):
        return f"ricochet calibrate {named}{stated} --anyway   (if it is to be registered)"
    return f"ricochet calibrate {named}{stated}   (to register it)"


def _outside_data(sessions: Sequence[str]) -> list[str]:
    """Return the sessions that a validation would not find."""
    from ricochet.tasks.storage.provenance import workplace

    place = (workplace() / DATA).resolve()
    return [each for each in sessions if Path(each).resolve().parent != place]


def capture(call: Call) -> Mapping[str, Any]:
    """Record and seal a session."""
    from ricochet.tasks.general_settings import Capture
    from ricochet.tasks.storage import free_space
    from ricochet.tasks.upkeep_settings import CaptureSpace

    needed = call.settings[CaptureSpace].free_space
    free_space.refuse_below(needed, "capture.free_space", call.out)
    announced = SERVERS if call.publish else "starting the rig ..."
    prepare_servers(announced=announced, registry=False)
    rig, session = call.arguments.rig or call.settings[Capture].rig, call.arguments.session
    what = call.arguments.what
    if call.publish:
        from ricochet.flows.capture import capture as flow

        result = flow(rig=rig, session=session, what=what, **call.parameters())
    elif what is not None:
        from ricochet.flows import session_captures

        result = session_captures.run(
            what, call.settings, call.out, rig=rig, session=session, seed=call.seed
        )
    else:
        from ricochet.tasks.systems.bouncing_ball import capture as capturing
        from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR

        catalogue.refuse_foreign([capturing.package_name(call.settings)], POSTERIOR.made_by)
        result = capturing.run(call.settings, call.out, rig=rig, session=session, seed=call.seed)
    call.report_line(f"{result['session']}: {result['takes']} takes, {result['state']}")
    report_published(call, result["published"])
    if result["takes"] == 0:
        report_error(f"{result['session']}: found no take, expected at least one")
        raise SystemExit(RECORDED_NOTHING)
    folder = "data" if result["published"] else call.out
    call.report_next(shlex.join(["ricochet", "calibrate", str(Path(folder) / result["session"])]))
    return result


def simulate(call: Call) -> Mapping[str, Any]:
    """Simulate drops without sound."""
    announce("loading PyTorch ...")
    from ricochet.tasks.systems.bouncing_ball import simulated_drops
    from ricochet.tasks.systems.bouncing_ball.settings import Simulate

    with bar("simulating drops") as progress:
        result = simulated_drops.run(
            call.settings[Simulate], call.out, seed=call.seed, progress=progress
        )
    call.report_line(f"{result['drops']} drops in {call.out / result['data']}")
    noise = result["noise"]
    header = ("drops", "height, m", "sd of times, s", "sd of places, m")
    row = (result["drops"], result["drop_height"], noise["time_s"], noise["position_m"])
    for line in table.lines(header, [row]):
        call.report_line(line)
    call.report_next("ricochet train density")
    return result


def _calibrated_and_published(call: Call, sessions: list[str], request: Any) -> Mapping[str, Any]:
    """Return the results; where all are there and registered no server starts."""
    prepare_servers()
    from ricochet.tasks.systems.bouncing_ball.calibration import publish

    before = publish.unchanged(sessions, request)
    if before is not None:
        return before
    from ricochet.flows.calibrate import calibrate as flow

    density = None if request.density is None else str(request.density)
    return flow(
        sessions=sessions,
        density=density,
        ball=request.ball,
        anyway=request.anyway,
        **call.parameters(),
    )


def known_balls() -> list[str]:
    """Return the balls whose size is known."""
    from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS

    return sorted(COMMON_BALLS)


def _calibrate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="*", help="session folders or bare recordings (default: all under data/)"
    )
    parser.add_argument(
        "--density", type=Path, metavar="DIR", help="package of the density network to use"
    )
    ball = parser.add_argument(
        "--ball",
        metavar="NAME",
        help="ball of bare recordings, which sets its drag: ping-pong, tennis, golf, squash, "
        "basketball, steel, or DIAMETER,MASS in m and kg (a marble: 0.016,0.0053)",
    )
    complete_by(ball, known_balls)
    parser.add_argument(
        "--page",
        action="store_true",
        help="write page.html of a bare recording: its sound with the bounces, to listen to",
    )
    parser.add_argument(
        "--anyway", action="store_true", help="register even if half of the takes were set aside"
    )


def _capture_options(parser: argparse.ArgumentParser) -> None:
    kinds = catalogue.session_kinds()
    words = "; ".join(f"{kind.name}: {kind.summary}" for kind in kinds)
    parser.add_argument(
        "what", nargs="?", choices=[kind.name for kind in kinds], help=f"default: drops; {words}"
    )
    parser.add_argument("--rig", metavar="NAME", help="simulated or sound_device")
    parser.add_argument("--session", required=True, metavar="ID", help="name of the new session")


VERBS = (
    Verb(
        ("calibrate",),
        "turn recordings into a posterior for each ball-surface pair (the main job)",
        "ricochet calibrate data/ping-pong-table\n"
        "  ricochet calibrate data/drawer-monday data/drawer-tuesday\n"
        "  ricochet calibrate clip.wav --page",
        calibrate,
        _calibrate_options,
    ),
    Verb(
        ("capture",),
        "record and seal a session",
        "ricochet capture --rig simulated --session monday-1 --set capture.drops=5\n"
        "  ricochet capture drawer --session tuesday-1 --set drawers.takes=2",
        capture,
        _capture_options,
    ),
    Verb(
        ("simulate",),
        "simulate drops, with measurement noise and without sound",
        "ricochet simulate --set simulate.drops=1000 --out artifacts/simulate",
        simulate,
        takes=COMPUTES,
    ),
)
