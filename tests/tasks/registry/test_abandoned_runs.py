"""Runs that a killed process left open: closed where they are one's own, whatever others leave."""

import functools
import subprocess
import sys

import pytest
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INTERNAL_ERROR, PERMISSION_DENIED

from ricochet.tasks.registry import abandoned_runs
from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.registry.runs import AUTHOR, PROCESS


def begin(tracker, key):
    return tracking.open_run(tracker, "calibrate", key, name="a pair", tags={})


def abandon(tracker, key, **tags):
    """Make a run whose process is gone; return its id."""
    run_id = begin(tracker, key).run_id
    host = tracker.client.get_run(run_id).data.tags[PROCESS].split()[0]
    for name, value in {PROCESS: f"{host} {2**22 + 1} 1", **tags}.items():
        tracker.client.set_tag(run_id, name, value)
    return run_id


def test_only_runs_of_a_process_that_is_gone_are_closed(tracker):
    alive, orphan, foreign = (begin(tracker, key).run_id for key in ("alive", "orphan", "foreign"))
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    host, _, started, *_ = tracker.client.get_run(alive).data.tags[PROCESS].split()
    tracker.client.set_tag(orphan, PROCESS, f"{host} {int(gone.stdout)} {started}")
    tracker.client.set_tag(foreign, PROCESS, f"elsewhere {int(gone.stdout)} {started}")
    assert abandoned_runs.close(tracker) == [orphan]
    assert tracker.client.get_run(orphan).info.status == "KILLED"
    assert tracker.client.get_run(alive).info.status == "RUNNING"


def test_runs_of_others_hide_no_abandoned_one(tracker, monkeypatch):
    """They fill the first page, or name a process that is none."""
    abandoned = begin(tracker, "abandoned").run_id
    host = tracker.client.get_run(abandoned).data.tags[PROCESS].split()[0]
    tracker.client.set_tag(abandoned, PROCESS, f"{host} {2**22 + 1} 1")
    for number in ("9" * 4700, "1", "x"):
        tags = {PROCESS: f"{host} {number}"}
        run = tracker.client.create_run("0", tags=tags, run_name=number[:9])
        if number == "1":
            tracker.client.delete_tag(run.info.run_id, PROCESS)
    few = functools.partial(tracker.client.search_runs, max_results=1)
    monkeypatch.setattr(tracker.client, "search_runs", few)
    assert abandoned_runs.close(tracker) == [abandoned]


def test_of_very_many_runs_of_one_experiment_the_latest_are_looked_at(tracker, monkeypatch):
    """Sixty thousand, which one account made, had `up` read for ten minutes."""
    monkeypatch.setattr(abandoned_runs, "PAGE", 2)
    monkeypatch.setattr(abandoned_runs, "MOST_OPEN", 4)
    abandoned = begin(tracker, "abandoned").run_id
    host = tracker.client.get_run(abandoned).data.tags[PROCESS].split()[0]
    gone = {PROCESS: f"{host} {2**22 + 1} 1"}
    tracker.client.set_tag(abandoned, PROCESS, gone[PROCESS])
    many = tracker.client.create_experiment("many")
    made = [
        tracker.client.create_run(many, start_time=each + 1, tags=gone, run_name="a").info.run_id
        for each in range(7)
    ]
    assert set(abandoned_runs.close(tracker)) == {abandoned, *made[3:]}
    assert set(abandoned_runs.close(tracker)) == set(made[:3])


def test_a_process_number_used_again_by_another_process_counts_as_gone(tracker):
    run_id = begin(tracker, "recycled").run_id
    host, number, *_ = tracker.client.get_run(run_id).data.tags[PROCESS].split()
    tracker.client.set_tag(run_id, PROCESS, f"{host} {number} 1")
    assert run_id in abandoned_runs.close(tracker)


@pytest.mark.parametrize("asks", ["", "alice", "bob"])
def test_runs_of_other_accounts_are_not_read(tracker, monkeypatch, asks):
    """A hundred, as large as may be, had `up` ask for a minute by the administrator's login."""
    if asks:
        monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", asks)
    own = abandon(tracker, "own")
    written = {name: abandon(tracker, name, **{AUTHOR: name}) for name in ("alice", "carol")}
    found, search = [], tracker.client.search_runs

    def searched(*arguments, **named):
        page = search(*arguments, **named)
        found.extend(run.info.run_id for run in page)
        return page

    monkeypatch.setattr(tracker.client, "search_runs", searched)
    closed = {own, written["alice"]} if asks == "alice" else {own}
    assert set(abandoned_runs.close(tracker)) == closed
    assert set(found) & {own, *written.values()} == closed


@pytest.mark.parametrize("ending", ["set_terminated", "delete_run"])
def test_a_run_that_ends_as_it_is_looked_at_stays_as_it_ended(tracker, monkeypatch, ending):
    """Its process finishes it and exits between the listing and the look at the process."""
    run, left = abandon(tracker, ending, **{PROCESS: "its own"}), []

    def finish(process):
        if process != "its own":
            return False
        getattr(tracker.client, ending)(run)
        left.append(tracker.client.get_run(run).info.status)
        return True

    monkeypatch.setattr(abandoned_runs.process_ids, "is_gone", finish)
    assert abandoned_runs.close(tracker) == []
    assert left == [tracker.client.get_run(run).info.status]


@pytest.mark.parametrize("code", [PERMISSION_DENIED, INTERNAL_ERROR])
def test_what_an_account_may_not_close_stays_open(tracker, monkeypatch, code):
    abandon(tracker, "of the administrator")

    def deny(run_id, **state):
        raise MlflowException("denied", error_code=code)

    monkeypatch.setattr(tracker.client, "set_terminated", deny)
    if code == PERMISSION_DENIED:
        assert abandoned_runs.close(tracker) == []
    else:
        with pytest.raises(MlflowException, match="denied"):
            abandoned_runs.close(tracker)
