"""A package of the family is registered with its numbers, and a champion is followed as before."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from mlflow.exceptions import MlflowException

from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.champion import DAY, Champion
from ricochet.tasks.registry.packages import write_package
from ricochet.tasks.registry.sources import Folder
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.calibration import family_packages, publish
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    CalibrationRequest,
    CalibrationTarget,
    key,
)
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests.tasks.systems.bouncing_ball.calibration import family_cases

RESULT = {
    "registered": None,
    "takes": {"used": 10, "rejected": []},
    "mean": [0.85, 3.5],
    "covariance": [[1e-8, 0.0], [0.0, 1e-4]],
}


def calibrated(folder, package, answer, name="ball-felt"):
    """The files of a calibrated target, as `posterior.calibrate` leaves them."""
    named = replace(package, name=name)
    made = family_packages.packaged(named, answer, seed=0)
    write_package(folder / "package", made, reader=GRID)
    details = {
        "key": f"{folder}",
        "metrics": {"takes_used": 10.0} | family_packages.metrics(answer),
        "narrowing": [],
        "package_kind": made.kind,
    }
    (folder / "details.json").write_text(json.dumps(details))
    np.savez(folder / "samples.npz", theta=np.full((10, 2), 0.8))
    return CalibrationTarget("ball-felt", (folder / "s",), folder, "0" * 32)


@pytest.mark.parametrize("kind", ["family", "grid"])
def test_the_version_holds_the_kind_and_the_run_its_numbers(tracker, tmp_path, package, kind):
    answer = family_cases.answer(1) if kind == "family" else None
    target = calibrated(tmp_path, package, answer)
    request = CalibrationRequest(catalogue.load_settings(), tmp_path)
    result, run = publish.publish_target(tracker, target, request, RESULT)
    registered = versions.Registered(**result["registered"])
    assert versions.resolve(tracker, "ball-felt") == registered
    assert versions.load(tracker, registered, kind=POSTERIOR).kind == kind
    found = tracker.client.get_run(run.run_id).data
    assert found.params["package_kind"] == kind
    description = found.tags["mlflow.note.content"]
    assert "| ball-felt | 0.85000 +- 0.00010 | 3.500 +- 0.010 | 10 |" in description
    assert f"get-artifact?path=figures/posterior.png&run_uuid={run.run_id}" in description
    assert ("whole_takes_drag_per_m_sd" in found.metrics) == (kind == "family")
    experiment = tracker.client.get_experiment(run.experiment_id)
    assert experiment.tags["mlflow.note.content"] == publish.PURPOSE
    again, _ = publish.publish_target(tracker, target, request, RESULT)
    assert again == result


def pair(name, folder, package, request, number):
    """A calibrated pair of the name, whose results name their key as a calibration does."""
    place = folder / name
    place.mkdir()
    target = replace(calibrated(place, package, None, name), name=name, digest=f"{number}" * 32)
    details = json.loads((place / "details.json").read_text())
    (place / "details.json").write_text(json.dumps(details | {"key": key(target, request)}))
    mean = {"mean": [0.8 + 0.01 * number, 3.0 + number]}
    (place / "result.json").write_text(json.dumps(RESULT | mean))
    return target


def test_a_result_is_registered_where_its_version_is_and_in_no_other_registry(
    tracker, empty_store, tmp_path, package
):
    """A version of the same number there is of other recordings."""
    request, other = (
        CalibrationRequest(catalogue.load_settings(), tmp_path),
        runs.connect(store=empty_store),
    )
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    here = pair("c-felt", tmp_path / "here", package, request, 3)
    there = pair("c-felt", tmp_path / "there", package, request, 4)
    result, _ = publish.publish_target(tracker, here, request, RESULT)
    assert publish.is_registered(tracker, here, request, result)
    assert not publish.is_registered(other, here, request, result)
    elsewhere, _ = publish.publish_target(other, there, request, RESULT)
    assert elsewhere["registered"] == result["registered"]
    assert not publish.is_registered(other, here, request, result)
    second, _ = publish.publish_target(other, here, request, RESULT)
    assert second["registered"]["version"] == "2"
    assert not publish.is_registered(other, here, request, result)
    assert publish.is_registered(other, here, request, second)


def test_an_earlier_result_that_is_found_again_is_not_the_candidate(
    tracker, tmp_path, package, monkeypatch
):
    request = CalibrationRequest(catalogue.load_settings(), tmp_path)
    results = []
    for number in (3, 4, 3):
        (folder := tmp_path / str(len(results))).mkdir()
        target = pair("c-felt", folder, package, request, number)
        results.append(publish.publish_target(tracker, target, request, RESULT)[0])
    assert [each["registered"]["version"] for each in results] == ["1", "2", "1"]
    monkeypatch.setattr(publish.runs, "connect", lambda: tracker)
    entries = {"c-felt": {"result": results[-1]}, "d-felt": {"result": RESULT}}
    assert publish.candidates(entries) == {"c-felt": "2"}

    def away():
        raise MlflowException("no answer")

    monkeypatch.setattr(publish.runs, "connect", away)
    assert publish.candidates(entries) == {}


def test_pairs_are_compared_in_one_run_with_table_and_figure_above_theirs(
    tracker, tmp_path, package
):
    request = CalibrationRequest(catalogue.load_settings(), tmp_path)
    targets = [
        pair(name, tmp_path, package, request, k) for k, name in enumerate(("a-felt", "b-felt"))
    ]
    for target in targets:
        result = json.loads((target.folder / "result.json").read_text())
        publish.publish_target(tracker, target, request, result)
        if target is targets[0]:
            assert publish.publish_comparison(tracker, targets, request) is None
    run = publish.publish_comparison(tracker, targets, request)
    found = tracker.client.get_run(run.run_id)
    assert found.info.run_name == "all pairs" and found.info.status == "FINISHED"
    table, figure = found.data.tags["mlflow.note.content"].split("\n\n")
    assert [row.split("|")[1].strip() for row in table.splitlines()[2:]] == ["a-felt", "b-felt"]
    assert "| b-felt | 0.81000 +- 0.00010 | 4.000 +- 0.010 | 10 |" in table
    assert f"get-artifact?path={publish.COMPARISON}&run_uuid={run.run_id}" in figure
    kept = tracker.client.list_artifacts(run.run_id, "figures")
    assert [each.path for each in kept] == [publish.COMPARISON]
    below = f"tags.`mlflow.parentRunId` = '{run.run_id}'"
    children = tracker.client.search_runs([run.experiment_id], below)
    assert {child.info.run_name for child in children} == {"a-felt", "b-felt"}
    assert publish.publish_comparison(tracker, targets, request).run_id == run.run_id


def test_what_is_withheld_is_recorded_and_not_registered(tracker, tmp_path, package):
    target = replace(calibrated(tmp_path, package, None, "felt-felt"), name="felt-felt")
    request = CalibrationRequest(catalogue.load_settings(), tmp_path)
    aside = [{"file": f"{number}", "reason": "loud"} for number in range(10)]
    found = RESULT | {"takes": {"used": 10, "rejected": aside}}
    result, run = publish.publish_target(tracker, target, request, found)
    assert result["registered"] is None and "10 of 20 takes" in result["withheld"]
    assert versions.resolve(tracker, "felt-felt") is None
    assert tracker.client.get_run(run.run_id).info.status == "FINISHED"
    anyway, _ = publish.publish_target(tracker, target, replace(request, anyway=True), found)
    assert anyway["registered"] is not None and "withheld" not in anyway


def test_a_champion_of_the_family_takes_over_from_one_of_the_grid(tmp_path, package):
    package = replace(package, name="ball-felt")
    write_package(tmp_path / "source" / "ball-felt", package, reader=GRID)
    source = Folder(tmp_path / "source")
    held = Champion("ball-felt", source, tmp_path / "kept", kind=POSTERIOR, oldest=DAY)
    assert held.refresh() and held.current(now=time.time()).package.kind == "grid"
    family = family_packages.packaged(package, family_cases.answer(1), seed=0)
    write_package(tmp_path / "source" / "ball-felt", family, reader=GRID)
    assert held.refresh()
    draws = contact_package.contact_draws(held.current(now=time.time()).package)
    assert len(draws.drag) == family_cases.SAMPLES
