"""The study of the cup, small: the keys of its result, its figure, its progress."""

import json
from pathlib import Path
from typing import Any

import pytest

from ricochet.models.systems.bouncing_ball.prediction import cup_success
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.settings import Study
from ricochet.tasks.systems.bouncing_ball.studies import cup as study_of_cup
from ricochet.tasks.systems.interface import StudyRequest

BALLS = {"ping-pong", "tennis", "moon ball"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, list]:
    out, steps, plain = tmp_path_factory.mktemp("cup"), [], catalogue.load_settings()
    small = plain.changed(Study, drops=10, repeats=40)
    places = cup_success.positions(0.04)
    with pytest.MonkeyPatch().context() as patch:
        patch.setattr(cup_success, "positions", lambda: places)
        result = study_of_cup.run(StudyRequest(small, out, lambda *step: steps.append(step)))
    return result, out, steps


@pytest.mark.proof
def test_the_result_has_the_numbers_of_every_ball(study) -> None:
    result = study[0]
    assert set(result["balls"]) == BALLS and result["quick"] is False
    for row in result["balls"].values():
        assert 0 <= row["twin"] <= 100 and 0.0 <= row["predicted"] <= 100.0
        assert row["predicted_sd"] > 0.0 and row["deterministic"] in (0, 100)
        low, high = row["predicted_90"]
        assert 0 <= low <= row["predicted"] <= high <= 100
        table = row["map"]
        assert table["positions"] == cup_success.positions(0.04)[..., 0].size >= 30
        assert 0.0 <= table["inside_90"] <= 1.0 and table["expected_inside_90"] >= 0.9
        assert table["open"]["positions"] < table["positions"]
        assert table["sessions"]["count"] == 2


@pytest.mark.proof
def test_the_counts_lie_in_their_intervals(study) -> None:
    """Nine tenths and more are expected; 45 places share a posterior, so 0.75 allows for it."""
    for row in study[0]["balls"].values():
        assert row["map"]["sessions"]["inside_90"] > 0.75


@pytest.mark.proof
def test_the_paper_s_counts_are_named_as_such(study) -> None:
    assert study[0]["paper"]["real"] == {"ping-pong": 75, "moon ball": 35}
    assert "Section 4.3" in study[0]["paper"]["source"]


@pytest.mark.proof
def test_the_result_is_strict_json_beside_its_figure(study) -> None:
    json.dumps(study[0], allow_nan=False)
    assert (study[1] / "maps.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.proof
def test_progress_rises_to_its_end(study) -> None:
    done = [step for step, _ in study[2]]
    assert done == list(range(1, 7)) and study[2][-1] == (6, 6)
