"""What is measured tells a sound policy from one of wrong labels or of shuffled weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.shots import energy_training, objective
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.shots.energy_training import Training
from ricochet.models.systems.air_hockey.shots.objective import Shots
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import regret
from ricochet.tasks.systems.air_hockey.settings import Energies
from ricochet.tasks.systems.air_hockey.validation import gate, validation
from ricochet.tasks.systems.air_hockey.validation.gate import PolicyEvidence
from tests.tasks.systems.air_hockey import shooters

STATES, ANGLES = 1000, 100
SHOOTER = shooters.shooter(setting=1)


@pytest.fixture(autouse=True)
def few_pucks(monkeypatch):
    """Pucks nearly at rest within 10 by 20 cm, where a second of training is enough."""
    monkeypatch.setattr(objective, "LOW", (-0.55, -0.1, -0.02, -0.02, -0.05, -0.05))
    monkeypatch.setattr(objective, "HIGH", (-0.45, 0.1, 0.02, 0.02, 0.05, 0.05))
    monkeypatch.setattr(regret, "ANGLES", 200)


@pytest.fixture
def labels() -> tuple[np.ndarray, np.ndarray, Shots]:
    draw = np.random.default_rng(0)
    states = objective.draw_states(STATES, airflow_sd=SHOOTER.modes.airflow_sd, draw=draw)
    angles = objective.draw_angles(STATES, ANGLES, draw=draw)
    return states, angles, objective.exhaustive(SHOOTER.conditions(aim=0.002), states, angles)


def trained(states: np.ndarray, angles: np.ndarray, best: np.ndarray) -> Energy:
    size = Training(hidden=32, epochs=40, batch=32, rate=5e-3)
    draw = torch.Generator().manual_seed(0)
    return energy_training.fit(states, angles, best, training=size, draw=draw).energy


def measured(energy: Energy) -> PolicyEvidence:
    settings = replace(catalogue.load_settings()[Energies], held_out=100)
    return validation.audit(replace(SHOOTER, energy=energy), settings, seed=0)


def passes(evidence: PolicyEvidence) -> bool:
    checks = {check.name: check for check in gate.judge_evidence(evidence)}
    return checks["regret"].passed


@pytest.mark.slow
def test_a_sound_policy_passes_and_loses_all_of_it_with_its_weights_shuffled(labels) -> None:
    states, angles, found = labels
    energy = trained(states, angles, objective.best(SHOOTER.setting, found))
    sound = measured(energy)
    assert passes(sound) and sound.share + 3 * sound.regret_error / sound.best < 0.05
    mixed = np.random.default_rng(2).permuted(energy.second.ravel()).reshape(energy.second.shape)
    shuffled = measured(replace(energy, second=mixed))
    assert not passes(shuffled) and shuffled.share > 0.5


@pytest.mark.proof
@pytest.mark.parametrize("wrong", ["of other states", "of the turned angle"])
def test_a_policy_of_wrong_labels_is_refused_beyond_chance(labels, wrong: str) -> None:
    states, angles, found = labels
    best = objective.best(SHOOTER.setting, found)
    other = np.random.default_rng(1).permutation(best)
    found = measured(trained(states, angles, other if "states" in wrong else ANGLES - 1 - best))
    assert not passes(found) and found.share - 3 * found.regret_error / found.best > 0.05


def test_pucks_that_cannot_be_shot_are_bad_input_that_names_the_key() -> None:
    hopeless = replace(SHOOTER, setting=replace(SHOOTER.setting, least_goal=1.1))
    settings = replace(catalogue.load_settings()[Energies], held_out=3)
    with pytest.raises(BadInput, match=r"energy.held_out: found 3 \(candidates: no state"):
        validation.audit(hopeless, settings, seed=0)


def test_the_same_seed_measures_the_same_and_reports_to_the_end() -> None:
    reported: list[tuple[int, int]] = []
    settings = replace(catalogue.load_settings()[Energies], held_out=20)
    first = validation.audit(
        SHOOTER, settings, seed=3, progress=lambda done, total: reported.append((done, total))
    )
    assert reported[-1] == (20 * 200, 20 * 200)
    assert validation.audit(SHOOTER, settings, seed=3) == first
    assert validation.audit(SHOOTER, settings, seed=4) != first
