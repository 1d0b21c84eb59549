"""The manifest of a package, and the JSON beside it: read within bounds and checked for meaning.

What is refused: text that is larger than `LARGEST_TEXT`, has more than `MOST_VALUES` values or is
nested deeper than `DEEPEST`, or is no JSON object of numbers that double precision can hold; other
keys than `KEYS`; another name than the one that was asked for, or one that no registry could hold;
digests that are none; a kind, a data digest or a commit that is no short printable text; parameters
whose names are alike or no text, or whose bounds are no finite numbers in order; a prior that is
not uniform within them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import Reader

_FACTS = {"schema", "name", "kind", "data_digest", "git_commit", "settings"}
KEYS = {*_FACTS, "parameters", "prior", "files"}
LARGEST_TEXT = 2**20
"""Bytes of a manifest, or of what was checked."""
MOST_VALUES, DEEPEST = 100_000, 30
"""Values in it, of some 60 bytes each once they are parsed, and how deep they may be nested."""
MOST_PARAMETERS, LONGEST_TEXT = 200, 200
LARGEST_NUMBER = 1e300
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


def parse_object(path: Path, content: bytes) -> dict[str, Any]:
    """Return a JSON object; refuse what is none, is too large or has numbers that are none."""
    if len(content) > LARGEST_TEXT:
        raise BadInput(str(path), f"{len(content)} bytes", f"at most {LARGEST_TEXT} bytes of JSON")
    if sum(map(content.count, (b",", b":", b"[", b"{"))) > MOST_VALUES:
        raise BadInput(str(path), "too many values", f"at most {MOST_VALUES}")
    try:
        value = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(str(path), "text that is not JSON", "a JSON object") from error
    if not isinstance(value, dict):
        raise BadInput(str(path), f"a JSON {type(value).__name__}", "a JSON object")
    _check_values(path, value)
    return value


def parse(path: Path, content: bytes, reader: Reader, *, name: str | None = None) -> dict[str, Any]:
    """Return a manifest of a reader's schema; its `parameters` are `Parameter`s.

    Args:
        name: That of the package that was asked for; None takes any.

    Raises:
        BadInput: Something in it is not what a manifest says, or means nothing.
    """
    manifest = parse_object(path, content)
    _check_schema(path, manifest.get("schema"), reader)
    if set(manifest) != KEYS:
        raise BadInput(str(path), f"keys {_short(sorted(manifest))}", f"keys {sorted(KEYS)}")
    _check_name(path, manifest["name"], name)
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


def _check_values(path: Path, value: Any) -> None:
    """Refuse what is nested too deep, or a number that double precision cannot hold."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict | list):
                inner.extend(each.values() if isinstance(each, dict) else each)
            elif isinstance(each, int | float) and not abs(each) <= LARGEST_NUMBER:
                raise BadInput(str(path), "a number beyond all measure", "finite numbers")
        if not inner:
            return
        level = inner
    raise BadInput(str(path), "values in values", f"at most {DEEPEST} levels")


def _check_schema(path: Path, found: Any, reader: Reader) -> None:
    if found == reader.schema:
        return
    stem = reader.schema.rpartition("/")[0]
    older = isinstance(found, str) and found.rpartition("/")[0] == stem
    if older:
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
    """Return whether it is a number that double precision can hold."""
    return type(value) in (int, float) and abs(value) <= LARGEST_NUMBER


def _short(value: Any) -> str:
    """Return what a line can hold of a value."""
    return repr(value)[:80]
