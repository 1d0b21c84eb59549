"""Validating a pendulum's posterior: promoted, refused and rolled back, by its own recordings."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ricochet.flows import validate
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages, promotion, runs
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies import publish
from ricochet.tasks.systems.rigid_bodies.kinds import PENDULUM
from ricochet.tasks.systems.rigid_bodies.particle_packages import READER
from ricochet.tasks.systems.rigid_bodies.validation import validation
from ricochet.tasks.systems.rigid_bodies.validation.validation import VALIDATION
from ricochet.tasks.validation import judge, listing
from tests.flows.validations import PLAIN
from tests.models.systems.rigid_bodies import rods
from tests.tasks.systems.rigid_bodies import evidences, posteriors

NAME = "pendulum-lab"
SMALL = ["pendulum_gate.crossings=20", "pendulum_gate.futures=20"]
RESULT = {
    "rate": 400.0, "span": 0.5, "pieces": 1, "particles": 10, "fit_rmse": 0.02,
    "starts_at_best": 1.0, "mixing": 1.1, "rank": 8, "prediction_together": None,
}  # fmt: skip


@pytest.fixture
def rig(monkeypatch, tmp_path, empty_store):
    """The flow on a store of its own; what an audit finds is made up, once files were read."""
    found = SimpleNamespace(
        tracker=runs.connect(store=empty_store), evidence=evidences.evidence(1), read=[]
    )

    def audit(package, files, *_, **__):
        found.read.append(list(validation.recordings.read(package, files)))
        return found.evidence

    monkeypatch.setattr(promotion.promotion_log, "place", lambda: tmp_path / "promotions.jsonl")
    monkeypatch.setattr(validate.runs, "connect", lambda: found.tracker)
    monkeypatch.setattr(validation, "audit", audit)
    return found


def register(rig, place, seed):
    """Register a posterior of a recording; return its version and the recording."""
    folder = place / str(seed)
    folder.mkdir()
    file = posteriors.recorded(folder, 0.6, seed)
    made = replace(posteriors.package(rods.draws(20 + 10 * seed), [file]), name=NAME)
    packages.write_package(folder / "package", made, reader=READER)
    result = RESULT | {"files": {str(file): 241}}
    published = publish.publish_posterior(rig.tracker, NAME, folder, result, kind=PENDULUM)
    return published.result["registered"]["version"], file


def run(place, steps=PLAIN):
    return validate.run(validate.Request(NAME, settings(), place), steps)


def settings():
    return catalogue.load_settings(None, SMALL)


@pytest.mark.proof
def test_posteriors_are_promoted_refused_and_rolled_back(rig, tmp_path) -> None:
    """One story, since every store takes seconds to make."""
    version, file = register(rig, tmp_path, 1)
    result = run(tmp_path / "out")
    assert result["promoted"] and result["versions"] == {"candidate": version}
    assert rig.read == [[str(file)]]
    assert promotion.present(rig.tracker, NAME).champion == version == "1"
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == result
    assert VALIDATION.line(result).startswith("held-out pieces ")
    assert run(tmp_path / "out")["unchanged"]
    assert listing.detail(rig.tracker, NAME, PENDULUM).sessions == ("run-1.csv",)

    version, file = register(rig, tmp_path, 2)
    rig.evidence = evidences.evidence(1, stated=0.5)
    result = run(tmp_path / "out")
    refused = [check["name"] for check in result["gate"]["checks"] if not check["passed"]]
    assert "again, all widths" in refused and not result["promoted"]
    judged = judge.judge(rig.tracker, VALIDATION, Registered(NAME, version), settings=settings())
    assert judged.validation == result["run"] and not judged.verdict.passed

    rig.evidence = evidences.evidence(1)
    assert run(tmp_path / "out")["promoted"]
    assert promotion.present(rig.tracker, NAME) == promotion.AliasPair("2", "1")
    moved = promotion.rollback(rig.tracker, NAME, kind=PENDULUM, reason="a test")
    assert moved.pair == promotion.AliasPair("1", None)


@pytest.mark.slow
def test_a_recording_that_changed_or_is_away_is_one_line_and_moves_nothing(rig, tmp_path) -> None:
    version, file = register(rig, tmp_path, 1)
    kept = file.read_text()
    for change, found in (
        (lambda: file.write_text(kept + "0.1,0.2\n"), "recordings of digest"),
        (file.unlink, "found nothing, expected a recording of pendulum-lab version 1"),
    ):
        change()
        with pytest.raises(BadInput, match=found) as caught:
            run(tmp_path / "out")
        assert "\n" not in str(caught.value) and str(file) in str(caught.value)
        assert promotion.present(rig.tracker, NAME) == promotion.AliasPair(None, None)
    moved = tmp_path / "elsewhere.csv"
    moved.write_text(kept)
    registered = Registered(NAME, version)
    words = {"settings": settings(), "sessions": [moved]}
    assert judge.judge(rig.tracker, VALIDATION, registered, **words).validation == ""
    assert rig.read[-1] == [str(moved)]
