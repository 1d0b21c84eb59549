"""Angle policies: against brute force, within their limits, and on states never trained on."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.opponent.scripts import Sweep
from ricochet.models.systems.air_hockey.opponent.tracker import OpponentTracker
from ricochet.models.systems.air_hockey.shots import energy_search, objective
from ricochet.models.systems.air_hockey.shots.angle_policies import (
    BETTER,
    NEAR,
    EnergyPolicy,
    ExhaustivePolicy,
    NominalPolicy,
)
from ricochet.models.systems.air_hockey.shots.checked_policy import CheckedPolicy
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.shots.objective import SETTINGS, Opposed, Shots
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
    turned = policy.better_angle(PUCK[None], angle=-0.5)
    assert turned is not None and turned.angle == pytest.approx(0.8, abs=0.05)
    assert policy.choose(PUCK, near=turned.angle) == pytest.approx(0.8, abs=0.05)
    assert policy.better_angle(PUCK[None], angle=0.77) is None
    other = PUCK.copy()
    other[0] = 0.4
    assert policy.better_angle(other[None], angle=-0.5) is None


@pytest.mark.proof
def test_the_expert_turns_only_to_what_is_clearly_better() -> None:
    policy = ExhaustivePolicy(CONDITIONS, SETTINGS[2], candidates=301)
    best = policy.choose(PUCK, near=None)
    assert best is not None and policy.better_angle(PUCK[None], angle=best) is None
    wide = policy.better_angle(PUCK[None], angle=1.3)
    assert wide is not None
    worth = objective.evaluate(CONDITIONS, np.stack((PUCK, PUCK)), np.array((wide.angle, 1.3)))
    assert worth.goal[0] >= SETTINGS[2].least_goal
    assert worth.speed[0] > BETTER and not worth.goal[1] >= SETTINGS[2].least_goal


def test_the_nominal_shot_turns_only_when_it_misses() -> None:
    policy = NominalPolicy(CONDITIONS)
    middle = policy.choose(PUCK, near=None)
    assert middle is not None and policy.better_angle(PUCK[None], angle=middle) is None
    turned = policy.better_angle(PUCK[None], angle=middle + 0.4)
    assert turned is not None and turned.angle == pytest.approx(middle)


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


def goalkeeper(y: float) -> OpponentTracker:
    """A mallet that stands before the goal, and is known to stand."""
    tracker = OpponentTracker(CONDITIONS.table)
    for _ in range(90):
        tracker.update(np.array((0.86, y)))
    return tracker


def checked(bottom: float, setting: int = 0) -> CheckedPolicy:
    expert = ExhaustivePolicy(CONDITIONS, SETTINGS[setting], candidates=81)
    return CheckedPolicy(EnergyPolicy(bowl(bottom), LOW, HIGH), expert)


def chance(angle: float | None, opposed: Opposed | None = None) -> float:
    assert angle is not None
    found = objective.evaluate(CONDITIONS, PUCK[None], np.array((angle,)), opposed=opposed)
    return float(found.goal[0])


def test_an_angle_that_has_its_chance_is_the_energy_s_and_another_the_expert_s() -> None:
    """An energy that is wrong by half a radian is not played."""
    best = ExhaustivePolicy(CONDITIONS, SETTINGS[0], 301).choose(PUCK, near=None)
    assert best is not None
    for bottom, ours in ((best, True), (best + 0.5, False)):
        policy = checked(bottom)
        found = [policy.choose(PUCK, near=None) for _ in range(20)][-1]
        assert found is not None and (abs(found - bottom) < 0.01) == ours
        assert chance(found) > 0.9


def test_a_state_the_energy_was_not_trained_on_is_the_expert_s() -> None:
    policy, far = checked(0.0), PUCK.copy()
    far[0] = -0.10  # beyond the trained box
    assert policy.energy.choose(far, near=None) is None
    found = policy.choose(far, near=None)
    assert found is not None
    assert objective.evaluate(CONDITIONS, far[None], np.array((found,))).goal[0] > 0.5


def test_no_shot_is_played_without_its_chance() -> None:
    hopeless = PUCK.copy()
    hopeless[1] = 0.6
    assert checked(0.0).choose(hopeless, near=None) is None


@pytest.mark.parametrize("y", [-0.06, 0.0, 0.06])
def test_a_goalkeeper_is_shot_past(y: float) -> None:
    """Where the free shot would be blocked, another angle is chosen that mostly is not."""
    opposed = Opposed(goalkeeper(y), np.array(0.5))
    free, policy = checked(0.0).choose(PUCK, near=None), checked(0.0, setting=2)
    past = policy.choose(PUCK, near=None, opposed=opposed)
    if past is None:  # beta is kept: nothing is shot that is mostly blocked
        angles = np.linspace(-LARGEST_ANGLE, LARGEST_ANGLE, 301)
        rows = np.broadcast_to(PUCK, (301, 6))
        most = objective.evaluate(CONDITIONS, rows, angles, opposed=opposed).goal.max()
        assert most < 0.55
    else:
        assert chance(past, opposed) >= 0.5 > chance(free, opposed)


def test_of_several_times_those_without_a_shot_are_worth_nothing() -> None:
    away = PUCK.copy()
    away[1] = 0.6
    policy = ExhaustivePolicy(CONDITIONS, SETTINGS[0])
    for each in (
        policy,
        checked(0.0),
        NominalPolicy(CONDITIONS),
        EnergyPolicy(bowl(0.0), LOW, HIGH),
    ):
        ranked = each.rank(np.stack((away, PUCK)))
        assert ranked.worth[0] == -np.inf and np.isfinite(ranked.worth[1])
    assert policy.rank(PUCK[None]).worth[0] == pytest.approx(
        chance(policy.rank(PUCK[None]).angle[0])
    )


def test_the_expert_puts_a_shot_off_until_the_goal_is_free() -> None:
    """The same puck at three times, and a mallet that sweeps: the best time is taken."""
    tracker, sweep = OpponentTracker(CONDITIONS.table), Sweep(0.3)
    for k in range(120):
        tracker.update(sweep.move(0.02 * k, np.zeros(2))[0])
    times = np.arange(0.2, 1.2, 0.1)
    policy = ExhaustivePolicy(CONDITIONS, SETTINGS[0])
    ranked = policy.rank(np.stack(len(times) * (PUCK,)), Opposed(tracker, times[:, None]))
    assert ranked.worth.max() > 0.65
    alone = [
        policy.rank(PUCK[None], Opposed(tracker, np.array(((time,),)))).worth[0] for time in times
    ]
    np.testing.assert_allclose(ranked.worth, alone)
