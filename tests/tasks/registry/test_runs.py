import functools
import logging
import subprocess
import sys
from types import SimpleNamespace

import pytest
from mlflow.exceptions import RestException

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import runs as tracking

DIGEST = "0123456789abcdef0123456789abcdef.dir"


def begin(tracker, key):
    return tracking.open_run(tracker, "calibrate", key, name="a pair", tags={"data": DIGEST})


def test_a_finished_run_is_found_again_and_nothing_is_added(tracker):
    first = begin(tracker, "finished")
    tracking.finish(tracker, first.run_id)
    second = begin(tracker, "finished")
    assert (first.finished, second.finished) == (False, True)
    assert second.run_id == first.run_id
    runs = tracker.client.search_runs([first.experiment_id], "tags.`ricochet.key` = 'finished'")
    assert len(runs) == 1


def test_a_failed_run_is_taken_up_under_its_own_id(tracker):
    first = begin(tracker, "failed")
    tracking.fail(tracker, first.run_id)
    second = begin(tracker, "failed")
    assert second.run_id == first.run_id
    assert not second.finished
    assert tracker.client.get_run(first.run_id).info.status == "RUNNING"


def test_an_experiment_that_was_made_through_a_server_is_bad_input(tracker):
    tracker.client.create_experiment("served", artifact_location="mlflow-artifacts:/7")
    with pytest.raises(BadInput, match=r"experiment 'served'.*expected one made by a verb"):
        tracking.open_run(tracker, "served", "a", name="a", tags={})


def test_another_key_is_another_run(tracker):
    assert begin(tracker, "one").run_id != begin(tracker, "two").run_id


def test_numbers_and_the_pointer_to_recordings_return(tracker):
    run_id = begin(tracker, "numbers").run_id
    tracking.log_numbers(tracker, run_id, parameters={"seed": 7}, metrics={"restitution": 0.85})
    tracking.log_recordings(tracker, run_id, name="pairs", digest=DIGEST, source="data")
    run = tracker.client.get_run(run_id)
    assert run.data.params == {"seed": "7"}
    assert run.data.metrics == {"restitution": 0.85}
    assert [entry.dataset.digest for entry in run.inputs.dataset_inputs] == [DIGEST]


def test_only_runs_of_a_process_that_is_gone_are_closed(tracker):
    alive, orphan, foreign = (begin(tracker, key).run_id for key in ("alive", "orphan", "foreign"))
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    host, _, started = tracker.client.get_run(alive).data.tags[tracking.PROCESS].split()
    tracker.client.set_tag(orphan, tracking.PROCESS, f"{host} {int(gone.stdout)} {started}")
    tracker.client.set_tag(foreign, tracking.PROCESS, f"elsewhere {int(gone.stdout)} {started}")
    assert tracking.close_abandoned(tracker) == [orphan]
    assert tracker.client.get_run(orphan).info.status == "KILLED"
    assert tracker.client.get_run(alive).info.status == "RUNNING"


def test_runs_of_others_hide_no_abandoned_one(tracker, monkeypatch):
    """They fill the first page, or name a process that is none."""
    abandoned = begin(tracker, "abandoned").run_id
    host = tracker.client.get_run(abandoned).data.tags[tracking.PROCESS].split()[0]
    tracker.client.set_tag(abandoned, tracking.PROCESS, f"{host} {2**22 + 1} 1")
    for number in ("9" * 4700, "1", "x"):
        tags = {tracking.PROCESS: f"{host} {number}"}
        run = tracker.client.create_run("0", tags=tags, run_name=number[:9])
        if number == "1":
            tracker.client.delete_tag(run.info.run_id, tracking.PROCESS)
    few = functools.partial(tracker.client.search_runs, max_results=1)
    monkeypatch.setattr(tracker.client, "search_runs", few)
    assert tracking.close_abandoned(tracker) == [abandoned]


def test_of_very_many_runs_of_one_experiment_the_latest_are_looked_at(tracker, monkeypatch):
    """Sixty thousand, which one account made, had `up` read for ten minutes."""
    monkeypatch.setattr(tracking, "PAGE", 2)
    monkeypatch.setattr(tracking, "MOST_OPEN", 4)
    abandoned = begin(tracker, "abandoned").run_id
    host = tracker.client.get_run(abandoned).data.tags[tracking.PROCESS].split()[0]
    gone = {tracking.PROCESS: f"{host} {2**22 + 1} 1"}
    tracker.client.set_tag(abandoned, tracking.PROCESS, gone[tracking.PROCESS])
    many = tracker.client.create_experiment("many")
    made = [
        tracker.client.create_run(many, start_time=each + 1, tags=gone, run_name="a").info.run_id
        for each in range(7)
    ]
    assert set(tracking.close_abandoned(tracker)) == {abandoned, *made[3:]}
    assert set(tracking.close_abandoned(tracker)) == set(made[:3])


def test_a_process_number_used_again_by_another_process_counts_as_gone(tracker):
    run_id = begin(tracker, "recycled").run_id
    host, number, _ = tracker.client.get_run(run_id).data.tags[tracking.PROCESS].split()
    tracker.client.set_tag(run_id, tracking.PROCESS, f"{host} {number} 1")
    assert run_id in tracking.close_abandoned(tracker)


@pytest.mark.parametrize("printed", [False, True])
def test_no_name_of_a_run_is_printed(tracker, capfd, monkeypatch, printed):
    """MLflow's client writes the names of those that it ends at a server, escapes and all."""
    from mlflow.tracking._tracking_service import client

    run = tracker.client.create_run("0", run_name="\x1b]0;title\x07")
    service = tracker.client._tracking_client
    host = SimpleNamespace(host="http://127.0.0.1:9")
    monkeypatch.setattr(client, "RestStore", object)
    monkeypatch.setattr(service.store, "get_host_creds", lambda: host, raising=False)
    if printed:
        monkeypatch.delenv("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT")
    service._log_url(run.info.run_id)
    assert ("title" in capfd.readouterr().out) == printed


def test_an_experiment_says_what_its_runs_are(tracker):
    run = begin(tracker, "described")
    for text in ("once", "again"):
        tracking.describe_experiment(tracker, run, text)
        found = tracker.client.get_experiment(run.experiment_id)
        assert found.tags[tracking.DESCRIPTION] == text


@pytest.mark.parametrize("connected", [False, True])
def test_what_a_server_writes_in_a_refusal_is_not_logged(tmp_path, connected):
    """MLflow logs an error code that it does not know as it came, escapes and lines and all."""
    log, heard = logging.getLogger("mlflow.exceptions"), []
    handler = logging.Handler()
    handler.emit = heard.append
    log.addHandler(handler)
    log.setLevel(logging.NOTSET)
    if connected:
        tracking.connect(f"sqlite:///{tmp_path / 'mlflow.db'}")
    RestException({"error_code": "\x1b]0;evil\x07\nnext: ls", "message": "x"})
    log.removeHandler(handler)
    assert bool(heard) != connected
