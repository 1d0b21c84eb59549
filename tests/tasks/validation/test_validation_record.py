"""A validation that somebody else made, or changed, is not believed."""

import json

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import runs
from ricochet.tasks.systems.air_hockey.validation import results
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult, Shot
from ricochet.tasks.systems.air_hockey.validation.validation import VALIDATION
from ricochet.tasks.validation import record
from ricochet.tasks.validation.contenders import Contenders
from tests.tasks.systems.air_hockey.validation.test_report import FOUND

NAME = "shooting-forged"
GOOD, BAD = Shot(True, 1.0, 0, 0), Shot(False, 0.0, 5, 1)


def result(shot: Shot) -> ShootingResult:
    return ShootingResult(NAME, "1", None, 7, {"airflow": 0.1}, {"candidate": (shot, shot)})


def find(tracker):
    return record.find(tracker, NAME, "1", None, read=results.from_json)


@pytest.fixture
def lab(empty_store, tmp_path, without_pictures):
    """A store with a version, and what its validation is called by."""
    tracker = runs.connect(store=empty_store)
    tracker.client.create_registered_model(NAME)
    tracker.client.create_model_version(NAME, source=tmp_path.as_uri())
    return tracker


def publish(tracker, files):
    found = result(BAD)
    made = VALIDATION.report(Contenders(NAME, {}, {}), FOUND, found)
    return record.publish(tracker, made, VALIDATION.judge(FOUND, found), files=files / "none")


def test_a_run_that_looks_like_a_validation_is_none(lab, tmp_path):
    """Who may write runs in the experiment gives it its tags, and better trials."""
    true = publish(lab, tmp_path)
    tags = record._compared(NAME, "1", None)
    forged = runs.open_run(lab, record.EXPERIMENT, "forged", name="forged", tags=tags)
    lab.client.log_dict(forged.run_id, results.to_json(result(GOOD)), record.TRIALS)
    runs.finish(lab, forged.run_id)
    assert find(lab) == (true.run_id, result(BAD))


def test_trials_that_were_changed_are_refused(lab, tmp_path):
    true = publish(lab, tmp_path)
    (tmp_path / record.TRIALS).write_text(json.dumps(results.to_json(result(GOOD))))
    lab.client.log_artifact(true.run_id, str(tmp_path / record.TRIALS))
    with pytest.raises(BadInput, match="found other trials"):
        find(lab)


def test_one_that_a_crash_cut_short_is_none_until_it_is_recorded(lab, tmp_path, monkeypatch):
    def crash(*words: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(runs, "finish", crash)
        publish(lab, tmp_path)
    assert find(lab) is None
    again = publish(lab, tmp_path)
    assert find(lab) == (again.run_id, result(BAD))
