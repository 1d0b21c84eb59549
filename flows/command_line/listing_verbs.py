"""The verbs that say what is registered: list, show. They need no server and write to no store."""

import argparse
import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ricochet.flows.command_line.verb import RESULT, Call, Verb, prepare_servers, write_result
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.systems import catalogue

if TYPE_CHECKING:
    from ricochet.tasks.registry.kinds import PackageKind
    from ricochet.tasks.registry.runs import Tracker
    from ricochet.tasks.validation.listing import Detail, Entry, LastValidation

WIDTH = 24  # of the labels of `show`
LIST, SHOW = "ricochet.list/1", "ricochet.show/1"


def list_names(call: Call) -> Mapping[str, Any]:
    """Print every registered name in a line."""
    prepare_servers(announced="reading the registry ...")
    from ricochet.tasks.console.progress import bar
    from ricochet.tasks.validation import listing

    tracker, found = listing.tracker(), []
    if tracker is not None:
        names = listing.names(tracker)
        with bar("registry") as progress:
            for number, name in enumerate(names, start=1):
                found.append(_entry(tracker, name))
                progress(number, len(names))
    result = {"schema": LIST, "names": [_to_json(entry) for entry in found]}
    write_result(call.out, result)
    for line in _table(found) if found else [_empty()]:
        call.report_line(line)
    if found:
        latest = max(found, key=lambda entry: entry.registered or 0.0)
        call.report_next(f"ricochet show {shlex.quote(latest.name)}")
    return result


def _empty() -> str:
    """Say which registry is empty: verbs may look elsewhere than a lab's servers."""
    from ricochet.tasks.storage.files import shown
    from ricochet.tasks.storage.provenance import artifacts

    place = "" if os.environ.get("MLFLOW_TRACKING_URI") else f" in {shown(artifacts())}"
    return f"the registry{place} is empty: `ricochet calibrate` and `train` register packages"


def _entry(tracker: "Tracker", name: str) -> "Entry":
    """Describe a name; of one that stands for nothing, why."""
    from ricochet.models.core.bad_input import BadInput
    from ricochet.tasks.validation import listing

    try:
        return listing.entry(tracker, name, catalogue.kind_of(name))
    except BadInput as error:
        return listing.Entry(name, {}, None, None, (), None, str(error))


def show(call: Call) -> Mapping[str, Any]:
    """Print all that is known of a registered name."""
    prepare_servers(announced="reading the registry ...")
    from ricochet.flows.servers import addresses
    from ricochet.models.core.bad_input import BadInput
    from ricochet.tasks.validation import listing

    name = call.arguments.name
    kind, tracker = catalogue.kind_of(name), listing.tracker()
    if tracker is None:
        raise BadInput(name, "an empty registry", f"one in which `{kind.made_by}` registered it")
    found = listing.detail(tracker, name, kind)
    address, note = addresses.mlflow()
    result = {"schema": SHOW, **_to_json(found.entry), **_rest(found), "kind": kind.pattern}
    result |= {"made_by": kind.made_by, "address": f"{address}/{found.place}"}
    write_result(call.out, result)
    for line in _lines(found, kind.made_by, f"{result['address']}{note}"):
        call.report_line(line)
    call.report_next(_after(found.entry, kind))
    return result


def _after(entry: "Entry", kind: "PackageKind") -> str:
    """Return what makes a candidate a champion, where there is a gate, or else the other names."""
    validated = any(each.kind is kind for each in catalogue.validations())
    waiting = validated and CHAMPION not in entry.aliases
    return f"ricochet validate {shlex.quote(entry.name)}" if waiting else "ricochet list"


def _to_json(entry: "Entry") -> dict[str, Any]:
    return {**asdict(entry), "age_days": entry.age()}


def _rest(found: "Detail") -> dict[str, Any]:
    rest = asdict(found)
    return {key: rest[key] for key in ("data", "tracked", "sessions", "used")}


def _table(entries: "list[Entry]") -> list[str]:
    """Return a line a name, in columns as wide as their widest; no cell moves a cursor."""
    rows = [["name", "aliases", "numbers", "last validation", "age, days"]]
    for entry in entries:
        numbers = ", ".join(f"{each.name} {each.text}" for each in entry.numbers)
        said = numbers if entry.fault is None else f"unreadable: {entry.fault}"
        last = _validated(entry.validation)
        age = "-" if (days := entry.age()) is None else f"{days:.1f}"
        cells = (entry.name, _aliases(entry), said or "-", last, age)
        rows.append([one_line(cell) for cell in cells])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _lines(found: "Detail", made_by: str, address: str) -> list[str]:
    entry = found.entry
    rows = [("made by", made_by), ("aliases", _aliases(entry))]
    rows += [("version", f"{entry.version or 'none'}, {_date(entry.registered)}")]
    rows += [
        (each.name, each.text + (f"   90 %: {each.interval}" if each.interval else ""))
        for each in entry.numbers
    ]
    rows += [("fault", entry.fault)] if entry.fault else []
    rows += [("data digest", found.data or "none")]
    rows += [("tracked by DVC as", found.tracked)] if found.tracked else []
    rows += [("sessions", ", ".join(found.sessions) or "none")]
    rows += [("last validation", _validated(entry.validation))]
    if entry.validation is not None:
        compared = ", ".join(f"{role} {n}" for role, n in entry.validation.versions.items())
        rows += [("", f"{compared}; run {entry.validation.run}")]
    rows += [("used", line) for line in found.used]
    rows += [("MLflow", address)]
    width = max([WIDTH, *(len(label) + 2 for label, _ in rows)])
    return [entry.name, *(f"  {label:{width}}{text}" for label, text in rows)]


def _aliases(entry: "Entry") -> str:
    return ", ".join(f"{alias} {number}" for alias, number in entry.aliases.items()) or "none"


def _validated(last: "LastValidation | None") -> str:
    return "never" if last is None else f"{last.gate} {_date(last.when)}"


def _date(seconds: float | None) -> str:
    """Return a day; a server may say a time that is in no year."""
    if seconds is None:
        return "at a time not known"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return f"at a time in no year, {seconds:g} s"


def _show_options(parser: argparse.ArgumentParser) -> None:
    names = " or ".join(kind.pattern for kind in catalogue.kinds())
    parser.add_argument("name", metavar="NAME", help=names)


def verbs() -> tuple[Verb, ...]:
    """Return the verbs, with an example of what systems validate."""
    example = next(each.examples[0] for each in catalogue.validations())
    return (
        Verb(
            ("list",),
            "list what is registered: aliases, numbers, last validation, age",
            "ricochet list\n  ricochet list --json",
            list_names,
            takes=RESULT,
        ),
        Verb(
            ("show",),
            "show all that is known of a registered name",
            f"ricochet show {example}",
            show,
            _show_options,
            takes=RESULT,
        ),
    )
