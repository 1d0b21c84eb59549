"""The challenge's tasks of the own half: played by an agent of their skills, counted, drawn."""

from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

from ricochet.models.core.progress import no_progress
from ricochet.models.systems.air_hockey.shot_outcome import Outcome
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.models.systems.air_hockey.strike_choice import Skill
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import agents
from ricochet.tasks.systems.air_hockey.studies import own_half, shot_journal
from ricochet.tasks.systems.air_hockey.studies.shot_journal import Player
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.trials import Played, Start
from ricochet.tasks.systems.interface import StudyRequest
from tests.tasks.systems.air_hockey import shooters

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


def test_every_task_is_played_calm_and_disturbed_by_an_agent_of_its_skill(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Marked apart from what the same policy plays in hitting."""
    settings, shooter = catalogue.load_settings(), shooters.shooter()
    asked: list[tuple[str, Disturbance, tuple[Start, ...], frozenset[Skill]]] = []

    def play(
        player: Player, begun: tuple[Start, ...], disturbance: Disturbance, progress: object
    ) -> list[Played]:
        asked.append((player.mark, disturbance, begun, player.make()._skills))
        return [replace(STOPPED, succeeded=False)] * len(begun)

    monkeypatch.setattr(Player, "play", play)
    player = Player(lambda: agents.make(shooter), "cautious 12", shot_journal.journal(tmp_path))
    request = StudyRequest(settings, tmp_path, no_progress, seed=3)
    whole = Disturbance(airflow=0.1, position_noise=2e-3)
    steps = iter([no_progress] * len(own_half.JOBS))
    found = own_half.run(player, shooter, settings, whole, request, 5, steps)
    calm = replace(whole, airflow=0.0, position_noise=0.0)
    assert [mark for mark, *_ in asked] == ["defend cautious 12"] * 2 + ["prepare cautious 12"] * 2
    assert [disturbance for _, disturbance, *_ in asked] == [calm, whole] * 2
    assert [each[3] for each in asked] == [{Skill.STOP}] * 2 + [{Skill.PUSH}] * 2
    for (_, _, begun, _), (task, _) in zip(asked, own_half.JOBS, strict=True):
        assert begun == trials.task_starts(task, 5, seed=own_half.SEED + 3)
    assert found["defend"]["calm"]["shots"] == 5 and found["prepare"]["disturbed"]["success"] == 0.0
