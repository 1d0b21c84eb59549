"""The manifest of a package: read within bounds and checked for meaning.

What is refused: text that is no JSON object within bounds (`bounded_json`); other keys than `KEYS`;
another name than the one that was asked for, or one that no registry could hold; digests that are
none; a kind, a data digest or a commit that is no short printable text; parameters whose names are
alike or no text, or whose bounds are no finite numbers in order; a prior that is not uniform within
them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.bounded_json import parse_object
from ricochet.tasks.registry.kinds import Reader

_FACTS = {"schema", "name", "kind", "data_digest", "git_commit", "settings"}
KEYS = {*_FACTS, "parameters", "prior", "files"}
MOST_PARAMETERS, LONGEST_TEXT = 200, 200
LARGEST_BOUND = 1e15
_HEXADECIMAL = set("0123456789abcdef")
_DIGITS = 64  # of a sha256
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,98}[A-Za-z0-9])?")


class OlderSchemaError(BadInput):
    """The package is of another number of its schema."""


@dataclass(frozen=True)
class Parameter:
    """A parameter with its unit (`1` if it has none) and the bounds of its prior."""

    name: str
    unit: str
    low: float
    high: float


def parse(path: Path, content: bytes, reader: Reader, *, name: str | None = None) -> dict[str, Any]:
    """Return a manifest of a reader's schema; its `parameters` are `Parameter`s.

    Args:
        name: That of the package that was asked for; None takes any.

    Raises:
        BadInput: Something in it is not what a manifest says, or means nothing.
    """
    manifest = parse_object(str(path), content)
    _check_schema(path, manifest.get("schema"), reader)
    if set(manifest) != KEYS:
        raise BadInput(str(path), f"keys {_short(sorted(manifest))}", f"keys {sorted(KEYS)}")
    _check_name(path, manifest["name"], name)
    _check_digests(path, manifest["files"], reader)
    for fact in ("kind", "data_digest", "git_commit"):
        if not _is_text(manifest[fact]):
            raise BadInput(f"{path}: {fact}", _short(manifest[fact]), "a short printable text")
    if not isinstance(manifest["settings"], dict):
        raise BadInput(f"{path}: settings", _short(manifest["settings"]), "a JSON object")
    parameters = _parameters(path, manifest["parameters"])
    _check_prior(path, manifest["prior"], parameters)
    return {**manifest, "parameters": parameters}


def prior_of(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return what a manifest says of the prior: uniform within the parameters' bounds."""
    return {
        "kind": "uniform",
        "low": [parameter.low for parameter in parameters],
        "high": [parameter.high for parameter in parameters],
    }


def _check_schema(path: Path, found: Any, reader: Reader) -> None:
    if found == reader.schema:
        return
    stem, _, number = reader.schema.rpartition("/")
    if found in [f"{stem}/{older}" for older in range(1, int(number))]:
        anew = f"{reader.schema}, made anew by: {reader.made_by}"
        raise OlderSchemaError(str(path), f"schema {_short(found)}", anew)
    raise BadInput(str(path), f"schema {_short(found)}", reader.schema)


def _check_name(path: Path, found: Any, wanted: str | None) -> None:
    """Refuse a name that no package has, or the package of another name."""
    if not isinstance(found, str) or not _NAME.fullmatch(found):
        raise BadInput(f"{path}: name", _short(found), "letters, digits, hyphens")
    if wanted is not None and found != wanted:
        raise BadInput(f"{path}: name", f"the package of {found}", f"that of {wanted}"[:120])


def _check_digests(path: Path, files: Any, reader: Reader) -> None:
    names = ", ".join(reader.content)
    if not isinstance(files, dict) or sorted(files) != sorted(reader.content):
        raise BadInput(str(path), f"files {_short(files)}", f"digests of {names} alone")
    for name, digest in files.items():
        if not isinstance(digest, str) or len(digest) != _DIGITS or set(digest) - _HEXADECIMAL:
            raise BadInput(f"{path}: files", f"{name}: {_short(digest)}", "a sha256")


def _parameters(path: Path, entries: Any) -> tuple[Parameter, ...]:
    fields = set(Parameter.__dataclass_fields__)
    if not isinstance(entries, list) or len(entries) > MOST_PARAMETERS:
        raise BadInput(
            f"{path}: parameters", _short(entries), f"a list of at most {MOST_PARAMETERS}"
        )
    if not all(isinstance(entry, dict) and set(entry) == fields for entry in entries):
        raise BadInput(str(path), "incomplete parameters", f"{sorted(fields)} for each parameter")
    for entry in entries:
        _check_parameter(path, entry)
    names = [entry["name"] for entry in entries]
    if len(set(names)) < len(names):
        raise BadInput(f"{path}: parameters", "a name twice", "one entry for each parameter")
    return tuple(Parameter(**entry) for entry in entries)


def _check_parameter(path: Path, entry: Mapping[str, Any]) -> None:
    for name in ("name", "unit"):
        if not _is_text(entry[name]) or not entry[name]:
            found = f"{name} {_short(entry[name])}"
            raise BadInput(f"{path}: parameters", found, "a short printable text")
    low, high = entry["low"], entry["high"]
    if not (_is_number(low) and _is_number(high) and low < high):
        found = f"bounds {_short(low)} and {_short(high)} of {entry['name']}"
        raise BadInput(f"{path}: parameters", found, "finite numbers, the lower first")


def _check_prior(path: Path, prior: Any, parameters: Sequence[Parameter]) -> None:
    if prior != prior_of(parameters):
        raise BadInput(f"{path}: prior", _short(prior), "uniform within the parameters' bounds")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and value.isprintable()


def _is_number(value: Any) -> bool:
    """Return whether it is a number that a parameter can be bounded by."""
    return type(value) in (int, float) and abs(value) <= LARGEST_BOUND


def _short(value: Any) -> str:
    """Return what a line can hold of a value."""
    return repr(value)[:80]
