"""The verbs that move aliases and clean up: validate, promote, rollback, doctor.

A candidate that the gate refuses is bad input: every refusal is a line on standard output, all
checks are in `result.json`, and the exit status is 2.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ricochet.flows.command_line.verb import RESULT, Call, Verb, prepare_servers, write_result
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console import table
from ricochet.tasks.console.progress import announce
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems import catalogue
from ricochet.tasks.validation.outcomes import SIMULATED

if TYPE_CHECKING:
    from ricochet.tasks.doctor import Finding
    from ricochet.tasks.registry.runs import Tracker

DRY_RUN = "the simulated rig: what is tried on another is recorded"
LEFT = 1
"""Exit status of `doctor` where something is left to do by hand."""
PROMOTION, ROLLBACK, DOCTOR = "ricochet.promotion/1", "ricochet.rollback/1", "ricochet.doctor/1"


def promote(call: Call) -> None:
    """Judge a version and, if it passes, make it the champion."""
    given = call.arguments
    if given.log:
        _show_log(call, given.name)
        return
    if given.version is None:
        raise BadInput("VERSION", "none", "the version to promote, or --log")
    announce(f"promote {given.name} ...")
    catalogue.kind_of(given.name)
    prepare_servers()
    from ricochet.flows import promote as flow
    from ricochet.tasks.registry.versions import Registered

    registered = Registered(given.name, given.version)
    words: dict[str, Any] = {
        "settings": call.settings,
        "seed": call.seed,
        "sessions": given.session,
    }
    if call.publish:
        done = flow.promote(registered, reason=given.reason, again=given.again, **words)
    else:
        done = flow.judge_only(registered, **words)
    for line in done.refusals:
        call.report_line(f"refused: {line}")
    write_result(call.out, {"schema": PROMOTION, **done.to_json()})
    call.report_line(done.line())
    again = f"ricochet rollback {given.name}   (takes it back)"
    call.report_next(again if done.moved else f"ricochet promote {given.name} {given.version}")


def validate(call: Call) -> None:
    """Try the candidate on the rig and, if it passes the gate, make it the champion."""
    name, rig = call.arguments.name, call.arguments.rig
    if not call.publish and rig != SIMULATED:
        raise BadInput("--no-publish", f"validate {name} --rig {rig}", DRY_RUN)
    announce(f"validate {name} ...")
    catalogue.kind_of(name)
    prepare_servers()
    validation = catalogue.validation_of(name)
    from ricochet.flows.servers import addresses
    from ricochet.tasks.registry import runs
    from ricochet.tasks.validation import judge

    judge.refuse_rig(validation, rig, armed=call.arguments.arm)
    catalogue.refuse_untried(name, validation)
    catalogue.refuse_unregistered(name, runs.connect())
    result = _validated(call)
    if result["unchanged"]:
        call.report_line(f"{name}: the candidate is the champion already")
        return
    checks = [Check(**check) for check in result["gate"]["checks"]]
    for check in checks:
        if not check.passed:
            call.report_line(f"refused: {check.line}")
    for line in _table(checks):
        call.report_line(line)
    call.report_line(f"{name}: {validation.line(result)}")
    verdict = "promoted to champion" if result["promoted"] else "not promoted"
    number = result["versions"]["candidate"]
    where = addresses.of_version(name, number) if result["run"] else "not recorded"
    call.report_line(f"{name} version {number}: {verdict}; {where}")
    call.report_next(_after(name, result))


def _after(name: str, result: Mapping[str, Any]) -> str:
    """Return the command that may follow a validation."""
    if result["promoted"]:
        return f"ricochet promote {name} --log"
    if result["run"]:
        return "ricochet up   (to see the run)"
    return f"ricochet validate {name}   (to record it, and to promote what passes)"


def _table(checks: Sequence[Check]) -> list[str]:
    """Return the checks of a gate, a row each."""
    rows = [(check.name, check.found, check.expected, check.passed) for check in checks]
    return table.lines(("check", "found", "expected", "passed"), rows)


def _validated(call: Call) -> dict[str, Any]:
    """Return the result of the flow, or of a dry run."""
    from ricochet.flows import validate as flow

    name = call.arguments.name
    if not call.publish:
        return flow.dry_run(flow.Request(name, call.settings, call.out, call.seed))
    return flow.validate(
        name=name, rig=call.arguments.rig, arm=call.arguments.arm, **call.parameters()
    )


def rollback(call: Call) -> None:
    """Restore the aliases that there were before the last promotion."""
    name = call.arguments.name
    announce(f"rollback {name} ...")
    catalogue.kind_of(name)
    prepare_servers()
    from ricochet.flows import promote as flow

    moved = flow.rollback(name, call.arguments.reason)
    write_result(call.out, {"schema": ROLLBACK, **asdict(moved)})
    call.report_line(flow.line(moved))
    call.report_next(f"ricochet promote {name} --log")


def doctor(call: Call) -> None:
    """Find what crashes left behind and repair what has one right repair.

    Exit status 1 if something is left to do by hand.
    """
    prepare_servers(announced="looking for what crashes left ...")
    from ricochet.tasks.registry import promotion_log, retention, runs
    from ricochet.tasks.upkeep_settings import Keep

    tracker, found = runs.connect(), []
    for finding in _left_behind(tracker):
        found.append(finding)
        call.report_line(f"{'repaired' if finding.mended else 'found'}: {finding.line}")
    repaired = sum(finding.mended for finding in found)
    entries = promotion_log.read()
    write_result(call.out, {"schema": DOCTOR, "findings": [asdict(finding) for finding in found]})
    call.report_line(
        f"{repaired} repaired, {len(found) - repaired} to be repaired by hand; "
        f"the log of promotions has {len(entries)} lines"
    )
    if old := retention.old_runs(tracker, days=call.settings[Keep].runs):
        call.report_line(f"{len(old)} old runs that nothing needs; the next night removes them")
    if not found:
        call.report_next("ricochet up   (to look at the runs)")
    if repaired < len(found):
        raise SystemExit(LEFT)


def _left_behind(tracker: "Tracker") -> "Iterator[Finding]":
    """Repair what crashes left, and yield each finding when it is there."""
    from ricochet.flows import dead_runs
    from ricochet.flows.servers import children
    from ricochet.tasks import doctor as housekeeping
    from ricochet.tasks.doctor import Finding
    from ricochet.tasks.registry import lab_state
    from ricochet.tasks.storage.provenance import artifacts, workplace

    if ended := children.end_orphans(artifacts()):
        line = f"servers.json: {ended} processes of an `up` that was killed, ended"
        yield Finding(line, True)
    yield from dead_runs.settle()
    for place in lab_state.outputs(artifacts()):
        yield from housekeeping.folders(place, workplace() / "data")
    yield from housekeeping.aliases(tracker)
    yield from housekeeping.recordings()


def _show_log(call: Call, name: str) -> None:
    from ricochet.tasks.registry import promotion_log

    entries = promotion_log.read(name)
    for entry in entries:
        call.report_line(entry.line)
    write_result(
        call.out, {"schema": PROMOTION, "name": name, "log": [asdict(entry) for entry in entries]}
    )
    if not entries:
        call.report_line(
            f"{name}: no promotion by this command; `ricochet show {name}` prints its aliases, "
            "those moved by hand as well"
        )


def _promote_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=_names())
    parser.add_argument("version", nargs="?", metavar="VERSION", help="version in the registry")
    parser.add_argument(
        "session", nargs="*", type=Path, help="its recordings (default: those its run names)"
    )
    parser.add_argument("--log", action="store_true", help="show the log of promotions instead")
    parser.add_argument("--reason", default="by hand", metavar="TEXT", help="kept in the log")
    parser.add_argument("--again", action="store_true", help="even if it was rolled back")


def _validate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=_names())
    parser.add_argument(
        "--rig",
        default=SIMULATED,
        help="simulated, or real: the robot and microphones of the settings",
    )
    parser.add_argument(
        "--arm", action="store_true", help="let the real robot move, once confirmed by hand"
    )


def _rollback_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=_names())
    parser.add_argument("--reason", default="by hand", metavar="TEXT", help="kept in the log")


def _names() -> str:
    return " or ".join(each.kind.pattern for each in catalogue.validations())


def verbs() -> tuple[Verb, ...]:
    """Return the verbs, with examples of what systems validate."""
    examples = [example for each in catalogue.validations() for example in each.examples]
    return (
        Verb(
            ("validate",),
            "try a candidate on the rig against the champion; what passes the gate becomes"
            " champion; --no-publish only tries and judges",
            "\n  ".join(f"ricochet validate {example}" for example in examples),
            validate,
            _validate_options,
        ),
        Verb(
            ("promote",),
            "judge a version by the gate and make it the champion; --no-publish only judges",
            f"ricochet promote {examples[0]} 3\n  ricochet promote {examples[0]} --log",
            promote,
            _promote_options,
        ),
        Verb(
            ("rollback",),
            "restore the aliases as they were before the last promotion",
            f"ricochet rollback {examples[0]} --reason misses-too-often",
            rollback,
            _rollback_options,
            takes=RESULT,
        ),
        Verb(
            ("doctor",),
            "find what crashes left behind, repair what has one right repair, report the rest",
            "ricochet doctor",
            doctor,
            takes=RESULT,
        ),
    )
