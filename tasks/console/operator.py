"""The operator at the terminal: asked before anything real moves, and asked to judge what happened.

A yes is a word that is not typed by chance; anything else, including the end of input, is a no.
What is kept of an operator is what was answered, and when.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ricochet.models.core.bad_input import BadInput

YES, NO, NONE, LATE = "yes", "no", "none", "too late"


class OperatorAbortError(RuntimeError):
    """The operator, or a failing device, aborted the work; the text is one line."""


@dataclass(frozen=True)
class Operator:
    """A human who can be asked.

    Attributes:
        read: Shows a text and returns the line typed; raises EOFError where there is none.
    """

    read: Callable[[str], str]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Answer:
    """What was answered to a question about motion (`yes`, `no`, `none` or `too late`), and when.

    Times are ISO 8601, UTC.
    """

    answer: str
    asked_at: str
    answered_at: str


def at_terminal() -> Operator:
    """Return the operator at this process's terminal; BadInput where there is none.

    Input or output is then a pipe, a file or that of a schedule's worker.
    """
    for name, stream in (("standard input", sys.stdin), ("standard error", sys.stderr)):
        if stream is None or not stream.isatty():
            expected = "a terminal with an operator at it: real motion is confirmed by hand"
            raise BadInput(name, "no terminal", expected)
    return Operator(_read, _show)


def confirm(
    operator: Operator,
    lines: Sequence[str],
    *,
    word: str,
    patience: float,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Ask whether something real may move.

    Args:
        lines: What will move, where, how fast, how often.
        word: What must be typed for a yes.
        patience: Time after which a yes no longer counts, s.
    """
    for line in lines:
        operator.say(line)
    asked_at, asked = _now(), clock()
    try:
        typed = operator.read(f"type {word} to let it move, anything else ends here: ")
        answer = YES if typed.strip() == word else NO
    except EOFError:
        answer = NONE
    if answer == YES and clock() - asked > patience:
        answer = LATE
    return Answer(answer, asked_at, _now())


def choose(operator: Operator, question: str, words: Sequence[str]) -> str:
    """Ask until one of some words, or an unambiguous prefix of one, is typed; return the word."""
    while True:
        typed = ask(operator, f"{question} [{', '.join(words)}] ").strip().lower()
        found = [word for word in words if typed and word.startswith(typed)]
        if len(found) == 1:
            return found[0]
        operator.say(f"found {typed!r}, expected one of {', '.join(words)}")


def ask(operator: Operator, text: str) -> str:
    """Show a text and return the line typed; OperatorAbortError at the end of input."""
    try:
        return operator.read(text)
    except EOFError as error:
        raise OperatorAbortError("operator: found the end of input, expected an answer") from error


def _read(text: str) -> str:
    _show(text, end="")
    if line := sys.stdin.readline():
        return line
    raise EOFError


def _show(line: str, *, end: str = "\n") -> None:
    """Show a line on standard error, so that standard output can be piped."""
    sys.stderr.write(line + end)
    sys.stderr.flush()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
