"""A training makes its package once, goes on where it stopped, and registers what it made."""

import json
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import no_progress
from ricochet.models.systems.batting.belief.flights import Flight
from ricochet.tasks.registry import versions
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.batting import capture_impacts, packages, publish
from ricochet.tasks.systems.batting.kinds import BATTER
from ricochet.tasks.systems.batting.settings import Batting, LearntImpacts
from ricochet.tasks.systems.batting.system import SYSTEM
from ricochet.tasks.systems.batting.validation import play
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import TrainingRequest
from tests.tasks.systems.batting.impact_tables import written

PROCEDURE = SYSTEM.trainings[0].load()


@pytest.fixture
def asked(monkeypatch, without_pictures) -> dict[str, int]:
    """Impacts of a simulated table in place of the board's, and flights that are none."""
    counts = {"capture": 0, "flights": 0}

    def capture(folder: Path, **_) -> Path:
        counts["capture"] += 1
        return written(folder, 120)

    def fly(*_, **__) -> list[Flight]:
        counts["flights"] += 1
        return [Flight(0.2, 0.9, True, np.zeros(0))] * 9 + [Flight(2.0, 0.1, False, np.zeros(0))]

    monkeypatch.setattr(capture_impacts, "make", capture)
    monkeypatch.setattr(play, "follow_flights", fly)
    return counts


def request(out: Path, **changes) -> TrainingRequest:
    settings = catalogue.load_settings().changed(LearntImpacts, particles=100)
    return TrainingRequest(settings.changed(Batting, **changes) if changes else settings, out, 0)


def done(given: TrainingRequest) -> dict:
    return steps.run(PROCEDURE, given, lambda step: step.run(no_progress))


def test_a_training_makes_a_package_once(asked, tmp_path: Path) -> None:
    given = request(tmp_path)
    result = done(given)
    assert result["trained"] and result["filter"]["lost"] == 0.1
    assert packages.read(tmp_path / "package").law == packages.Law(**result["law"])
    checks = json.loads((tmp_path / "package" / "checks.json").read_text())
    assert checks["filter"]["coverage_90"] == 0.9
    assert checks["held_out"]["impacts"] == 60
    again = done(given)
    assert not again["trained"] and asked == {"capture": 1, "flights": 1}
    assert {k: v for k, v in again.items() if k != "trained"} == {
        k: v for k, v in result.items() if k != "trained"
    }
    assert PROCEDURE.metrics(result)["batting-board"]["filter_coverage_90"] == 0.9
    assert "10 flights" in PROCEDURE.lines(result, tmp_path)[-1]


@pytest.mark.proof
def test_it_goes_on_where_it_stopped_and_other_settings_are_another_training(
    asked, tmp_path: Path
) -> None:
    done(request(tmp_path))
    (tmp_path / "train.json").unlink()
    assert done(request(tmp_path))["trained"]
    assert asked == {"capture": 1, "flights": 2}
    assert done(request(tmp_path, flights=50))["trained"]
    (tmp_path / "package" / "checks.json").write_text("{}")
    assert done(request(tmp_path, flights=50))["trained"]
    assert done(request(tmp_path, impacts=150))["trained"]
    assert asked["capture"] == 2


@pytest.mark.proof
def test_a_table_that_is_not_the_captured_one_is_captured_again(asked, tmp_path: Path) -> None:
    first = done(request(tmp_path))
    (tmp_path / "lab").mkdir()
    recording = written(tmp_path / "lab", 100)
    assert done(request(tmp_path, recording=str(recording)))["impacts"] == 100
    assert done(request(tmp_path))["sha256"] == first["sha256"]
    assert asked["capture"] == 2
    table = tmp_path / "impacts.csv"
    table.write_text(table.read_text()[:100])
    assert done(request(tmp_path))["sha256"] == first["sha256"]
    assert asked["capture"] == 3


def test_a_recording_is_learnt_from_and_what_is_none_is_refused(asked, tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    file = written(tmp_path / "lab", 100)
    result = done(request(tmp_path / "out", recording=str(file)))
    assert result["impacts"] == 100 and asked["capture"] == 0
    for wrong in (tmp_path / "nothing.csv", tmp_path):
        with pytest.raises(BadInput, match=str(wrong)):
            done(request(tmp_path / "other", recording=str(wrong)))
    with pytest.raises(BadInput, match="small letters"):
        done(request(tmp_path / "other", set="A/B"))


def test_a_table_of_which_no_controller_is_made_is_refused(
    asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "WIDEST", 0.5)
    with pytest.raises(BadInput, match=r"found no package: .* expected impacts of the law"):
        done(request(tmp_path))
    assert not (tmp_path / "law.json").exists() and asked["flights"] == 0


def test_it_is_registered_once_and_its_table_is_found(asked, tracker, monkeypatch, tmp_path):
    monkeypatch.setattr(publish.runs, "connect", lambda: tracker)
    given = request(tmp_path)
    done(given)
    first, again = (PROCEDURE.publish(given, "") for _ in range(2))
    assert first == again
    assert first.result == {"registered": {"batting-board": "1"}}
    run = tracker.client.get_run(first.run_id)
    assert run.data.metrics["filter_coverage_90"] == 0.9
    found = versions.resolve(tracker, "batting-board", "candidate")
    assert versions.load(tracker, found, kind=BATTER).data_digest
    assert "restitution" in tracker.client.get_model_version("batting-board", "1").description
