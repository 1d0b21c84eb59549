"""Whoever sits at the terminal: asked before anything real moves, told what to do, believed.

A yes is a word that nobody types by chance; anything else is a no. An end of input is no answer,
and no answer is a no. What is kept of a person is what was answered, and when.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ricochet.models.core.bad_input import BadInput

YES, NO, NONE, LATE = "yes", "no", "none", "too late"


class EndedError(RuntimeError):
    """A person, or what happened, ended the work before its time; the text is one line."""


@dataclass(frozen=True)
class Person:
    """Somebody who can be asked.

    Attributes:
        read: Shows a text and returns the line typed; raises EOFError where there is none.
        say: Shows a line.
    """

    read: Callable[[str], str]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Answer:
    """What was answered to a question about motion.

    Attributes:
        answer: `yes`, `no`, `none` or `too late`.
        asked_at: When it was asked, ISO 8601, UTC.
        answered_at: When the answer came.
    """

    answer: str
    asked_at: str
    answered_at: str


def at_terminal() -> Person:
    """Return the person at this process's terminal.

    Raises:
        BadInput: If there is none: input or output is a pipe, a file or a schedule's worker.
    """
    for name, stream in (("standard input", sys.stdin), ("standard error", sys.stderr)):
        if stream is None or not stream.isatty():
            expected = "a terminal with a person at it: real motion is confirmed by hand"
            raise BadInput(name, "no terminal", expected)
    return Person(_read, _say)


def confirm(
    person: Person,
    lines: Sequence[str],
    *,
    word: str,
    patience: float,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Ask whether something real may move.

    Args:
        person: Who is asked.
        lines: What will move, where, how fast, how often.
        word: What must be typed for a yes.
        patience: Time after which a yes no longer counts, s.
        clock: Seconds of the wall.

    Returns:
        The answer.
    """
    for line in lines:
        person.say(line)
    asked_at, asked = _now(), clock()
    try:
        typed = person.read(f"type {word} to let it move, anything else ends here: ")
        answer = YES if typed.strip() == word else NO
    except EOFError:
        answer = NONE
    if answer == YES and clock() - asked > patience:
        answer = LATE
    return Answer(answer, asked_at, _now())


def choose(person: Person, question: str, words: Sequence[str]) -> str:
    """Ask until one of some words is typed, or so much of one that no other begins like it.

    Args:
        person: Who is asked.
        question: The question.
        words: The words.

    Returns:
        The word.

    Raises:
        EndedError: If the input ended.
    """
    while True:
        typed = ask(person, f"{question} [{', '.join(words)}] ").strip().lower()
        found = [word for word in words if typed and word.startswith(typed)]
        if len(found) == 1:
            return found[0]
        person.say(f"found {typed!r}, expected one of {', '.join(words)}")


def ask(person: Person, text: str) -> str:
    """Ask for a line.

    Args:
        person: Who is asked.
        text: What is shown.

    Returns:
        The line.

    Raises:
        EndedError: If the input ended.
    """
    try:
        return person.read(text)
    except EOFError as error:
        raise EndedError("person: found the end of input, expected an answer") from error


def _read(text: str) -> str:
    _show(text)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _say(line: str) -> None:
    _show(line + "\n")


def _show(text: str) -> None:
    """Show a text beside whatever standard output is piped to."""
    sys.stderr.write(text)
    sys.stderr.flush()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
