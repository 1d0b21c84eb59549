"""The reference of the command line, made from its parser: usage, options, example of each verb."""

import argparse
from collections.abc import Iterator
from functools import partial

from ricochet.flows import cli
from ricochet.flows.command_line import overview
from ricochet.flows.command_line.parser import LAYOUT

WIDTH = 90
"""Of a line of help."""

Parsers = dict[tuple[str, ...], argparse.ArgumentParser]
"""Of each verb by its words."""


def parsers() -> Parsers:
    """Return the parser of every verb, those of `study NAME` apart."""
    return dict(_below(cli.build_parser(), ()))


def text() -> str:
    """Return the sections of all verbs, in the order and groups of bare `ricochet`."""
    found = parsers()
    groups = dict(overview.GROUPS)
    named = {word for words in groups.values() for word in words}
    groups[overview.OTHERS] = tuple({words[0]: 0 for words in found if words[0] not in named})
    sections = (_group(group, words, found) for group, words in groups.items())
    return "\n".join(line for section in sections for line in section)


def _group(group: str, firsts: tuple[str, ...], among: Parsers) -> Iterator[str]:
    found = [(words, among[words]) for first in firsts for words in among if words[0] == first]
    if found:
        yield f"\n## {group.capitalize()}\n"
    for words, parser in found:
        parser.formatter_class = partial(LAYOUT, width=WIDTH)  # type: ignore[assignment]
        yield f"### ricochet {' '.join(words)}\n\n```text\n{parser.format_help().strip()}\n```\n"


def _below(
    parser: argparse.ArgumentParser, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Yield words and parser of every verb below one."""
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if above and not below:
        yield above, parser
    for action in below:
        for name, found in action.choices.items():
            yield from _below(found, (*above, name))
