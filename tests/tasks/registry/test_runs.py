import logging
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


def test_a_run_of_another_key_that_a_server_answers_with_is_not_believed(tracker, monkeypatch):
    """Another ball's posterior would be put into it, and its package overwritten."""
    other = begin(tracker, "of another ball").run_id
    run = tracker.client.get_run(other)
    monkeypatch.setattr(tracker.client, "search_runs", lambda *_, **__: [run])
    assert tracking.find_run(tracker, "calibrate", "own") is None
    assert tracking.find_run(tracker, "calibrate", "of another ball").info.run_id == other


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


@pytest.mark.parametrize(
    ("code", "said"), [("PERMISSION_DENIED", ""), ("INVALID_PARAMETER_VALUE", "too large")]
)
def test_a_server_that_takes_no_description_ends_no_work(tracker, monkeypatch, capsys, code, said):
    def refuse(*_):
        raise RestException({"error_code": code, "message": "too large"})

    run = begin(tracker, "refused")
    monkeypatch.setattr(type(tracker.client), "set_experiment_tag", refuse)
    tracking.describe_experiment(tracker, run, "what it is")
    err = capsys.readouterr().err
    assert err.count("experiment calibrate is not described") == bool(said) and said in err
    monkeypatch.setattr(
        tracker.client,
        "get_experiment",
        lambda _: SimpleNamespace(name="refused", tags={tracking.DESCRIPTION: "what it is"}),
    )
    monkeypatch.setattr(type(tracker.client), "set_experiment_tag", lambda *_: 1 / 0)
    tracking.describe_experiment(tracker, run, "what it is")


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
