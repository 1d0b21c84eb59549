"""The challenge's tasks of the own half: played by an agent of their skills, counted, drawn."""

from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

from ricochet.models.systems.air_hockey.shot_outcome import Outcome
from ricochet.tasks.systems.air_hockey.studies import own_half
from ricochet.tasks.systems.air_hockey.validation.trials import Played, Start

OUTCOME = Outcome(False, "time", nan, nan, 0, 0.4, 1, 0.2, 0.0, 0.0, (0.0, 0.0), ())
STOPPED = Played(
    Start((0.4, 0.0, -1.2, 0.0, 0.0), (1, 2), task="defend"), OUTCOME, (), (), (), succeeded=True
)


def test_a_task_is_counted_with_what_went_wrong() -> None:
    """Three of four, with the exact interval of that."""
    lost = replace(STOPPED, outcome=replace(OUTCOME, ended="out", strikes=0), succeeded=False)
    broken = replace(STOPPED, outcome=replace(OUTCOME, violations=("joint speed",)))
    found = own_half.count((STOPPED, lost, broken, replace(STOPPED, faults=("shot: none",))))
    assert found["success"] == 0.75 and found["shots"] == 4
    assert found["success_interval"] == pytest.approx([0.194, 0.994], abs=1e-3)
    assert (found["own_goals"], found["never_struck"]) == (1, 1)
    assert (found["constraint_violations"], found["faults"]) == (1, 1)


def test_nothing_is_drawn_of_a_task_that_never_succeeded(tmp_path: Path) -> None:
    failed = replace(STOPPED, succeeded=False)
    own_half.picture(None, "defend", [failed], None, tmp_path)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
