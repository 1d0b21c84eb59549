"""`ricochet export`: a package as files that other programs use."""

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ricochet.flows.command_line.verb import RESULT, Call, Verb, prepare_servers, write_result
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import Export

if TYPE_CHECKING:
    from ricochet.tasks.registry.packages import Package

PACKAGE, EXPORTS, README = "package", Path("artifacts", "export"), "README.txt"


def export(call: Call) -> Mapping[str, Any]:
    """Write a package for another program."""
    announce("loading ...")
    from ricochet.tasks.registry.signatures import UNSIGNED
    from ricochet.tasks.storage.files import output_folder

    form, given = call.arguments.to, call.arguments.name
    folder, key = Path(given), UNSIGNED if call.arguments.unsigned else None
    if folder.is_dir():
        name, package = _in_folder(folder, form, key)
    else:
        name, package = given, _registered(call, given, form, key)
    out = call.out if call.arguments.out != EXPORTS else output_folder(call.out / name)
    done = _named(form, name).run(package, name, out)
    result = done.to_json()
    write_result(out, result)
    call.report_line(done.line)
    if (out / README).is_file():
        call.report_next(f"cat {shlex.quote(str(out / README))}")
    return result


def _named(form: str, name: str) -> Export:
    """Return the export of a form for packages of a name."""
    kind = catalogue.kind_of(name)
    for each in catalogue.exports():
        if each.to == form and each.kind is kind:
            return each
    known = " or ".join(each.kind.pattern for each in catalogue.exports() if each.to == form)
    raise BadInput(name, f"a package that has no form {form!r}", known)


def _in_folder(folder: Path, form: str, key: str | None) -> tuple[str, "Package"]:
    """Return a package on disk, and its name; that of its folder tells its kind."""
    from ricochet.tasks.registry import packages, signatures

    place = folder / PACKAGE if (folder / PACKAGE).is_dir() else folder
    name = (place.parent if place.name == PACKAGE else place).resolve().name
    kinds = [each.kind for each in catalogue.exports() if each.to == form]
    if catalogue.kind_of(name) not in kinds:
        raise BadInput(str(folder), f"a folder {name!r}", f"one named {kinds[0].pattern}")
    reader = _named(form, name).kind.load_reader()
    package = packages.read_package(place, reader=reader, key=signatures.demanded(key))
    return package.name, package


def _registered(call: Call, name: str, form: str, key: str | None) -> "Package":
    """Return the champion of a name, or its candidate where there is no champion."""
    kind = _named(form, name).kind
    prepare_servers(announced="reading the registry ...")
    from ricochet.tasks.registry import runs, versions
    from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION

    tracker = runs.connect()
    for alias in (CHAMPION, CANDIDATE):
        found = versions.resolve(tracker, name, alias)
        if found is not None:
            call.report_line(f"{found.where}, {alias}")
            return versions.load(tracker, found, kind=kind, key=key)
    expected = f"a registered package, by `{kind.made_by}`, or a folder"
    raise BadInput(name, "nothing in the registry", expected)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="in the registry, or the folder of a calibration"
    )
    forms = sorted({each.to for each in catalogue.exports()})
    parser.add_argument("--to", choices=forms, required=True, help="the program")
    parser.add_argument(
        "--unsigned",
        action="store_true",
        help="take an unsigned package of your own, though RICOCHET_PUBLIC_KEY is set",
    )


def verb() -> Verb:
    """Return the verb."""
    return Verb(
        ("export",),
        "write a posterior as files that another program can use",
        "ricochet export ping-pong-table --to mujoco",
        export,
        _options,
        takes=RESULT,
    )
