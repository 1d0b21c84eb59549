"""Validating a batting controller: promoted, refused for what it plays, measured by its table."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.flows import validate
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting.belief.flights import Flight
from ricochet.tasks.registry import promotion, runs
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.batting import publish
from ricochet.tasks.systems.batting.validation import play
from ricochet.tasks.systems.batting.validation.results import BoardTrial
from ricochet.tasks.systems.batting.validation.validation import VALIDATION
from ricochet.tasks.validation import judge
from tests.flows.validations import PLAIN
from tests.tasks.systems.batting.impact_tables import result_of, written

NAME = "batting-board"
SMALL = ["batting_gate.trials=8", "batting_gate.seconds=10", "batting_gate.flights=10"]


@pytest.fixture
def rig(monkeypatch, tmp_path, empty_store):
    """The flow on a store of its own; how flights end and how often each row passes is made up."""
    found = SimpleNamespace(
        tracker=runs.connect(store=empty_store), passes={"ours": 5, "B": 1}, seen=[]
    )

    def trials(jobs, *_, **__):
        found.seen.append([(job.row, job.seed, job.number) for job in jobs])
        return [BoardTrial((found.passes[job.row] + job.number % 2,) * 9, 30, 0) for job in jobs]

    monkeypatch.setattr(promotion.promotion_log, "place", lambda: tmp_path / "promotions.jsonl")
    monkeypatch.setattr(validate.runs, "connect", lambda: found.tracker)
    monkeypatch.setattr(play, "play_trials", trials)
    flight = Flight(0.1, 0.9, True, np.zeros(0))
    monkeypatch.setattr(play, "follow_flights", lambda *_, **__: [flight] * 10)
    return found


def register(rig, place, seed):
    """Register what a table gave; return its version and the table."""
    folder = place / str(seed)
    folder.mkdir()
    file = written(folder, 200, seed)
    result = result_of(file, folder / "out", seed=seed, name=NAME)
    published = publish.publish_batter(rig.tracker, NAME, folder / "out", result)
    return published.result["registered"]["version"], file


def run(place):
    settings = catalogue.load_settings(None, SMALL)
    return validate.run(validate.Request(NAME, settings, place), PLAIN)


@pytest.mark.proof
def test_controllers_are_promoted_and_refused_by_what_they_play(rig, tmp_path) -> None:
    """One story, since every store takes seconds to make."""
    version, _ = register(rig, tmp_path, 1)
    result = run(tmp_path / "out")
    assert result["promoted"] and result["versions"] == {"candidate": version}
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == result
    assert "row B" in VALIDATION.line(result)
    assert rig.seen == [[(row, 0, number) for row in ("ours", "B") for number in range(8)]]
    assert run(tmp_path / "out")["unchanged"]

    version, _ = register(rig, tmp_path, 2)
    rig.passes = {"ours": 1, "B": 1}
    result = run(tmp_path / "out")
    refused = [check["name"] for check in result["gate"]["checks"] if not check["passed"]]
    assert refused == ["row B"] and not result["promoted"]
    settings = catalogue.load_settings(None, SMALL)
    judged = judge.judge(rig.tracker, VALIDATION, Registered(NAME, version), settings=settings)
    assert judged.validation == result["run"] and not judged.verdict.passed

    rig.passes = {"ours": 5, "B": 1}
    assert run(tmp_path / "out")["promoted"]
    assert promotion.present(rig.tracker, NAME) == promotion.AliasPair("2", "1")

    register(rig, tmp_path, 3)
    (tmp_path / "3" / "impacts.csv").unlink()
    with pytest.raises(BadInput, match="found nothing, expected a recording of batting-board"):
        run(tmp_path / "out")
