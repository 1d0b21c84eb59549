"""What a verb of the command line is, one call of it, and what several verbs do."""

import argparse
import enum
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.printable_text import one_line
from ricochet.tasks.settings import Settings


class Takes(enum.Flag):
    """The options that verbs share; a verb offers those that mean something for it."""

    SETTINGS = enum.auto()
    """`--params` and `--set`."""
    SEED = enum.auto()
    OUT = enum.auto()
    NO_PUBLISH = enum.auto()
    JSON = enum.auto()


RESULT = Takes.OUT | Takes.JSON
"""Of a verb that writes `result.json`."""
COMPUTES = RESULT | Takes.SETTINGS | Takes.SEED
"""Of a verb that computes with settings and randomness and publishes nothing."""
SERVERS = "starting MLflow and Prefect ..."
ALL = COMPUTES | Takes.NO_PUBLISH


@dataclass(frozen=True)
class Call:
    """One call of a verb; what it does not take has its default.

    Attributes:
        publish: Whether DVC, MLflow and Prefect may be touched.
        report_line: Writes a line of the answer on the terminal.
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

    def stated_settings(self) -> str:
        """Return the words that lay settings over params.yaml, for a command that follows."""
        given = self.arguments
        words = [] if given.params is None else ["--params", str(given.params)]
        words += [word for each in given.overrides for word in ("--set", each)]
        return f" {shlex.join(words)}" if words else ""

    def report_next(self, command: str) -> None:
        """Say which command a user may want after this one."""
        self.report_line(f"next: {one_line(command, longest=4000)}")


class Ended(SystemExit):
    """The end of a verb with a status of its own, after which its result is printed all the same.

    Attributes:
        result: What `--json` prints.
    """

    def __init__(self, status: int, result: Mapping[str, Any]) -> None:
        """End with a status."""
        super().__init__(status)
        self.result = result


Words = Callable[[], Sequence[str]]


def complete_by(action: argparse.Action, words: Words) -> None:
    """Let a shell complete an argument by some words, asked for when its script is made."""
    action.words = words  # type: ignore[attr-defined]


def words_of(action: argparse.Action) -> Words | None:
    """Return what `complete_by` left at an argument."""
    return getattr(action, "words", None)


@dataclass(frozen=True)
class Verb:
    """A verb.

    Attributes:
        words: The words after `ricochet`.
        run: Does it; returns what `--json` prints, None standing for `result.json` in its folder.
        details: More for the help, in whole lines.
        takes: The shared options that it offers.
        instead: An option of its own that may stand for the last of its words.
        anywhere: Whether it reads nothing where it starts, and may start where others write.
        unfinished: Whether it may start where a restore to the outputs was killed before its end.
    """

    words: tuple[str, ...]
    summary: str
    example: str
    run: Callable[[Call], Mapping[str, Any] | None]
    add_options: Callable[[argparse.ArgumentParser], object] = lambda parser: None
    details: str = ""
    takes: Takes = ALL
    instead: str = ""
    anywhere: bool = False
    unfinished: bool = False


def prepare_servers(announced: str = SERVERS, *, registry: bool = True) -> None:
    """Set what Prefect and MLflow read when they are imported, and say that this takes a moment.

    Args:
        registry: Whether it is read or written: who records does so without a lab's servers too.

    Raises:
        BadInput: As `up.prepare_environment` and `lab_state.refuse_without_servers` say.
    """
    from ricochet.flows.servers import up
    from ricochet.tasks.console.progress import announce
    from ricochet.tasks.registry import lab_state
    from ricochet.tasks.storage.provenance import artifacts

    announce(announced)
    up.prepare_environment()
    if registry:
        lab_state.refuse_without_servers(artifacts())


def write_result(folder: Path, result: Mapping[str, Any]) -> None:
    """Write `result.json`."""
    from ricochet.tasks.storage.files import write_json

    write_json(folder / "result.json", result)


def write_metrics(folder: Path, metrics: Mapping[str, Any]) -> None:
    """Write `metrics.json`, the few numbers by which results are compared."""
    from ricochet.tasks.storage.files import write_json

    write_json(folder / "metrics.json", metrics)


def report_published(call: Call, digest: str | None) -> None:
    """Report under which digest recordings were published, if they were."""
    if digest is None:
        return
    from ricochet.tasks.recordings import dvc_publish

    changed = "; data.dvc has changed, to be committed by hand"
    call.report_line(f"published as {digest}{changed if dvc_publish.awaits_commit() else ''}")
