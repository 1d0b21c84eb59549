"""Options of the command line that are numbers within bounds."""

import argparse
import math
from collections.abc import Sequence
from functools import partial

from ricochet.tasks.systems.interface import NumberOption


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


def _number(option: NumberOption, text: str) -> float:
    low, high = option.within
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not low <= found <= high:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a number from {low:g} to {high:g}")
    return found
