"""The study of shooting, whole but small: every row from the same starts, and pictures of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.arm import stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.policies import training_data
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.studies import rows, table_one
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.training.steps import TrainingRequest
from tests.tasks.systems.air_hockey import shooters


@pytest.fixture(scope="module")
def arm() -> Strokes:
    ends = ((0.75, 1.25), (-0.4, 0.4), (-0.6, 0.6))
    draw = np.random.default_rng(0)
    return stroke_table.build(counts=(4, 5, 5), ends=ends, steps=(60, 12), draw=draw)


@pytest.fixture
def policies(arm: Strokes) -> dict[str, Shooter]:
    return {
        setting.name: replace(shooters.shooter(setting=index), strokes=arm)
        for index, setting in enumerate(objective.SETTINGS)
    }


@pytest.mark.proof
def test_a_row_counts_what_was_played(policies: dict[str, Shooter]) -> None:
    """The conventional row needs no training: it scores, and the model says so beforehand."""
    settings = catalogue.load_settings(None, ["hockey.airflow=0", "hockey.position_noise=1e-4"])
    agent = rows.agent("conventional", policies, settings)
    starts = [
        start
        for start in trials.starts(25, seed=1)
        if abs(start.puck[1]) < 0.2 and start.puck[0] < -0.3
    ][:4]
    played = trials.play_all(lambda: agent, starts, disturbance_of(settings[Hockey]), workers=1)
    row = table_one.count(played, rows.conditions("conventional", policies, settings))
    goals = [each for each in played if each.outcome.scored]
    assert row["score"] == len(goals) / 4
    assert row["score"] >= 0.5
    low, high = row["score_interval"]
    assert low < row["score"] <= high
    assert row["speed_mean"] == pytest.approx(
        np.mean([each.outcome.speed_at_line for each in goals])
    )
    assert 0.0 < row["predicted"] <= 1.0
    assert sum(row["ended"].values()) == 4


def test_a_quick_study_keeps_contacts_and_strokes_and_is_small_in_all_else() -> None:
    whole = catalogue.load_settings()
    quick = table_one.shrunk(whole)
    requests = [TrainingRequest(each, Path("x"), 0) for each in (whole, quick)]
    for key in (training_data.modes_key, training_data.strokes_key):
        assert key(requests[0]) == key(requests[1])
    for name in ("states", "epochs", "held_out"):
        assert getattr(quick[Energies], name) < getattr(whole[Energies], name)
    assert quick[Hockey].shots == 10


def test_a_row_without_a_goal_has_no_speed() -> None:
    settings = catalogue.load_settings(None, [])
    policies = {s.name: shooters.shooter(setting=i) for i, s in enumerate(objective.SETTINGS)}
    row = table_one.count([], rows.conditions("cautious", policies, settings))
    assert row["score"] is None and row["speed_mean"] is None


@pytest.mark.proof
def test_the_study_has_its_rows_and_pictures(
    policies: dict[str, Shooter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_one, "policies", lambda *_: policies)
    monkeypatch.setattr(table_one, "TIMED", 1)
    monkeypatch.setattr(table_one, "CLOCKED", table_one.ROWS[:3])
    monkeypatch.setattr(table_one, "ROWS", table_one.ROWS[:5])
    settings = catalogue.load_settings(None, ["hockey.shots=1", "energy.candidates=40"])
    told: list[tuple[int, int]] = []
    found = table_one.run(
        StudyRequest(settings, tmp_path, lambda done, total: told.append((done, total)))
    )
    assert set(found["rows"]) == set(table_one.ROWS)
    assert found["shots"] == 1
    shares = [done / total for done, total in told]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert 0.0 < found["step_ms"]["median"] <= found["step_ms"]["p99"]
    assert found["disturbance"]["mallet_known"] is False
    for row in table_one.CLOCKED:
        assert found["rows"][row]["step_ms"]["median"] > 0.0
    for name in ("table.png", "crossings.png", "episode-cautious.png", "episode-aggressive.gif"):
        assert (tmp_path / name).stat().st_size > 1000
