"""The verbs `infer NAME`: parameters of a simulator from files of recorded motion."""

import argparse
import math
import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ricochet.flows.command_line.number_options import add_numbers, given_numbers
from ricochet.flows.command_line.verb import COMPUTES, Call, Verb, prepare_servers, write_result
from ricochet.tasks.console.progress import announce, bar
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import Inference, InferenceRequest

FASTEST = 100_000.0
"""Frames a second."""


def infer(found: Inference, call: Call) -> Mapping[str, Any]:
    """Infer the parameters and report them."""
    given, out = call.arguments, call.out
    registers = getattr(given, "register", None) is not None
    result = _registered(found, call) if registers else _computed(found, call)
    for line in found.lines(result):
        call.report_line(line)
    call.report_line(f"infer {found.name}: all numbers in {out / 'result.json'}, figures beside it")
    if result["registered"] is not None:
        _report_registered(call, **result["registered"])
    if found.motion and not given.predict:
        own = _own(found, call).items()
        words = [str(word) for name, file in own for word in (f"--{name}", file)]
        files = map(str, given.files)
        named = [] if any(each.required for each in found.options) else [found.name]
        command = shlex.join(("ricochet", "infer", *named, *words, *files))
        call.report_next(f"{command} --predict FILE   (another recording)")
    return result


def _report_registered(call: Call, name: str, version: str) -> None:
    """Report the version, which may be an earlier one, and which is the candidate."""
    from ricochet.tasks.registry import candidacy, versions

    alias = candidacy.of_registered(name, version, versions.candidates([name]))
    call.report_line(f"registered as {name} version {version}{alias}")


def _computed(found: Inference, call: Call) -> dict[str, Any]:
    """Infer, and touch neither server nor registry."""
    announce(f"infer {found.name}: loading {found.loads} ...")
    given, out = call.arguments, call.out
    with bar("particles") as progress:
        request = InferenceRequest(
            tuple(given.files),
            getattr(given, "rate", None),
            tuple(getattr(given, "predict", None) or ()),
            call.settings,
            out,
            call.seed,
            progress,
            _own(found, call),
            given_numbers(found.numbers, given),
        )
        result = {**found.run(request), "seed": call.seed, "registered": None}
    write_result(out, result)
    return result


def _registered(found: Inference, call: Call) -> dict[str, Any]:
    """Run the flow, which registers."""
    given = call.arguments
    if found.kind is not None:
        found.kind.refuse(found.kind.prefix + given.register)
    prepare_servers()
    from ricochet.flows import infer as flows

    predict = getattr(given, "predict", None)
    files, others = ([str(file) for file in each or ()] for each in (given.files, predict))
    return flows.infer(
        found.name,
        files,
        given.register,
        getattr(given, "rate", None),
        others,
        {name: str(file) for name, file in _own(found, call).items()},
        given_numbers(found.numbers, given),
        **call.parameters(),
    )


def _own(found: Inference, call: Call) -> dict[str, Path]:
    """Return the files of the inference's own options."""
    given = {each.name: getattr(call.arguments, each.name) for each in found.options}
    return {name: file for name, file in given.items() if file is not None}


def verbs() -> tuple[Verb, ...]:
    """Return a verb for each inference of all systems."""
    return tuple(map(_verb, catalogue.inferences()))


def _verb(found: Inference) -> Verb:
    return Verb(
        ("infer", found.name),
        found.summary,
        f"ricochet infer {_words(found)} {found.example}",
        partial(infer, found),
        partial(_options, found),
        details=f"{found.details}\n\n" if found.details else "",
        takes=COMPUTES,
        instead=next((f"--{each.name}" for each in found.options if each.required), ""),
    )


def _words(found: Inference) -> str:
    """Return the words after `infer` that name an inference."""
    needed = [f"--{each.name} {each.metavar}" for each in found.options if each.required]
    return " ".join(needed) or found.name


def _options(found: Inference, parser: argparse.ArgumentParser) -> None:
    for each in found.options:
        parser.add_argument(
            f"--{each.name}",
            type=Path,
            metavar=each.metavar,
            help=each.help,
            required=each.required,
        )
    add_numbers(found.numbers, parser)
    if found.motion:
        _motion_options(parser)
    else:
        parser.add_argument("files", nargs=1, type=Path, metavar="FILE", help="the table")
    if found.kind is not None:
        parser.add_argument(
            "--register", metavar="NAME", help="register the posterior under this name"
        )


def _motion_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a recorded motion")
    parser.add_argument(
        "--rate", type=_rate, metavar="HZ", help="frames a second, where a file has no time"
    )
    parser.add_argument(
        "--predict",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a further motion, to be watched and predicted",
    )


def _rate(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0.0 < found <= FASTEST:
        expected = f"a positive number of frames a second, at most {FASTEST:g}"
        raise argparse.ArgumentTypeError(f"{text!r}, expected {expected}")
    return found
