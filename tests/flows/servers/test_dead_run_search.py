"""The process beside `up` closes dead runs, again and again, whatever a server answers."""

import os
import subprocess

import pytest

from ricochet.flows.servers import dead_run_search
from ricochet.tasks.registry import runs
from tests.tasks.registry.test_abandoned_runs import abandon


def test_it_searches_so_often_and_ends(monkeypatch):
    waited, found = [], []
    monkeypatch.setattr(dead_run_search.time, "sleep", waited.append)
    monkeypatch.setattr(dead_run_search.prefect_settings, "of_the_environment", lambda: None)
    monkeypatch.setattr(dead_run_search, "settle", lambda: found.append(len(waited)))
    dead_run_search.search(3, 60.0)
    assert found == [1, 2, 3] and waited == [0.0, 60.0, 60.0]


def test_a_server_that_does_not_answer_is_asked_later(monkeypatch, capsys):
    monkeypatch.setattr("ricochet.flows.dead_runs.settle", lambda: 1 / 0)
    dead_run_search.settle()
    assert "looked for again later: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.slow
def test_the_process_closes_what_another_left_and_says_so(empty_store, tmp_path):
    tracker = runs.connect(store=empty_store)
    run = abandon(tracker, "orphan")
    own = {"MLFLOW_TRACKING_URI": tracker.uri, "PREFECT_HOME": str(tmp_path / "prefect")}
    done = subprocess.run(
        dead_run_search.command(1, 60.0),
        env={**os.environ, **own, "RICOCHET_ARTIFACTS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert f"repaired: run {run}: left RUNNING by a process that is gone" in done.stderr
    assert tracker.client.get_run(run).info.status == "KILLED"
