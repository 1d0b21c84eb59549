"""What a verb of the command line is, one call of it, and what several verbs do."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.tasks.settings import Settings


@dataclass(frozen=True)
class Call:
    """One call of a verb.

    Attributes:
        publish: Whether DVC, MLflow and Prefect may be touched.
        report_line: Writes a line on the terminal.
    """

    arguments: argparse.Namespace
    settings: Settings
    out: Path
    seed: int
    publish: bool
    report_line: Callable[[str], None]

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
        only_publishes: Whether it is refused with `--no-publish`, since publishing is what it does.
        details: More for the help, in whole lines.
    """

    words: tuple[str, ...]
    summary: str
    example: str
    run: Callable[[Call], object]
    add_options: Callable[[argparse.ArgumentParser], object] = lambda parser: None
    only_publishes: bool = False
    details: str = ""


def prepare_servers() -> None:
    """Set what Prefect and MLflow read when they are imported."""
    from ricochet.flows.servers import up

    up.prepare_environment()


def write_result(folder: Path, result: Mapping[str, Any]) -> None:
    """Write `result.json`."""
    from ricochet.tasks.storage.files import write_json

    write_json(folder / "result.json", result)


def report_published(call: Call, digest: str | None) -> None:
    """Report under which digest recordings were published, if they were."""
    if digest is None:
        return
    from ricochet.tasks.recordings import dvc_publish

    changed = "; data.dvc has changed, to be committed by hand"
    call.report_line(f"published as {digest}{changed if dvc_publish.awaits_commit() else ''}")
