"""An operator who is asked: a yes is a word, anything else is a no, and no answer is none."""

import io
import sys

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console import operator
from ricochet.tasks.console.operator import Operator, OperatorAbortError


def scripted(*answers):
    """An operator who types some lines and then leaves; and what is shown."""
    left, shown = list(answers), []

    def read(text):
        shown.append(text)
        if not left:
            raise EOFError
        return left.pop(0) + "\n"

    return Operator(read, shown.append), shown


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["192.0.2.1"], operator.YES),
        ([" 192.0.2.1 "], operator.YES),
        (["yes"], operator.NO),
        ([""], operator.NO),
        (["192.0.2.10"], operator.NO),
        ([], operator.NONE),
    ],
)
def test_only_the_word_is_a_yes(typed, answer):
    who, shown = scripted(*typed)
    given = operator.confirm(who, ["it moves"], word="192.0.2.1", patience=60.0)
    assert given.answer == answer and given.asked_at <= given.answered_at
    assert shown[0] == "it moves" and "type 192.0.2.1" in shown[1]


def test_a_yes_that_comes_too_late_is_none():
    times = iter((0.0, 61.0))
    who, _ = scripted("go")
    given = operator.confirm(who, [], word="go", patience=60.0, clock=lambda: next(times))
    assert given.answer == operator.LATE


def test_a_choice_is_asked_again_until_it_is_one_word():
    who, shown = scripted("perhaps", "s", "", "SP")
    assert operator.choose(who, "what?", ("touched", "spoilt", "stop")) == "spoilt"
    wrong = [line for line in shown if line.startswith("found")]
    assert wrong[0] == "found 'perhaps', expected one of touched, spoilt, stop" and len(wrong) == 3


def test_the_end_of_input_ends_a_choice_in_one_line():
    with pytest.raises(OperatorAbortError, match="found the end of input, expected an answer"):
        operator.choose(scripted()[0], "what?", ("a", "b"))


def test_without_a_terminal_no_operator_can_be_asked(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("192.0.2.1\n"))
    with pytest.raises(BadInput, match="standard input: found no terminal"):
        operator.at_terminal()


def test_at_a_terminal_lines_are_shown_and_read(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    typed, shown = Terminal("yes\n"), Terminal()
    monkeypatch.setattr(sys, "stdin", typed)
    monkeypatch.setattr(sys, "stderr", shown)
    who = operator.at_terminal()
    who.say("hello")
    assert who.read("really? ") == "yes\n" and shown.getvalue() == "hello\nreally? "
    with pytest.raises(EOFError):
        who.read("again? ")
