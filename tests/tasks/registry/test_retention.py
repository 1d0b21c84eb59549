"""Old runs go; what a version, the log, or a run that stays refers to does not."""

import dataclasses
import time

import pytest

from ricochet.tasks.registry import promotion_log, retention, runs
from ricochet.tasks.registry.promotion_log import AliasPair, Entry

DAY = 86400.0


@pytest.fixture
def tracker(empty_store, monkeypatch, tmp_path):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return runs.connect(store=empty_store)


def made(tracker, name, *, experiment="validate", days=100.0, parent=None):
    """Make a run with a file that ended so many days ago; None: it is open."""
    tags = {} if parent is None else {retention.PARENT: parent}
    run = runs.open_run(tracker, experiment, name, name=name, tags=tags).run_id
    tracker.client.log_text(run, "text", "file.txt")
    if days is not None:
        ended = int(1000.0 * (time.time() - days * DAY))
        tracker.client.set_terminated(run, "FINISHED", end_time=ended)
    return run


def register(tracker, run, **tags):
    if not tracker.client.search_registered_models("name = 'a'"):
        tracker.client.create_registered_model("a")
    tracker.client.create_model_version("a", f"runs:/{run}/package", run_id=run, tags=tags)


def test_only_old_runs_that_nothing_names_go_and_a_second_time_none(tracker, empty_store):
    names = ["refused", "of a version", "validation", "logged", "parent", "recent", "open", "other"]
    days = {"recent": 1.0, "open": None}
    kinds = {"other": "density"}
    found = {
        name: made(
            tracker, name, days=days.get(name, 100.0), experiment=kinds.get(name, "validate")
        )
        for name in names
    }
    found["child"] = made(tracker, "child", parent=found["parent"])
    found["child of recent"] = made(tracker, "child of recent", parent=found["recent"])
    found["parent of recent"] = made(tracker, "parent of recent")
    found["old child"] = made(tracker, "old child", parent=found["parent of recent"])
    made(tracker, "grandchild", parent=found["old child"], days=1.0)
    found["lone parent"] = made(tracker, "lone parent")
    found["lone child"] = made(tracker, "lone child", parent=found["lone parent"])
    register(tracker, found["of a version"], validation=f"see {found['validation']}")
    register(tracker, found["child"])
    pair = AliasPair("1", None)
    promotion_log.append(Entry("promote", "a", AliasPair(None, None), pair, found["logged"], ""))
    gone = {"refused", "lone parent", "lone child"}
    listed = [run.run_id for run in retention.old_runs(tracker, days=30.0)]
    assert sorted(listed) == sorted(found[name] for name in gone)
    assert retention.remove(tracker, days=30.0) == 3
    for name, run in found.items():
        assert tracker.client.get_run(run).info.lifecycle_stage == (
            "deleted" if name in gone else "active"
        ), name
        files = list(empty_store.rglob(f"{run}/artifacts/file.txt"))
        assert len(files) == (name not in gone), name
    assert retention.remove(tracker, days=30.0) == 0


def test_runs_that_are_each_other_s_parents_go_together():
    heads = {"a": "b", "b": "c", "c": "b", "d": "a", "alone": "alone", "e": "of another"}
    found = [retention.KeptRun(name, head, 0, "") for name, head in heads.items()]
    assert sorted(map(sorted, retention._families(found))) == [
        ["a", "b", "c", "d"],
        ["alone"],
        ["e", "of another"],
    ]


def test_files_that_a_store_says_are_elsewhere_are_never_removed(tracker, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    tracker.client.create_experiment("validate", artifact_location=elsewhere.as_uri())
    run = made(tracker, "refused")
    assert list(elsewhere.rglob("file.txt"))
    assert retention.remove(tracker, days=30.0) == 0
    assert list(elsewhere.rglob("file.txt"))
    assert tracker.client.get_run(run).info.lifecycle_stage == "active"


def test_runs_of_other_accounts_are_neither_read_nor_removed(tracker, monkeypatch):
    """A thousand, as large as may be, had a night begin minutes late."""
    own, another = made(tracker, "own"), made(tracker, "of another")
    tracker.client.set_tag(another, runs.AUTHOR, "alice")
    assert [run.run_id for run in retention._all_runs(tracker)] == [own]
    assert retention.remove(tracker, days=30.0) == 1
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "alice")
    assert retention.remove(tracker, days=30.0) == 1


def test_a_run_that_failed_long_ago_and_is_open_again_stays(tracker):
    run = made(tracker, "taken up")
    tracker.client.set_terminated(run, "FAILED", end_time=int(1000.0 * (time.time() - 100 * DAY)))
    made(tracker, "child of it", parent=run)
    assert runs.open_run(tracker, "validate", "taken up", name="a", tags={}).run_id == run
    assert retention.remove(tracker, days=30.0) == 0


def test_little_is_kept_of_a_run_whose_server_says_much_of_it():
    run = retention.KeptRun("a" * 32, "a" * 32, 0, "/files")
    assert retention._is_short(run)
    assert not retention._is_short(dataclasses.replace(run, place="/" * (retention.LONGEST + 1)))
