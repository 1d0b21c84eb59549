"""Options of the command line that are numbers within bounds."""

import argparse
import math
from collections.abc import Callable, Sequence
from functools import partial

from ricochet.models.core.printable_text import one_line
from ricochet.tasks.systems.interface import NumberOption

_DIGITS = 20
"""Of the longest whole number that is read."""


def add_numbers(numbers: Sequence[NumberOption], parser: argparse.ArgumentParser) -> None:
    """Add an option `--NAME VALUE` for each number."""
    for number in numbers:
        parser.add_argument(
            f"--{number.name.replace('_', '-')}",
            type=partial(_number, number),
            default=number.default,
            metavar=number.metavar,
            help=number.help,
        )


def given_numbers(numbers: Sequence[NumberOption], given: argparse.Namespace) -> dict[str, float]:
    """Return the values that were given or are the default, by name."""
    values = {each.name: getattr(given, each.name) for each in numbers}
    return {name: value for name, value in values.items() if value is not None}


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Return what reads a whole number within bounds, as `type` of an option."""

    def read(text: str) -> int:
        if text.isdecimal() and len(text) <= _DIGITS and low <= int(text) <= high:
            return int(text)
        expected = f"a whole number from {low} to {high}"
        raise argparse.ArgumentTypeError(f"{one_line(repr(text), longest=80)}, expected {expected}")

    return read


port = whole_number(0, 65535)
"""Reads a port, 0 for any that is free."""


def _number(option: NumberOption, text: str) -> float:
    low, high = option.within
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not low <= found <= high:
        raise argparse.ArgumentTypeError(
            f"{one_line(repr(text), longest=80)}, expected a number from {low:g} to {high:g}"
        )
    return found
