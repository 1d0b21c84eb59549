"""The reference of the settings: values and comments of params.yaml, ranges of its classes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from ricochet.tasks import settings
from ricochet.tasks.systems import catalogue

SECTION, KEY = re.compile(r"^(\w+):"), re.compile(r"^  (\w+): +(.*?)(?: +# (.*))?$")
PLAIN = {float: "number", int: "whole number", str: "text", bool: "true or false"}


@dataclass(frozen=True)
class Row:
    """One setting as params.yaml has it."""

    section: str
    key: str
    value: str
    comment: str


def text() -> str:
    """Return a table for each section of params.yaml."""
    kinds = accepted_by_key()
    return "\n".join(_lines(kinds))


def rows() -> Iterator[Row]:
    """Yield the settings in the order of the file."""
    section = ""
    for line in settings.PARAMS_FILE.read_text(encoding="utf-8").splitlines():
        if head := SECTION.match(line):
            section = head[1]
        elif key := KEY.match(line):
            yield Row(section, key[1], key[2], key[3] or "")


def accepted_by_key() -> dict[tuple[str, str], str]:
    """Return, by section and key, which values the classes of settings take."""
    return {
        (section, key): accepted(kind)
        for section, holder in catalogue.sections()
        for key, kind in get_type_hints(holder, include_extras=True).items()
    }


def accepted(kind: Any) -> str:
    """Say which values a type with a range takes."""
    if get_origin(kind) in (Union, UnionType):
        (inner,) = (each for each in get_args(kind) if each is not NoneType)
        return f"{accepted(inner)}, or null"
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    if get_origin(kind) is Annotated:
        plain, *marks = get_args(kind)
        return " ".join([accepted(plain), *(_limits(mark) for mark in marks)]).strip()
    return PLAIN.get(kind, "list")


def _limits(mark: Any) -> str:
    """Say a range, or a unit."""
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    said = [
        f"{word} {limit:g}"
        for name, word in words.items()
        if (limit := getattr(mark, name, None)) is not None
    ]
    if (longest := getattr(mark, "max_length", None)) is not None:
        said.append(f"of at most {longest}")
    return " ".join([*said, *filter(None, [getattr(mark, "unit", None)])])


def _lines(kinds: dict[tuple[str, str], str]) -> Iterator[str]:
    section = ""
    for row in rows():
        if row.section != section:
            section = row.section
            yield f"\n## {section}\n\n| key | default | takes | meaning |\n|---|---|---|---|"
        yield f"| `{row.key}` | `{row.value}` | {kinds[section, row.key]} | {row.comment} |"
