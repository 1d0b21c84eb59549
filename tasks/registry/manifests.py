"""The manifest of a package, and the JSON beside it: read within bounds and checked for meaning.

What is refused: text that is larger than `LARGEST_TEXT`, or is no JSON object; other keys than
`KEYS`; digests that are none; a kind, a data digest or a commit that is no short printable text;
parameters whose names are alike or no text, or whose bounds are no finite numbers in order; a prior
that is not uniform within them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import Reader

KEYS = {"schema", "kind", "parameters", "prior", "data_digest", "git_commit", "settings", "files"}
LARGEST_TEXT = 2**20
"""Bytes of a manifest, or of what was checked: parsed, it takes some thirty times as many."""
MOST_PARAMETERS, LONGEST_TEXT = 200, 200
LARGEST_NUMBER = 1e300
_HEXADECIMAL = set("0123456789abcdef")
_DIGITS = 64  # of a sha256


@dataclass(frozen=True)
class Parameter:
    """A parameter with its unit (`1` if it has none) and the bounds of its prior."""

    name: str
    unit: str
    low: float
    high: float


def parse_object(path: Path, content: bytes) -> dict[str, Any]:
    """Return a JSON object; refuse what is none, is too large or has numbers that are none."""
    if len(content) > LARGEST_TEXT:
        raise BadInput(str(path), f"{len(content)} bytes", f"at most {LARGEST_TEXT} bytes of JSON")
    try:
        value = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(str(path), "text that is not JSON", "a JSON object") from error
    if not isinstance(value, dict):
        raise BadInput(str(path), f"a JSON {type(value).__name__}", "a JSON object")
    return value


def parse(path: Path, content: bytes, reader: Reader) -> dict[str, Any]:
    """Return a manifest of a reader's schema; its `parameters` are `Parameter`s.

    Raises:
        BadInput: Something in it is not what a manifest says, or means nothing.
    """
    manifest = parse_object(path, content)
    if manifest.get("schema") != reader.schema:
        found = f"schema {_short(manifest.get('schema'))}"
        raise BadInput(str(path), found, reader.schema)
    if set(manifest) != KEYS:
        raise BadInput(str(path), f"keys {_short(sorted(manifest))}", f"keys {sorted(KEYS)}")
    _check_digests(path, manifest["files"], reader)
    for name in ("kind", "data_digest", "git_commit"):
        if not _is_text(manifest[name]):
            raise BadInput(f"{path}: {name}", _short(manifest[name]), "a short printable text")
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


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


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
    """Return whether it is a number that double precision can hold."""
    return type(value) in (int, float) and abs(value) <= LARGEST_NUMBER


def _short(value: Any) -> str:
    """Return what a line can hold of a value."""
    return repr(value)[:80]
