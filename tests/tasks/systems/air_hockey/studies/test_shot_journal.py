"""A study of shots that was stopped goes on; what other code, packages or settings played does not
count."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.simulator import CALM, Disturbance
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan
from ricochet.tasks.storage import provenance
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.studies import shot_journal
from ricochet.tasks.systems.air_hockey.studies.shot_journal import Player
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.trials import Played, Start
from tests.models.systems.air_hockey import simple_agents
from tests.tasks.systems.air_hockey import shooters

STARTS = tuple(Start((-0.65, y, 0.0, 0.0), (3, k)) for k, y in enumerate((0.0, 0.01, -0.01)))
CONTACT = Contact(iiwa.HOME, np.full(7, 0.1), 0.6, 0.3, iiwa.HOME, 0.2)


class Straight(simple_agents.Straight):
    """Says that it struck."""

    faults = ("struck blindly",)
    strike_plans = (StrikePlan(0.06, 0.1, CONTACT, np.arange(6.0), 0.02),)


class StoppedError(Exception):
    """Stops a study."""


class Counting:
    """Makes agents, and is stopped at one of them."""

    def __init__(self, most: int = 100) -> None:
        self.made, self.most = 0, most

    def __call__(self) -> Straight:
        self.made += 1
        if self.made > self.most:
            raise StoppedError
        return Straight()


def play(make: Callable[[], Straight], folder: Path, mark: str = "row a") -> list[Played]:
    player = Player(make, mark, shot_journal.journal(folder))
    return player.play(STARTS, CALM, lambda done, total: None, workers=1)


def policies() -> dict[str, Shooter]:
    return {s.name: shooters.shooter(setting=i) for i, s in enumerate(objective.SETTINGS)}


def plain(played: list[Played]) -> list[str]:
    """All but the times of the steps, NaN being the same as NaN."""
    return [json.dumps({**shot_journal.encode(each), "steps": len(each.steps)}) for each in played]


def test_a_study_that_was_stopped_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    whole, again = tmp_path / "whole", tmp_path / "again"
    for folder in (whole, again):
        folder.mkdir()
    expected = play(Counting(), whole)
    with pytest.raises(StoppedError):
        play(Counting(most=2), again)
    file = again / shot_journal.FILE
    file.write_text(file.read_text() + '{"job": {"start"')
    rest = Counting()
    found = play(rest, again)
    assert rest.made == 1
    assert plain(found) == plain(expected)
    for number in (0, 1):
        a, b = found[number], expected[number]
        assert (a.start, a.faults, a.outcome.launch) == (b.start, b.faults, b.outcome.launch)
        np.testing.assert_array_equal(a.strike_plans[0].puck, b.strike_plans[0].puck)
    later = Counting()
    assert [each.steps for each in play(later, again)] == [each.steps for each in found]
    assert later.made == 0


@pytest.mark.proof
def test_times_are_of_now(tmp_path: Path) -> None:
    """A row that was played before is played again to be timed, and not noted."""
    make = Counting()
    player = Player(make, "row a", shot_journal.journal(tmp_path))
    for _ in range(2):
        player.time(STARTS, CALM, lambda done, total: None)
    assert make.made == 2 * len(STARTS)
    assert not (tmp_path / shot_journal.FILE).exists()


@pytest.mark.proof
def test_another_player_disturbance_or_start_is_played_anew(tmp_path: Path) -> None:
    play(Counting(), tmp_path)
    other = Counting()
    play(other, tmp_path, mark="row b")
    assert other.made == len(STARTS)
    held = shot_journal.journal(tmp_path)
    jobs = [trials.Job(STARTS[0], about, "row a") for about in (CALM, Disturbance())]
    found = held.read([held.key(job) for job in jobs])
    assert set(found) == {held.key(jobs[0])}
    moved = replace(STARTS[0], puck=(-0.65, 0.0, 0.1, 0.0))
    assert not held.read([held.key(trials.Job(moved, CALM, "row a"))])


def test_packages_settings_and_code_are_in_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, made = catalogue.load_settings(), policies()
    mark = shot_journal.digest(made, settings)
    assert shot_journal.digest(policies(), settings) == mark
    moved = replace(made["cautious"].strokes, speeds=1.001 * made["cautious"].strokes.speeds)
    others = (
        made | {"cautious": shooters.shooter(seed=1, setting=0)},
        made | {"cautious": replace(made["cautious"], strokes=moved)},
        made | {"cautious": replace(made["cautious"], setting=objective.SETTINGS[1])},
    )
    marks = {shot_journal.digest(each, settings) for each in others}
    for text in ("energy.aim_sd=0.002", "energy.candidates=99", "hockey.position_noise=0.003"):
        marks.add(shot_journal.digest(made, catalogue.load_settings(None, [text])))
    monkeypatch.setattr(provenance, "code_digest", lambda module: "edited")
    marks.add(shot_journal.digest(made, settings))
    assert len(marks) == 7 and mark not in marks


def test_a_journal_is_only_kept_under_a_mark(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="player"):
        trials.play_all(Straight, STARTS, CALM, journal=shot_journal.journal(tmp_path))
