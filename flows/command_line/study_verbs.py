"""The verbs `study NAME`: one paper's tables and figures, each study with a help of its own."""

import argparse
from collections.abc import Mapping
from functools import partial, reduce
from operator import getitem
from typing import Any

from ricochet.flows.command_line.number_options import add_numbers, given_numbers
from ricochet.flows.command_line.verb import COMPUTES, Call, Verb, write_result
from ricochet.tasks.console import table
from ricochet.tasks.console.progress import announce, bar
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import Study, StudyRequest

MOST = 1_000_000
"""Of what an option counts."""


def study(found: Study, call: Call) -> Mapping[str, Any]:
    """Make the tables and figures of a study."""
    from ricochet.flows.servers import kill_guard

    announce(f"study {found.name}: loading PyTorch ...")
    kill_guard.guard_children()
    given, out = call.arguments, call.out
    count = None if found.count is None else getattr(given, found.count[0])
    with bar(found.name) as progress:
        numbers = given_numbers(found.numbers, given)
        request = StudyRequest(call.settings, out, progress, given.quick, call.seed, count, numbers)
        result = {**found.run(request), "seed": call.seed}
    write_result(out, result)
    if found.headline is not None:
        shown = found.headline
        keys = shown.records.split("/")
        records: Any = reduce(getitem, keys, result)
        for line in table.of_records(records, shown.columns, label=keys[-1]):
            call.report_line(line)
    call.report_line(f"study {found.name}: all numbers in {out / 'result.json'}, figures beside it")
    if given.quick:
        call.report_next(f"ricochet study {found.name}   (at full size)")
    return result


def verbs() -> tuple[Verb, ...]:
    """Return a verb for each study of all systems."""
    return tuple(map(_verb, catalogue.studies()))


def _verb(found: Study) -> Verb:
    counted = "" if found.count is None else f"\n  ricochet study {found.name} --{found.count[0]} 9"
    return Verb(
        ("study", found.name),
        found.summary,
        f"ricochet study {found.name} --quick{counted}",
        partial(study, found),
        partial(_add_options, found),
        details=f"time: {found.duration}\n\n" if found.duration else "",
        takes=COMPUTES,
    )


def _add_options(found: Study, parser: argparse.ArgumentParser) -> None:
    if found.count is not None:
        option, counted = found.count
        words = f"{option} {counted}"
        parser.add_argument(f"--{option}", type=_count, metavar="N", help=f"number of {words}")
    add_numbers(found.numbers, parser)
    parser.add_argument("--quick", action="store_true", help="at reduced size")


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number from 1 to {MOST}")
    return int(text)
