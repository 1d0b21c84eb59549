"""What a verb of the command line is, and one call of it."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.tasks.settings import Settings


@dataclass(frozen=True)
class Call:
    """One call of a verb.

    Attributes:
        arguments: The command line, parsed.
        settings: All settings, overrides applied.
        out: Folder of the results.
        seed: Seed of all randomness.
        publish: Whether DVC, MLflow and Prefect may be touched.
        say: Says a line to the person at the terminal.
    """

    arguments: argparse.Namespace
    settings: Settings
    out: Path
    seed: int
    publish: bool
    say: Callable[[str], None]

    def parameters(self) -> dict[str, Any]:
        """Return what every flow takes, as values that JSON can hold."""
        params = self.arguments.params
        return {
            "out": str(self.out),
            "seed": self.seed,
            "params": None if params is None else str(params.resolve()),
            "overrides": list(self.arguments.overrides),
        }


@dataclass(frozen=True)
class Verb:
    """A verb.

    Attributes:
        words: The words after `ricochet`.
        summary: What it does, for the help.
        example: A worked example.
        add_options: Adds its own options to its parser.
        run: Does it.
        only_publishes: Whether it is refused with `--no-publish`, since publishing is what it does.
    """

    words: tuple[str, ...]
    summary: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Call], object]
    only_publishes: bool = False
