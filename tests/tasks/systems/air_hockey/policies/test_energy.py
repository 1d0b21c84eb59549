"""One energy: the same seed gives the same, and its key tells whether a package is it."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Shots
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import energy, packages
from ricochet.tasks.systems.air_hockey.policies.training_data import Targets
from ricochet.tasks.systems.air_hockey.settings import Energies
from tests.tasks.systems.air_hockey import shooters


def targets(states: int = 60, angles: int = 40) -> Targets:
    draw = np.random.default_rng(0)
    grid = (states, angles)
    tried = np.sort(draw.uniform(-1.0, 1.0, grid), axis=1)
    made = Shots(np.cos(tried), 1.0 + 0.0 * tried, np.zeros(grid, int), 0.0 * tried)
    return Targets(draw.standard_normal((states, 6)), tried, made)


def test_the_same_seed_gives_the_same_energy_and_another_another() -> None:
    settings = replace(catalogue.load_settings()[Energies], hidden=8, epochs=3, batch=16)
    first, same, other = (
        energy.fit(settings, targets(), objective.SETTINGS[0], seed=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.energy.last, same.energy.last)
    assert (first.energy.last != other.energy.last).any() and first.held_out == same.held_out


@pytest.mark.parametrize("setting", objective.SETTINGS)
def test_a_name_tells_its_setting(setting: objective.Setting) -> None:
    assert energy.setting_of(f"shooting-{setting.name}") == setting


def test_a_package_of_another_key_does_not_count(tmp_path) -> None:
    assert not packages.is_current(tmp_path, "other")
    shooters.write(tmp_path)
    assert not packages.is_current(tmp_path, "other")
    digest = packages.read_package(tmp_path, reader=packages.READER).data_digest
    assert packages.is_current(tmp_path, digest)
