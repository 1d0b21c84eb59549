"""Folders exchanged together: after a kill at any step all old, all new, or refused and undone."""

import json
import os
import shutil
from pathlib import Path

import pytest

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import exchange
from tests.crash import kill

OLD, NEW, NOTHING = {"old"}, {"new"}, set()


def places_in(folder):
    return [folder / "packages", folder / "state"]


def ready(folder, *there):
    """Return two places, those named with something in them, beside which the new is made."""
    for place in places_in(folder):
        if place.name in there:
            place.mkdir(parents=True)
            (place / "old").write_text("old")
        exchange.staged(place).mkdir(parents=True)
        (exchange.staged(place) / "new").write_text("new")
    return places_in(folder)


def found(places):
    """Return what each place holds, but for what the exchange notes."""
    names = [{each.name for each in place.glob("*")} for place in places]
    return [each - {exchange.NOTED} for each in names]


def is_refused(state):
    try:
        exchange.refuse_unfinished(state)
    except BadInput:
        return True
    return False


def exchanged(places):
    with exchange.exchanged(places) as asides:
        return asides


def nothing():
    """Refuse nothing."""


@pytest.mark.parametrize("there", [("packages", "state"), ("packages",), ("state",), ()])
def test_a_kill_at_any_step_leaves_all_new_or_what_is_refused_and_undone(tmp_path, there):
    refused = []

    def run(number):
        exchanged(ready(tmp_path / str(number), *there))

    for number in kill.at_every_step(tmp_path, run):
        places = places_in(tmp_path / str(number))
        if not exchange.staged(places[-1]).exists() and found(places) != [NEW, NEW]:
            continue  # not all was made
        old = [OLD if place.name in there else NOTHING for place in places]
        refused.append(is_refused(places[-1]))
        assert refused[-1] or found(places) in (old, [NEW, NEW])
        before = found(places)
        exchange.undo_killed(places[-1], nothing)
        assert found(places) == (old if refused[-1] else before)
    assert refused.count(True) >= 4 and not refused[-1]


def killed_halfway(places, monkeypatch, after):
    """Be killed when some of the renamings are done."""
    put, done = exchange._put, []

    def doomed(move):
        if len(done) == after:
            kill.now()
        done.append(put(move))

    with monkeypatch.context() as patched:
        patched.setattr(exchange, "_put", doomed)
        kill.forked(lambda: exchanged(places))


def test_an_undoing_that_is_killed_at_any_step_is_undone_by_the_next(tmp_path, monkeypatch):
    def run(number):
        exchange.undo_killed(tmp_path / str(number) / "state", nothing)

    for number in range(1, 40):
        places = ready(tmp_path / str(number), "packages", "state")
        killed_halfway(places, monkeypatch, after=1)
        assert found(places) == [NEW, OLD]
    for number in kill.at_every_step(tmp_path, run):
        places = places_in(tmp_path / str(number))
        exchange.undo_killed(places[-1], nothing)
        assert found(places) == [OLD, OLD]


def test_the_line_names_the_way_back_and_what_went_it_by_hand_is_left_alone(tmp_path, monkeypatch):
    packages, state = places = ready(tmp_path, "packages", "state")
    killed_halfway(places, monkeypatch, after=1)
    (aside,) = tmp_path.glob("packages.before-*")
    made = exchange.staged(state)
    with pytest.raises(BadInput, match=f"again, or {aside} as {packages} and no {made}"):
        exchange.refuse_unfinished(state)
    shutil.rmtree(packages)
    aside.rename(packages)
    exchange.undo_killed(state, nothing)
    assert found(places) == [OLD, OLD] and not is_refused(state)


def test_what_somebody_made_in_the_place_since_is_left_there_and_said(tmp_path, monkeypatch):
    """The note was removed: what was there lay aside, and nothing named it any more."""
    packages, state = places = ready(tmp_path, "state")
    killed_halfway(places, monkeypatch, after=1)
    (noted,) = [move for move in exchange._noted(state) if move.place == state]
    state.rename(noted.aside)
    assert found(places) == [NEW, NOTHING]
    state.mkdir()
    (state / "mine").write_text("mine")
    for _ in range(2):
        with pytest.raises(
            BadInput, match=f"{state}: found something .*renames {noted.aside} back"
        ):
            exchange.undo_killed(state, nothing)
        assert found([packages, state, noted.aside]) == [NOTHING, {"mine"}, OLD]
        with pytest.raises(BadInput, match=f"{noted.aside} as {state}"):
            exchange.refuse_unfinished(state)
        exchange.clear(places)
    state.rename(tmp_path / "elsewhere")
    exchange.undo_killed(state, nothing)
    assert found(places) == [NOTHING, OLD] and not is_refused(state)


@pytest.mark.parametrize("lay", [Path.touch, lambda path: path.symlink_to("nowhere")])
def test_nothing_is_renamed_over_a_file_or_a_link(tmp_path, monkeypatch, lay):
    _, state = ready(tmp_path, "state")
    killed_halfway([state], monkeypatch, after=0)
    (noted,) = exchange._noted(state)
    state.rename(noted.aside)
    lay(state)
    with pytest.raises(BadInput, match=f"found something .*renames {noted.aside} back"):
        exchange.undo_killed(state, nothing)
    assert os.path.lexists(state) and found([noted.aside]) == [OLD]


def test_what_lies_in_the_way_of_an_error_s_undoing_leaves_the_note(tmp_path):
    _, state = ready(tmp_path, "state")

    def fail(asides):
        state.rename(tmp_path / "elsewhere")
        state.mkdir()
        (state / "mine").write_text("mine")
        (tmp_path / "elsewhere").rename(exchange.staged(state))
        raise OSError("the database is gone")

    with pytest.raises(BadInput, match="found something"), exchange.exchanged([state]) as asides:
        fail(asides)
    exchange.clear([state])
    assert found([state, asides[state]]) == [{"mine"}, OLD] and is_refused(state)


def test_what_was_written_where_it_was_put_is_kept(tmp_path, monkeypatch):
    packages, state = places = ready(tmp_path, "packages", "state")
    killed_halfway(places, monkeypatch, after=1)
    (packages / "mine").write_text("mine")
    (kept,) = exchange.undo_killed(state, nothing)
    assert found([*places, kept]) == [OLD, OLD, NEW | {"mine"}]
    assert {path.name for path in tmp_path.iterdir()} == {
        "packages",
        "state",
        ".state.lock",
        kept.name,
    }


@pytest.mark.parametrize("how", ["copied", "moved"])
@pytest.mark.parametrize("after", [0, 1])
def test_a_note_is_of_what_was_copied_or_moved_with_it(tmp_path, monkeypatch, how, after):
    """A restore in a copy renamed, and removed, what lay in the original."""
    first, second = tmp_path / "first", tmp_path / "second"
    original, places = ready(first, "packages", "state"), places_in(second)
    killed_halfway(original, monkeypatch, after=after)
    if how == "copied":
        shutil.copytree(first, second)
        exchange.undo_killed(original[-1], nothing)
        exchanged(ready(first))
        assert found(original) == [NEW, NEW]
    else:
        first.rename(second)
    with pytest.raises(BadInput, match=f" no {exchange.staged(places[-1])}") as refused:
        exchange.refuse_unfinished(places[-1])
    assert str(first) not in str(refused.value)
    exchange.undo_killed(places[-1], nothing)
    assert found(places) == [OLD, OLD] and not is_refused(places[-1])
    assert found(original) == ([NEW, NEW] if how == "copied" else [NOTHING, NOTHING])


def test_a_copy_of_a_note_that_names_folders_apart_is_refused(tmp_path, monkeypatch):
    first, second = tmp_path / "first" / "state", tmp_path / "second" / "state"
    packages, _ = ready(tmp_path, "packages")
    ready(first.parent, "state")
    killed_halfway([packages, first], monkeypatch, after=1)
    shutil.copytree(first.parent, second.parent)
    (aside,) = tmp_path.glob("packages.before-*")
    named = f"{packages} as it was .it may be {aside}., and no {exchange.staged(second)}"
    for refusing in (exchange.refuse_unfinished, lambda _: exchange.undo_killed(second, nothing)):
        with pytest.raises(BadInput, match=f"copied: it was to {first}, .*{named}"):
            refusing(second)
        assert found([packages, first, second]) == [NEW, OLD, OLD]
    exchange.undo_killed(first, nothing)
    assert found([packages, first]) == [OLD, OLD]


def test_a_copy_of_a_note_beside_another_place_is_refused(tmp_path, monkeypatch):
    places = ready(tmp_path, "packages", "state")
    killed_halfway(places, monkeypatch, after=1)
    other = tmp_path / "other"
    shutil.copytree(exchange.staged(places[-1]), exchange.staged(other))
    with pytest.raises(BadInput, match=f"moved or copied: it was to {places[-1]}, "):
        exchange.undo_killed(other, nothing)
    assert found([*places, other]) == [NEW, OLD, NOTHING]


def test_a_note_is_of_its_place_by_another_path_too(tmp_path, monkeypatch):
    packages, _ = ready(tmp_path, "packages")
    _, state = ready(tmp_path / "lab", "state")
    killed_halfway([packages, state], monkeypatch, after=1)
    (tmp_path / "link").symlink_to("lab")
    exchange.undo_killed(tmp_path / "link" / "state", nothing)
    assert found([packages, state]) == [OLD, OLD]


def test_what_was_there_and_is_nowhere_is_said(tmp_path, monkeypatch):
    packages, state = places = ready(tmp_path, "packages", "state")
    killed_halfway(places, monkeypatch, after=1)
    (aside,) = tmp_path.glob("packages.before-*")
    aside.rename(tmp_path / "away")
    with pytest.raises(BadInput, match=f"{aside} as {packages}"):
        exchange.refuse_unfinished(state)
    with pytest.raises(
        BadInput, match=f"{aside}: found nothing, expected there what was {packages}"
    ):
        exchange.undo_killed(state, nothing)
    assert found(places) == [NEW, OLD] and is_refused(state)


OLDER = {"moves": [["/state", "/state.before-20261130T160000", 7]]}
FOREIGN = {"made": "a", "main": "/state", "moves": [["state", "../state.before-20261130T160000"]]}

EMPTY, ENDED = {**FOREIGN, "moves": []}, {**FOREIGN, "moves": [["a\0", None], ["state", None]]}


@pytest.mark.parametrize("note", [{}, OLDER, FOREIGN, EMPTY, ENDED, ""])
def test_a_note_that_cannot_be_followed_is_said_and_moves_nothing(tmp_path, note):
    _, state = ready(tmp_path, "state")
    aside = state.rename(tmp_path / "state.before-20261130T160000")
    (exchange.staged(state) / exchange.NOTED).write_text(json.dumps(note) if note != "" else "")
    named = f"by hand what was there .it may be {aside}. as {state}, and no"
    for refusing in (exchange.refuse_unfinished, lambda _: exchange.undo_killed(state, nothing)):
        with pytest.raises(BadInput, match=rf"{exchange.KILLED}.*{named}"):
            refusing(state)
    exchange.clear([state])
    assert found([state, aside]) == [NOTHING, OLD] and is_refused(state)


def test_while_the_lock_is_held_it_is_not_called_killed(tmp_path):
    state = ready(tmp_path, "state")[-1]
    with (
        locks.hold(exchange.lock_of(state)),
        pytest.raises(BadInput, match="being put back, expected none"),
    ):
        exchange.refuse_unfinished(state)
    exchange.refuse_unfinished(state)  # nothing was renamed


@pytest.mark.parametrize("what", ["a stranger's", "a link", "a file"])
def test_what_a_stranger_lays_beside_refuses_and_moves_nothing(tmp_path, monkeypatch, what):
    state = ready(tmp_path, "state")[-1]
    laid = exchange.staged(state)
    (laid / exchange.NOTED).write_text("{}")
    if what == "a stranger's":
        monkeypatch.setattr(exchange.os, "geteuid", lambda: os.getuid() + 1)
    else:
        laid.rename(tmp_path / "apart")
        laid.symlink_to("apart") if what == "a link" else laid.touch()
    exchange.refuse_unfinished(state)
    exchange.undo_killed(state, nothing)
    assert found([state]) == [OLD]
