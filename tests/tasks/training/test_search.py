"""A search proposes by number: the same on any number of processes, and nothing twice."""

import math
import os
import signal
import subprocess
import sys
import time
from functools import partial

import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console import jobs
from ricochet.tasks.general_settings import Search
from ricochet.tasks.storage import limits
from ricochet.tasks.training import search, trials
from tests.tasks.training import postgres

TRIALS = 14  # past the ten that TPE draws at random


def propose(trial):
    return {"x": trial.suggest_float("x", -1.0, 2.0), "n": trial.suggest_int("n", 1, 9)}


def value(chosen, progress) -> float:
    progress(1, 1)
    return (chosen["x"] - 0.5) ** 2 + 0.01 * chosen["n"]


def failing(chosen, progress) -> float:
    raise OSError("disk full")


def space(found=value):
    return search.Space("study", {"x": 1.0, "n": 3}, propose, found)


def tried(folder, **given):
    folder.mkdir(exist_ok=True)
    given = {"trials": TRIALS, "seed": 5} | given
    best = search.search(space(), folder, **given)
    found = search.completed("study", folder)
    assert best == min(found, key=lambda one: one.value)
    return found


def test_the_first_trial_has_the_settings_and_the_rest_none_twice(tmp_path) -> None:
    found = tried(tmp_path)
    assert found[0].chosen == {"x": 1.0, "n": 3}
    assert [one.number for one in found] == list(range(TRIALS))
    assert len({one.chosen["x"] for one in found}) == TRIALS


def test_a_search_that_is_taken_up_again_proposes_what_it_would_have(tmp_path) -> None:
    whole = tried(tmp_path / "whole")
    tried(tmp_path / "cut", trials=4)
    assert tried(tmp_path / "cut") == whole


@pytest.mark.slow
def test_a_batch_proposes_the_same_on_any_number_of_processes(tmp_path) -> None:
    rules = Search(batch=4, storage="")
    with jobs.running_on(jobs.in_this_process):
        alone = tried(tmp_path / "1", rules=rules)
    with jobs.running_on(partial(jobs.in_processes, workers=2)):
        assert tried(tmp_path / "2", rules=rules) == alone
    assert alone != tried(tmp_path / "3")


def other(params, state=TrialState.COMPLETE, value=-1.0):
    """A trial as another program may have written it."""
    wide = {"x": FloatDistribution(-1e9, 1e9), "n": IntDistribution(-10, 10**9)}
    kinds = {name: wide.get(name, wide["x"]) for name in params}
    return create_trial(state=state, params=params, distributions=kinds, value=value)


@pytest.mark.parametrize(
    "foreign",
    [
        other({"x": 0.5, "n": 10**7}),
        other({"x": -1.5, "n": 3}),
        other({"x": 0.5}),
        other({"x": 0.5, "n": 3, "epochs": 1e9}),
        other({"x": 0.5, "n": 3}, TrialState.PRUNED),
        other({}, TrialState.WAITING, value=None),
        other({"x": 0.5, "n": 3}, value=-math.inf),
        other({"epochs": 3}, TrialState.FAIL, value=None),
        create_trial(
            params={"x": 0.5, "n": 3},
            distributions={
                "x": FloatDistribution(0.1, 2.0, log=True),
                "n": IntDistribution(1, 9, log=True),
            },
            value=0.0,
        ),
    ],
)
def test_settings_that_the_search_does_not_propose_are_refused(tmp_path, foreign) -> None:
    """A journal of 3 kB had a network of five gigabytes trained."""
    before = tried(tmp_path, trials=2)
    study = optuna.load_study(study_name="study", storage=trials.journal(tmp_path))
    study.add_trial(foreign)
    with pytest.raises(BadInput, match=r"trial 2 with .*expected settings that this search"):
        search.search(space(), tmp_path, trials=3, seed=5)
    assert len(before) == 2


@pytest.mark.parametrize("directions", [["minimize", "minimize"], ["maximize"]])
def test_a_study_of_other_values_is_refused(tmp_path, directions) -> None:
    """With two objectives no trial was ever completed, and the search went on without end."""
    optuna.create_study(study_name="study", storage=trials.journal(tmp_path), directions=directions)
    with pytest.raises(BadInput, match=r"found a study that is to .*, expected to minimize"):
        search.search(space(), tmp_path, trials=1, seed=5)


def test_a_search_ends_whose_values_are_no_numbers(tmp_path) -> None:
    asked: list[float] = []

    def poor(chosen, progress) -> float:
        asked.append(chosen["x"])
        return math.nan if len(asked) != 5 else 1.0

    with pytest.raises(BadInput, match=f"found {search.BARREN} trials without a number as value"):
        search.search(space(poor), tmp_path, trials=2, seed=5)
    assert len(asked) == 5 + search.BARREN
    assert len(search.completed("study", tmp_path)) == 1


def test_settings_that_are_tried_first_may_lie_elsewhere(tmp_path) -> None:
    outside = search.Space("study", {"x": 5.0, "n": 3}, propose, value)
    for trials_ in (1, 2):
        best = search.search(outside, tmp_path, trials=trials_, seed=5)
    assert best.number == 1


@pytest.mark.parametrize("there", ["a pipe", "a link", "a folder", "too large"])
def test_a_journal_that_is_none_is_refused_at_once(tmp_path, monkeypatch, there) -> None:
    path = tmp_path / trials.JOURNAL
    match there:
        case "a pipe":
            os.mkfifo(path)
        case "a link":
            (tmp_path / "other").touch()
            path.symlink_to(tmp_path / "other")
        case "a folder":
            path.mkdir()
        case _:
            monkeypatch.setattr(limits, "JOURNAL", 1)
            path.write_text("{}")
    with pytest.raises(BadInput, match=r"search\.journal: found"):
        search.completed("a study", tmp_path)


@pytest.mark.parametrize(("limit", "found"), [("JOURNAL_LINES", "lines"), ("PARSED", "about")])
def test_a_journal_that_would_take_optuna_long_or_much_memory_is_refused(
    tmp_path, monkeypatch, limit, found
) -> None:
    """64 MiB of empty objects took over two gigabytes."""
    tried(tmp_path, trials=2)
    monkeypatch.setattr(limits, limit, 3)
    with pytest.raises(BadInput, match=rf"search\.journal: found {found}|found \d+ {found}"):
        search.search(space(), tmp_path, trials=3, seed=5)


@pytest.mark.parametrize(
    "text", ["garbage\n" * 3, "[" * 100_000 + "\n", '{"op_code": 99}\n', "[]\n", "{}\n"]
)
def test_a_journal_that_means_nothing_is_refused_in_a_line(tmp_path, text) -> None:
    (tmp_path / trials.JOURNAL).write_text(text)
    with pytest.raises(BadInput, match=r"search\.journal: found none: ") as error:
        search.completed("a study", tmp_path)
    assert "\n" not in str(error.value)


def test_a_lock_that_a_kill_left_in_a_folder_that_was_moved_holds_nothing_up(tmp_path) -> None:
    (tmp_path / f"{trials.JOURNAL}.lock").symlink_to(tmp_path / "where it was")
    assert len(tried(tmp_path, trials=1)) == 1
    (tmp_path / f"{trials.JOURNAL}.lock").mkdir()
    with pytest.raises(BadInput, match=r"search\.journal\.lock: found no link"):
        search.completed("a study", tmp_path)


def test_a_trial_that_fails_is_not_completed_and_leaves_none_running(tmp_path) -> None:
    with pytest.raises(OSError, match="disk full"):
        search.search(space(failing), tmp_path, trials=2, seed=0)
    assert search.completed("study", tmp_path) == ()
    assert tried(tmp_path)[0].chosen == {"x": 1.0, "n": 3}


@pytest.mark.parametrize(
    "address", ["sqlite:///a", "postgresql://u:geheim@h/d", "postgresql://h/d?password=geheim",
                "mysql://h/d", "postgresql://h", "geheim"],
)  # fmt: skip
def test_other_databases_and_passwords_are_refused_without_being_shown(address) -> None:
    with pytest.raises(BadInput, match=r"search\.storage") as refused:
        trials.check(address)
    assert "geheim" not in str(refused.value) or address == "geheim"


PROGRAM = """
import sys, time
from pathlib import Path
from ricochet.tasks.general_settings import Search
from ricochet.tasks.training import search, trials
from tests.tasks.training import test_search
trials.HEARTBEAT, trials.GRACE = 1, 8
pause, count = float(sys.argv[3]), int(sys.argv[4])
def value(chosen, progress):
    print("trying", flush=True)
    time.sleep(pause)
    return test_search.value(chosen, progress)
rules = Search(batch=1, storage=sys.argv[1])
print(search.search(test_search.space(value), Path(sys.argv[2]), trials=count, seed=5, rules=rules))
"""


@pytest.mark.proof
def test_two_processes_share_a_study_and_one_that_is_killed_costs_its_trial(
    tmp_path, monkeypatch
) -> None:
    """On a real server, whose password is in a file alone."""
    with postgres.server(tmp_path) as server:
        folders = [tmp_path / name for name in ("one", "two")]
        logs = [tmp_path / f"{folder.name}.log" for folder in folders]
        pauses, found = ("600", "0.1"), []
        for folder, log, pause in zip(folders, logs, pauses, strict=True):
            folder.mkdir()
            words = [sys.executable, "-c", PROGRAM, server.address, str(folder), pause, "6"]
            with log.open("w") as file:
                found.append(
                    subprocess.Popen(words, stdout=file, stderr=file, env=server.environment)
                )
            if len(found) == 1:
                wait(lambda: "trying" in logs[0].read_text())
        found[0].send_signal(signal.SIGKILL)
        found[0].wait()
        assert found[1].wait(300) == 0, logs[1].read_text()
        done = search.completed("study", folders[1])
        assert len(done) == 6
        assert len({one.chosen["x"] for one in done}) == 6
        assert server.password not in "".join(log.read_text() for log in logs)
        time.sleep(9.0)  # the grace of the trial that was killed
        monkeypatch.setenv("PGPASSFILE", server.environment["PGPASSFILE"])
        monkeypatch.setattr(trials, "GRACE", 8)
        tried(folders[0], trials=8, rules=Search(batch=1, storage=server.address))
        states = postgres.states(folders[0])
    assert states.count("COMPLETE") == 8 and states.count("FAIL") == 1
    assert len(states) == 9


def wait(true, seconds: float = 200.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)
