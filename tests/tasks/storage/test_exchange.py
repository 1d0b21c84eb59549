"""Folders exchanged together: after a kill at any step all old, all new, or refused and undone."""

import os

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
    (packages / "new").unlink()
    packages.rmdir()
    aside.rename(packages)
    exchange.undo_killed(state, nothing)
    assert found(places) == [OLD, OLD] and not is_refused(state)


def test_what_somebody_made_in_the_place_since_is_left_there(tmp_path, monkeypatch):
    packages, state = places = ready(tmp_path, "state")
    killed_halfway(places, monkeypatch, after=1)
    (noted,) = [move for move in exchange._noted(state) if move.place == state]
    state.rename(noted.aside)
    assert found(places) == [NEW, NOTHING]
    state.mkdir()
    (state / "mine").write_text("mine")
    exchange.undo_killed(state, nothing)
    assert found([packages, state, noted.aside]) == [NOTHING, {"mine"}, OLD]


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
