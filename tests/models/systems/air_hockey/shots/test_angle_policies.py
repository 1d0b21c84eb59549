"""Angle policies: against brute force, within their limits, and on states never trained on."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.shots import energy_search, objective
from ricochet.models.systems.air_hockey.shots.angle_policies import (
    BETTER,
    NEAR,
    EnergyPolicy,
    ExhaustivePolicy,
    NominalPolicy,
)
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.shots.objective import SETTINGS, Shots
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE
from tests.oracles.hockey_modes import CONDITIONS

PUCK = np.array((-0.5, 0.1, 0.02, -0.03, 0.04, 0.05))
LOW, HIGH = np.array((*objective.LOW, -LARGEST_ANGLE)), np.array((*objective.HIGH, LARGEST_ANGLE))


def bowl(bottom: float) -> Energy:
    """An energy |u - bottom|, whatever the puck."""
    first = np.zeros((7, 2), np.float32)
    first[6] = (50.0, -50.0)
    return Energy(
        location=np.array((0, 0, 0, 0, 0, 0, bottom), np.float32),
        scale=np.ones(7, np.float32),
        first=first,
        first_offset=np.zeros(2, np.float32),
        second=np.eye(2, dtype=np.float32),
        second_offset=np.zeros(2, np.float32),
        last=np.ones(2, np.float32),
    )


@pytest.mark.parametrize("bottom", [-0.9, 0.0, 0.41])
def test_the_angle_of_least_energy_is_found(bottom: float) -> None:
    """The last perturbations have sigma 0.01 rad and 256 samples: the least is within 2e-3."""
    policy = EnergyPolicy(bowl(bottom), LOW, HIGH)
    for _ in range(30):
        found = policy.choose(PUCK, near=None)
    assert found == pytest.approx(bottom, abs=2e-3)


def test_a_stroke_under_way_turns_little() -> None:
    policy = EnergyPolicy(bowl(0.8), LOW, HIGH)
    angle = 0.1
    for _ in range(3):
        turned = policy.choose(PUCK, near=angle)
        assert turned is not None
        assert abs(turned - angle) <= NEAR + 1e-12
        angle = turned
    assert angle > 0.1 + NEAR


def test_states_outside_the_training_have_no_angle() -> None:
    policy = EnergyPolicy(bowl(0.0), LOW, HIGH)
    assert policy.choose(PUCK, near=None) is not None
    for place, value in ((0, 0.4), (1, -0.6), (2, 2.0), (5, 0.5)):
        other = PUCK.copy()
        other[place] = value
        assert policy.choose(other, near=None) is None


def test_a_stroke_far_from_the_least_energy_turns_to_it_and_one_nearby_does_not() -> None:
    """The bowl rises by 50 a radian: 3 in 0.06 rad. One iteration finds it to 0.05."""
    policy = EnergyPolicy(bowl(0.8), LOW, HIGH)
    turned = policy.better_angle(PUCK, angle=-0.5)
    assert turned == pytest.approx(0.8, abs=0.05)
    assert policy.choose(PUCK, near=turned) == pytest.approx(0.8, abs=0.05)
    assert policy.better_angle(PUCK, angle=0.77) is None
    other = PUCK.copy()
    other[0] = 0.4
    assert policy.better_angle(other, angle=-0.5) is None


def test_the_expert_turns_only_to_what_is_clearly_better() -> None:
    policy = ExhaustivePolicy(CONDITIONS, SETTINGS[2], candidates=301)
    best = policy.choose(PUCK, near=None)
    assert best is not None and policy.better_angle(PUCK, angle=best) is None
    wide = policy.better_angle(PUCK, angle=1.3)
    assert wide is not None
    worth = objective.evaluate(CONDITIONS, np.stack((PUCK, PUCK)), np.array((wide, 1.3)))
    assert worth.goal[0] >= SETTINGS[2].least_goal
    assert worth.speed[0] > BETTER and not worth.goal[1] >= SETTINGS[2].least_goal


def test_the_nominal_shot_turns_only_when_it_misses() -> None:
    policy = NominalPolicy(CONDITIONS)
    middle = policy.choose(PUCK, near=None)
    assert middle is not None and policy.better_angle(PUCK, angle=middle) is None
    assert policy.better_angle(PUCK, angle=middle + 0.4) == pytest.approx(middle)


def test_after_a_reset_the_same_is_found() -> None:
    policy = EnergyPolicy(bowl(0.3), LOW, HIGH)
    first = [policy.choose(PUCK, near=None) for _ in range(4)]
    policy.reset()
    assert [policy.choose(PUCK, near=None) for _ in range(4)] == first
    assert energy_search.SAMPLES >= 100


@pytest.fixture(scope="module")
def rolled() -> list[tuple[float, Shots]]:
    """Each angle, and what a shot at it does, rolled out alone."""
    angles = np.linspace(-LARGEST_ANGLE, LARGEST_ANGLE, 301)
    return [(angle, objective.evaluate(CONDITIONS, PUCK, np.array(angle))) for angle in angles]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_the_expert_finds_what_brute_force_finds(
    setting: objective.Setting, rolled: list[tuple[float, Shots]]
) -> None:
    found = ExhaustivePolicy(CONDITIONS, setting, candidates=301).choose(PUCK, near=None)
    allowed = [
        (float(objective.objective(setting, one)), float(one.goal), angle)
        for angle, one in rolled
        if one.goal >= setting.least_goal
    ]
    best = max(value for value, _, _ in allowed)
    surest = max((goal, a) for value, goal, a in allowed if value >= best - objective.TOLERANCE)
    assert found == pytest.approx(surest[1])


@pytest.mark.parametrize("y", [-0.3, 0.0, 0.2])
def test_the_nominal_shot_crosses_the_middle_without_a_bank(y: float) -> None:
    puck = np.array((-0.5, y, 0.0, 0.0, 0.0, 0.0))
    angle = NominalPolicy(CONDITIONS).choose(puck, near=None)
    assert angle is not None
    shot = objective.evaluate(CONDITIONS, puck, np.array(angle))
    assert shot.banks == 0
    assert abs(float(shot.y)) < 0.01
    mirrored = NominalPolicy(CONDITIONS).choose(puck * (1, -1, 1, 1, 1, 1), near=None)
    assert mirrored == pytest.approx(-angle, abs=2e-3)


def test_where_the_arm_cannot_shoot_there_is_no_angle() -> None:
    none = replace(CONDITIONS, speed=lambda positions, angles: 0.0 * angles)
    assert NominalPolicy(none).choose(PUCK, near=None) is None
    assert ExhaustivePolicy(none, SETTINGS[0], candidates=50).choose(PUCK, near=None) is None
