"""The numbers of a run: params.yaml, a file laid over it, then overrides; a dataclass each section.

    settings = load(sections, Path("mine.yaml"), ["capture.duration=2"])
    settings[Capture].duration

A value is refused unless its key is known, its type is right and it lies in its range. The fields
have no defaults: params.yaml beside the packages holds every value once. Several classes may share
a section, each with keys of its own: so a system adds a key to a section that all systems have.
Settings are recorded with each run: a text that holds a password, as an address may, is refused.
"""

import functools
import os
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from ricochet.models.core.bad_input import BadInput, shown, unknown_key
from ricochet.tasks.storage import checked_yaml

_SHOWN = 200
"""Characters of an override in a line."""
PARAMS_FILE = Path(__file__).resolve().parents[1] / "params.yaml"

Sections = Sequence[tuple[str, type]]
"""Name and class of each section."""

_PASSWORD = re.compile(r"//[^/@]*:[^@]*@|(?:^|[?&#\s])\w*passw\w*\s*=", re.IGNORECASE)
"""Of `scheme://user:password@host`, or among the words of an address."""

S = TypeVar("S")


@dataclass(frozen=True)
class Settings:
    """The instance of each class of settings."""

    sections: Mapping[type, Any]

    def __getitem__(self, section: type[S]) -> S:
        """Return the instance of a class."""
        found: S = self.sections[section]
        return found

    def changed(self, section: type, **values: Any) -> Self:
        """Return the settings with other values in one class; they are not checked."""
        other: Any = replace(self.sections[section], **values)
        return replace(self, sections={**self.sections, section: other})


def load(
    sections: Sections, params_file: Path | None = None, overrides: Sequence[str] = ()
) -> Settings:
    """Read the settings of a run.

    Args:
        params_file: YAML file laid over params.yaml; it may hold a part of the keys.
        overrides: Texts `section.key=value`, applied in order.

    Raises:
        BadInput: A file cannot be read, a key is unknown, or a value has a wrong type or range.
    """
    types = _types(sections)
    values = _read(PARAMS_FILE, types)
    if params_file is not None and os.path.realpath(params_file) != str(PARAMS_FILE):
        values |= _read(params_file, types)
    for override in overrides:
        values |= _overridden(override, types)
    return Settings({kind: _section(name, kind, values) for name, kind in sections})


Types = Mapping[str, Mapping[str, Any]]
"""The types of all keys, by section."""
Values = dict[tuple[str, str], Any]
"""Checked values by section and key."""


def _types(sections: Sections) -> Types:
    types: dict[str, dict[str, Any]] = {}
    for name, kind in sections:
        types.setdefault(name, {}).update(get_type_hints(kind, include_extras=True))
    return types


def _section(name: str, kind: Any, values: Values) -> Any:
    """Build one section, all keys of which must be there."""
    for field in fields(kind):
        if (name, field.name) not in values:
            raise BadInput(f"{PARAMS_FILE.name}: {name}.{field.name}", "nothing", "a value")
    return kind(**{field.name: values[name, field.name] for field in fields(kind)})


def _read(path: Path, types: Types) -> Values:
    """Read a file of sections; its keys and values are checked, it need not hold all."""
    content = checked_yaml.read(path, "a readable YAML file")
    values: Values = {}
    for name, part in _mapping({} if content is None else content, str(path), "sections with keys"):
        keys = _known(name, types, f"{path}: {name}")
        for key, value in _mapping(part, f"{path}: {name}", "keys with values"):
            where = f"{path}: {name}.{key}"
            _refuse_password(value, where)
            values[name, key] = _checked(_known(key, keys, where), value, where)
    return values


def _mapping(content: Any, where: str, expected: str) -> Any:
    if not isinstance(content, dict):
        raise BadInput(where, type(content).__name__, expected)
    return content.items()


def _overridden(override: str, types: Types) -> Values:
    """Read `section.key=value`."""
    where = f"--set {override[:_SHOWN]}"
    name, equals, text = override.partition("=")
    _refuse_password(text, f"--set {name[:_SHOWN]}")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot:
        raise BadInput(where, shown(override), f"section.key=value{_whole_key(section, types)}")
    kind = _known(key, _known(section, types, where), where)
    value = checked_yaml.parse(text, where)
    _refuse_password(value, f"--set {name[:_SHOWN]}")
    return {(section, key): _checked(kind, value, where)}


def _refuse_password(value: Any, where: str) -> None:
    """Refuse a text that holds a password, or a list with one, without showing it."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and _PASSWORD.search(urllib.parse.unquote(each)):
            expected = "an address without it, since settings are recorded"
            raise BadInput(where, "a password", expected)


def _whole_key(key: str, types: Types) -> str:
    """Ask for the sections that have a key which was given without one."""
    near = [f"{section}.{key}" for section, keys in types.items() if key in keys]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _known(name: Any, among: Mapping[str, Any], where: str) -> Any:
    """Return what a name stands for, or refuse it."""
    if name not in among:
        raise unknown_key(where, name, among)
    return among[name]


def _checked(kind: Any, value: Any, where: str) -> Any:
    """Return a value of the type and in the range of its field, or refuse it."""
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise BadInput(where, shown(value), _expected(kind, error.errors()[0]["type"])) from error


@functools.cache
def _adapter(kind: Any) -> Any:
    from pydantic import BeforeValidator, ConfigDict, TypeAdapter

    if _plain(kind) is float:
        kind = Annotated[kind, BeforeValidator(_number)]
    return TypeAdapter(kind, config=ConfigDict(strict=True, allow_inf_nan=False))


def _number(value: Any) -> Any:
    """Read a text as a number where it is one: YAML takes 1e-4 for a text."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _required(kind: Any) -> Any:
    """Return a type without the None that it may allow."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    return next(each for each in get_args(kind) if each is not NoneType)


def _plain(kind: Any) -> Any:
    kind = _required(kind)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _expected(kind: Any, fault: str) -> str:
    """Say what a value of a type had to be."""
    if _required(kind) is not kind:
        return f"{_expected(_required(kind), fault)}, or null"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    plain, marks = _plain(kind), get_args(kind)[1:] if kind is not _plain(kind) else ()
    if plain is str and marks and fault != "string_type":
        return f"a text of at most {marks[0].max_length} printable characters"
    if get_origin(plain) is list and marks:
        (each,), (low, high) = get_args(plain), (marks[0].min_length, marks[0].max_length)
        span = f"{low}" if low == high else f"{low} to {high}"
        return f"a list of {span}, each {_expected(each, 'greater_than')}"
    if not fault.startswith(("greater_than", "less_than")):
        return f"a value of type {(get_origin(plain) or plain).__name__}"
    limits, *units = marks
    low = getattr(limits, "ge", None)
    span = f"above {limits.gt:g} and up to" if low is None else f"from {low:g} to"
    return ", ".join([f"a number {span} {limits.le:g}", *(str(each.unit) for each in units)])
