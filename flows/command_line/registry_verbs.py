"""The verbs that move aliases and keep house: validate, promote, rollback, doctor.

A candidate that the gate refuses is bad input: every refusal is a line on standard output, all
checks are in `result.json`, and the exit status is 2.
"""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ricochet.flows.command_line.verb import Call, Verb
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.catalogue import kind_of

if TYPE_CHECKING:
    from ricochet.tasks.registry.promotion import Moved
    from ricochet.tasks.validation.judge import Judged

NAME = "<ball>-<surface>, or shooting-<setting>"
REHEARSED = "the simulated rig: what is tried on another is recorded"
PROMOTION, ROLLBACK, DOCTOR = "ricochet.promotion/1", "ricochet.rollback/1", "ricochet.doctor/1"


def promote(call: Call) -> None:
    """Judge a version and, if it passes, make it the champion."""
    from ricochet.models.core.bad_input import BadInput

    name, version = call.arguments.name, call.arguments.version
    if call.arguments.log:
        _show_log(call, name)
        return
    if version is None:
        raise BadInput("VERSION", "none", "the version to promote, or --log")
    _prepare()
    from ricochet.tasks.console import progress
    from ricochet.tasks.registry import promotion, runs
    from ricochet.tasks.registry.versions import Registered
    from ricochet.tasks.validation import judge

    tracker, registered = runs.connect(), Registered(name, version)
    moved = promotion.finish(tracker, registered, kind=kind_of(name)) if call.publish else None
    if moved is not None:
        _write(call, _promotion(version, None, moved) | {"name": name})
        call.say(_moved(moved))
        return
    if call.publish and not call.arguments.again:
        promotion.refuse_rolled_back(registered)
    with progress.bar(f"{name} {version}") as report:
        judged = judge.judge(
            tracker,
            registered,
            call.arguments.session,
            settings=call.settings,
            seed=call.seed,
            progress=report,
        )
    for line in judged.verdict.refusals:
        call.say(f"refused: {line}")
    if call.publish and judged.verdict.passed:
        moved = promotion.promote(
            tracker,
            registered,
            kind=kind_of(name),
            verdict=judged.verdict,
            validation=judged.validation,
            reason=call.arguments.reason,
            again=call.arguments.again,
        )
    _write(call, _promotion(registered.version, judged, moved) | {"name": name})
    if not judged.verdict.passed:
        found = f"{len(judged.verdict.refusals)} of {len(judged.verdict.checks)} checks failed"
        raise BadInput(f"{name} version {version}", found, "a candidate that passes the gate")
    call.say(f"{name} version {version}: passes the gate" if moved is None else _moved(moved))


def validate(call: Call) -> None:
    """Try the candidate on the rig and, if it passes the gate, make it the champion."""
    from ricochet.models.core.bad_input import BadInput

    name = call.arguments.name
    if not call.publish and call.arguments.rig != "simulated":
        raise BadInput("--no-publish", f"validate {name} --rig {call.arguments.rig}", REHEARSED)
    _refuse_unknown(name, call.arguments.rig)
    _prepare()
    result = _validated(call)
    if result["unchanged"]:
        call.say(f"{name}: the candidate is the champion already")
        return
    for check in result["gate"]["checks"]:
        if not check["passed"]:
            call.say(
                f"refused: {check['name']}: found {check['found']}, expected {check['expected']}"
            )
    call.say(f"{name}: {_shots(result) if POLICY.matches(name) else _tosses(result)}")
    verdict = "promoted to champion" if result["promoted"] else "not promoted"
    where = f"run {result['run']}" if result["run"] else "not recorded"
    call.say(f"{name} version {result['versions']['candidate']}: {verdict}; {where}")


def _refuse_unknown(name: str, rig: str) -> None:
    """Refuse at once what no flow could find: a setting that is not, a ball that no twin tosses."""
    kind_of(name)
    if rig == "simulated" and not POLICY.matches(name):
        from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import ball_of

        ball_of(name)


def _validated(call: Call) -> dict[str, Any]:
    """Return the result of the flow, or of a rehearsal of it."""
    from ricochet.models.core.bad_input import BadInput

    name, rig, arm = call.arguments.name, call.arguments.rig, call.arguments.arm
    if POLICY.matches(name) and rig != "simulated":
        raise BadInput("--rig", rig, "simulated: shots have no other rig yet")
    if not call.publish:
        from ricochet.flows.rehearsal import rehearse

        return rehearse(name, wanted=call.settings, out=call.out, seed=call.seed)
    if POLICY.matches(name):
        from ricochet.flows.validate_shooting import validate_shooting

        return validate_shooting(name=name, **call.parameters())
    from ricochet.flows.validate import validate as flow

    return flow(name=name, rig=rig, arm=arm, **call.parameters())


def _tosses(result: dict[str, Any]) -> str:
    met, inside = result["success"]["candidate"], result["inside_90"].get("candidate")
    cups = "no cup tried" if inside is None else f"{inside:.2f} of the cups as predicted"
    return f"met {met:.2f} of the tosses, {cups}"


def _shots(result: dict[str, Any]) -> str:
    row = result["shots"]["candidate"]
    speed = f"{row['speed_mean']:.2f} ± {row['speed_sd']:.2f} m/s"
    return f"scored {row['score']:.2f} of the shots at {speed}, {row['banks_mean']:.2f} banks"


def rollback(call: Call) -> None:
    """Restore the aliases that there were before the last promotion."""
    from ricochet.models.core.bad_input import BadInput

    if not call.publish:
        raise BadInput("--no-publish", "rollback", "none: rolling back is moving aliases")
    _prepare()
    from ricochet.tasks.registry import promotion, runs

    tracker, name = runs.connect(), call.arguments.name
    moved = promotion.rollback(tracker, name, kind=kind_of(name), reason=call.arguments.reason)
    _write(call, {"schema": ROLLBACK, **asdict(moved)})
    call.say(_moved(moved))


def doctor(call: Call) -> None:
    """Find what crashes left behind and mend what cannot be mended wrongly."""
    _prepare()
    from ricochet.flows.servers import children
    from ricochet.tasks import doctor as housekeeping
    from ricochet.tasks.doctor import Finding
    from ricochet.tasks.registry import promotion_log, runs
    from ricochet.tasks.storage.provenance import ROOT, artifacts

    tracker, found = runs.connect(), []
    if ended := children.end_orphans(artifacts()):
        line = f"servers.json: {ended} processes of an `up` that was killed, ended"
        found.append(Finding(line, True))
    found += housekeeping.runs(tracker)
    found += housekeeping.folders(artifacts(), ROOT / "data")
    found += housekeeping.aliases(tracker)
    found += housekeeping.recordings()
    for finding in found:
        call.say(f"{'mended' if finding.mended else 'found'}: {finding.line}")
    mended = sum(finding.mended for finding in found)
    entries = promotion_log.read(promotion_log.place())
    _write(call, {"schema": DOCTOR, "findings": [asdict(finding) for finding in found]})
    call.say(f"{mended} mended, {len(found) - mended} for a person; {len(entries)} lines of log")


def _show_log(call: Call, name: str) -> None:
    from ricochet.tasks.registry import promotion_log

    entries = promotion_log.read(promotion_log.place(), name)
    for entry in entries:
        call.say(entry.line)
    _write(call, {"schema": PROMOTION, "name": name, "log": [asdict(entry) for entry in entries]})
    if not entries:
        call.say(f"{name}: never promoted")


def _promotion(version: str, judged: "Judged | None", moved: "Moved | None") -> dict[str, Any]:
    return {
        "schema": PROMOTION,
        "version": version,
        "validation": None if judged is None else judged.validation or None,
        "gate": None if judged is None else judged.verdict.to_json(),
        "promoted": moved is not None,
        "changed": moved is not None and moved.changed,
    }


def _moved(moved: "Moved") -> str:
    pair = moved.pair
    where = f"champion {pair.champion or 'none'}, previous {pair.previous or 'none'}"
    return f"{moved.name}: {where}{'' if moved.changed else ', unchanged'}"


def _write(call: Call, result: dict[str, Any]) -> None:
    from ricochet.tasks.storage.files import write_json

    write_json(call.out / "result.json", result)


def _prepare() -> None:
    from ricochet.flows.servers import up

    up.prepare_environment()


def _promote_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=NAME)
    parser.add_argument("version", nargs="?", metavar="VERSION", help="version in the registry")
    parser.add_argument(
        "session", nargs="*", type=Path, help="its recordings (default: those its run names)"
    )
    parser.add_argument("--log", action="store_true", help="show the log of promotions instead")
    parser.add_argument("--reason", default="by hand", metavar="TEXT", help="kept in the log")
    parser.add_argument("--again", action="store_true", help="even if it was rolled back")


def _validate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=NAME)
    parser.add_argument(
        "--rig",
        choices=("simulated", "real"),
        default="simulated",
        help="real: the robot and microphones of the sections `real` and `capture`",
    )
    parser.add_argument(
        "--arm", action="store_true", help="let the real robot move, once confirmed by hand"
    )


def _rollback_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=NAME)
    parser.add_argument("--reason", default="by hand", metavar="TEXT", help="kept in the log")


def _no_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


VERBS = (
    Verb(
        ("validate",),
        "try a candidate on the rig beside the champion; what passes the gate becomes champion;"
        " --no-publish only tries and judges",
        "ricochet validate ping-pong-table\n  ricochet validate shooting-balanced\n"
        "  ricochet validate ping-pong-table --rig real --arm --set real.robot=192.0.2.1",
        _validate_options,
        validate,
    ),
    Verb(
        ("promote",),
        "judge a version by the gate and make it the champion; --no-publish only judges",
        "ricochet promote ping-pong-table 3\n  ricochet promote ping-pong-table --log",
        _promote_options,
        promote,
    ),
    Verb(
        ("rollback",),
        "restore the champion and previous of before the last promotion",
        "ricochet rollback ping-pong-table --reason misses-every-second-ball",
        _rollback_options,
        rollback,
        only_publishes=True,
    ),
    Verb(
        ("doctor",),
        "find what crashes left behind, mend what cannot be mended wrongly, say the rest",
        "ricochet doctor",
        _no_options,
        doctor,
    ),
)
