"""Controllers come from folders and from the registry, and are refused in a line."""

from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import runs
from ricochet.tasks.systems.batting import agents
from tests.tasks.systems.batting import batters


def test_a_folder_makes_a_controller_of_its_own_law(tmp_path: Path) -> None:
    agent = agents.load(batters.written(tmp_path / "package"))
    assert agent.world.law == batters.batter().law
    assert agent.settings == batters.SMALL
    assert agent.target(0.0) == 0.0


def test_the_same_seed_makes_the_same_world() -> None:
    one, other, third = (agents.make(batters.batter(), seed=seed) for seed in (3, 3, 4))
    assert (one.world.noise == other.world.noise).all()
    assert not (one.world.noise == third.world.noise).all()


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"expected a folder with batting\.json, or a name batting-"):
        agents.load(tmp_path)
    with pytest.raises(BadInput, match="small letters"):
        agents.load("batting-A")
    for place in (None, 5, b"batting-board", "batting-" + "x" * 300):
        with pytest.raises(BadInput, match="expected a folder or a name"):
            agents.load(place)


def test_a_name_without_a_champion_is_refused(tracker, monkeypatch) -> None:
    monkeypatch.setattr(runs, "connect", lambda: tracker)
    with pytest.raises(BadInput, match="no champion in the registry"):
        agents.load("batting-board")
