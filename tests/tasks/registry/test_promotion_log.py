"""The log of promotions: what it says of versions, and lines and files that mean nothing."""

import dataclasses
import itertools
import json
import os

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion_log
from ricochet.tasks.registry.promotion_log import DONE, PROMOTE, ROLLBACK, AliasPair, Entry
from ricochet.tasks.storage import limits

WHOLE = Entry(PROMOTE, "a", AliasPair("1", None), AliasPair("2", "1"), "", "")


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The log, in a folder of outputs of this test's own."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    return promotion_log.place()


def moves(*steps):
    """A log of done actions: its kind, and champion before and after."""
    return tuple(
        Entry(action, "a", AliasPair(before, None), AliasPair(after, None), "", "", step=DONE)
        for action, before, after in steps
    )


@pytest.mark.parametrize(
    ("steps", "away"),
    [
        ([], False),
        ([("promote", "1", "2")], False),
        ([("promote", "1", "2"), ("rollback", "2", "1")], True),
        ([("promote", "1", "2"), ("rollback", "2", "1"), ("promote", "1", "3")], True),
        ([("promote", "1", "2"), ("rollback", "2", "1"), ("promote", "1", "2")], False),
        ([("promote", "1", "2"), ("promote", "2", "3"), ("rollback", "3", "2")], False),
    ],
)
def test_a_version_is_rolled_back_until_something_puts_it_back(steps, away):
    """Version 2 in logs of what was done."""
    found = promotion_log.rolled_back(moves(*steps), "2")
    assert (found is not None) == away
    begun = Entry(PROMOTE, "a", AliasPair("1", None), AliasPair("2", "1"), "", "")
    assert (promotion_log.rolled_back((*moves(*steps), begun), "2") is not None) == away


def test_a_torn_line_is_passed_over_and_the_next_is_whole(log):
    pairs = (AliasPair(None, None), AliasPair("1", None))
    promotion_log.append(Entry(PROMOTE, "a", *pairs, "", ""))
    with log.open("ab") as file:
        file.write(b'{"action": "promote", "na')
    promotion_log.append(Entry(PROMOTE, "b", *pairs, "", ""))
    assert [entry.name for entry in promotion_log.read()] == ["a", "b"]
    assert promotion_log.read("b")[0].line.count("\n") == 0


@pytest.mark.parametrize(
    ("action", "half"), [(PROMOTE, AliasPair("1", "1")), (ROLLBACK, AliasPair("2", "0"))]
)
def test_an_action_leaves_what_was_and_what_is_wanted_and_one_pair_between(action, half):
    entry = Entry(action, "a", AliasPair("1", "0"), AliasPair("2", "1"), "", "")
    pairs = itertools.product((None, "0", "1", "2"), repeat=2)
    left = [pair for pair in itertools.starmap(AliasPair, pairs) if entry.leaves(pair)]
    assert left == sorted([entry.before, half, entry.after], key=dataclasses.astuple)


@pytest.mark.parametrize(
    "key", ["action", "step", "name", "from", "to", "previous", "identity", "registry", "when"]
)
@pytest.mark.parametrize("value", [7, [], {}, True, ["promote"]])
def test_a_line_that_means_nothing_is_passed_over(log, key, value):
    whole = Entry(PROMOTE, "a", AliasPair("1", None), AliasPair("2", "1"), "", "")
    promotion_log.append(whole)
    line = json.loads(log.read_text())
    log.write_text(json.dumps(line | {key: value}) + "\n")
    assert promotion_log.read() == ()
    promotion_log.append(whole)
    assert promotion_log.read() == (whole,)


def test_lines_that_are_no_entries_by_their_length_are_not_parsed(log):
    promotion_log.append(WHOLE)
    with log.open("ab") as file:
        file.write(b"\n" * 10**6 + b"[]," * limits.LOG_LINE + b"\n" + b"{}\n" * 10**6)
    promotion_log.append(WHOLE)
    assert len(promotion_log.lines(log)) == 2 and promotion_log.read() == (WHOLE, WHOLE)


def test_a_line_that_could_not_be_read_again_is_not_written(log):
    for reason in ("x" * 2000, "\u0436" * 2000):
        promotion_log.settle(promotion_log.append(dataclasses.replace(WHOLE, reason=reason)), DONE)
    assert len(promotion_log.read()) == 4
    with pytest.raises(BadInput, match="the reason: found 2800 characters"):
        promotion_log.append(dataclasses.replace(WHOLE, reason="\u0436" * 2800))
    assert len(promotion_log.read()) == 4


def test_what_begins_in_a_full_log_is_refused_and_what_has_begun_is_ended(log):
    begun = promotion_log.append(dataclasses.replace(WHOLE, step=promotion_log.BEGUN))
    with log.open("ab") as file:
        file.write(b"\n" * (limits.LOG - limits.LOG_LINE - log.stat().st_size))
    with pytest.raises(BadInput, match="found a full log"):
        promotion_log.append(begun)
    promotion_log.settle(begun, DONE)
    assert [entry.step for entry in promotion_log.read()] == [promotion_log.BEGUN, DONE]


def test_a_log_that_is_no_file_or_has_too_much_is_refused(log):
    log.parent.mkdir()
    os.mkfifo(log)
    with pytest.raises(BadInput, match="the log of promotions"):
        promotion_log.read()
    log.unlink()
    with log.open("wb") as file:
        file.truncate(limits.LOG + 1)
    with pytest.raises(BadInput, match="bytes"):
        promotion_log.read()
