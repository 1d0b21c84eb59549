"""Shots: the choice among them against a loop, the arm's limits, a mirror, batches."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import SETTINGS, Conditions, Setting, Shots
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE
from tests.oracles import played_strokes
from tests.oracles.hockey_modes import CONDITIONS, MODES

MIRROR = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])


def tried(
    seed: int = 0, states: int = 30, angles: int = 60
) -> tuple[np.ndarray, np.ndarray, Shots]:
    draw = np.random.default_rng(seed)
    pucks = objective.draw_states(states, airflow_sd=0.07, draw=draw)
    candidates = objective.draw_angles(states, angles, draw=draw)
    return pucks, candidates, objective.exhaustive(CONDITIONS, pucks, candidates)


def chosen(setting: Setting, goal: np.ndarray, speed: np.ndarray) -> int:
    """Eq. 12 in words: feasible, within the tolerance of the best, then the surest."""
    rows = [j for j in range(len(goal)) if goal[j] >= setting.least_goal]
    if not rows:
        return max(range(len(goal)), key=lambda j: goal[j])
    value = {j: setting.goal_weight * goal[j] + setting.speed_weight * speed[j] for j in rows}
    top = max(value.values())
    return max((j for j in rows if value[j] >= top - objective.TOLERANCE), key=lambda j: goal[j])


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_best_shot_equals_that_of_a_loop(setting: Setting):
    *_, found = tried()
    expected = [chosen(setting, *pair) for pair in zip(found.goal, found.speed, strict=True)]
    np.testing.assert_array_equal(objective.best(setting, found), expected)


def test_settings_trade_certainty_for_speed():
    """On the mean of 30 states, cautious is surest and aggressive fastest."""
    *_, found = tried()
    rows = [objective.take(found, objective.best(setting, found)) for setting in SETTINGS]
    goal, speed = ([getattr(row, name).mean() for row in rows] for name in ("goal", "speed"))
    assert goal == sorted(goal, reverse=True)
    assert speed == sorted(speed)
    assert speed[2] > 1.05 * speed[0]
    assert (rows[2].goal >= 0.5).mean() > 0.9


def test_where_no_shot_is_allowed_the_surest_is_taken():
    goal, speed = np.array([[0.1, 0.4, 0.3]]), np.array([[3.0, 1.0, 2.0]])
    none = Shots(goal, speed, np.zeros((1, 3), int), 0.0 * goal)
    assert objective.best(SETTINGS[2], none) == [1]
    assert not objective.feasible(SETTINGS[2], none).any()


def test_a_batch_equals_its_members(monkeypatch: pytest.MonkeyPatch):
    """Whatever the size of the chunks that are rolled out at a time."""
    pucks, angles, whole = tried(states=5, angles=20)
    monkeypatch.setattr(objective, "CHUNK", 7)
    cut = objective.exhaustive(CONDITIONS, pucks, angles)
    one = objective.evaluate(CONDITIONS, pucks[3], np.array(angles[3, 4]))
    for name in ("goal", "speed", "banks", "y"):
        np.testing.assert_allclose(getattr(cut, name), getattr(whole, name), atol=1e-9)
        np.testing.assert_allclose(getattr(one, name), getattr(whole, name)[3, 4], atol=1e-9)


def test_a_mirrored_puck_is_shot_at_the_mirrored_angle():
    pucks, angles, found = tried()
    other = objective.exhaustive(CONDITIONS, pucks * MIRROR, -angles)
    np.testing.assert_allclose(found.goal, other.goal, atol=1e-9)
    np.testing.assert_allclose(found.speed, other.speed, atol=1e-9)
    np.testing.assert_array_equal(found.banks, other.banks)


def test_shots_that_the_arm_cannot_make_are_no_goals():
    """Out of reach, and a puck that flees faster than the mallet comes."""
    lame = Conditions(MODES, lambda place, angle: 0.0 * angle, CONDITIONS.covariance)
    slow = Conditions(MODES, lambda place, angle: 0.4 + 0.0 * angle, CONDITIONS.covariance)
    fleeing = np.array([-0.4, 0.0, 0.5, 0.0, 0.0, 0.0])
    for conditions in (lame, slow):
        found = objective.evaluate(conditions, fleeing, np.array(0.0))
        assert (found.goal, found.speed) == (0.0, 0.0)
        assert np.isnan(found.y)


def test_a_better_aim_scores_more_often():
    pucks, angles, _ = tried()
    sure = []
    for aim in (0.001, 0.002, 0.004):
        conditions = Conditions(MODES, CONDITIONS.speed, objective.contact_covariance(aim=aim))
        found = objective.exhaustive(conditions, pucks, angles)
        sure.append(objective.take(found, objective.best(SETTINGS[0], found)).goal.mean())
    assert sure == sorted(sure, reverse=True)
    assert sure[0] > sure[2] + 0.05


def test_states_and_angles_are_drawn_within_bounds_and_alike_for_a_seed():
    one, other = (
        objective.draw_states(500, airflow_sd=0.07, draw=np.random.default_rng(4)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)
    assert ((one >= objective.LOW) & (one <= objective.HIGH)).all()
    angles = objective.draw_angles(50, 100, draw=np.random.default_rng(4))
    part = np.floor((angles / LARGEST_ANGLE + 1.0) * 50.0)
    np.testing.assert_array_equal(part, np.broadcast_to(np.arange(100), (50, 100)))


def test_progress_ends_with_all_shots():
    calls: list[int] = []
    pucks, angles, _ = tried(states=3, angles=10)
    objective.exhaustive(CONDITIONS, pucks, angles, progress=calls.append)
    assert calls[-1] == 30


def test_the_mallet_pushes_with_what_is_left_of_its_speed():
    pucks, angles, _ = tried(5, 10, 3)
    states = np.broadcast_to(pucks[:, None], (10, 3, 6))
    normal, speed = objective.contact(CONDITIONS, states, angles)
    place = states[..., :2] - CONDITIONS.table.contact_radius * normal
    reached = CONDITIONS.speed(place + np.array((1.51, 0.0)), angles)
    pushed = objective.pushing(angles) * reached
    closing = pushed > (states[..., 2:4] * normal).sum(-1)
    np.testing.assert_allclose(speed, np.where(closing, pushed, 0.0))
    assert closing.any()


@pytest.mark.proof
def test_strokes_push_with_the_share_that_is_used(arm: Strokes):
    """Ten strokes, of which single ones scatter by 0.9 % about the law (`stroke_speeds`)."""
    draw, off = np.random.default_rng(0), []
    for number in range(10):
        angle, place = float(draw.uniform(-0.4, 0.4)), draw.uniform((-0.55, -0.08), (-0.45, 0.08))
        one = played_strokes.play(MODES, arm, place, angle, seed=number)
        assert one is not None
        off.append(one.pushing / one.plan.contact.speed - float(objective.pushing(np.array(angle))))
    assert abs(np.mean(off)) < 4.0 * 0.009 / np.sqrt(10.0)


def test_where_only_likely_shots_are_rolled_out_what_keeps_the_constraint_is_the_same():
    pucks, angles, whole = tried()
    rows = np.broadcast_to(pucks[:, None], (*angles.shape, 6))
    found = objective.evaluate(CONDITIONS, rows, angles, likely=True)
    likely = whole.goal >= 0.5
    np.testing.assert_array_equal(found.goal >= 0.5, likely)
    for name, part in vars(found).items():
        np.testing.assert_allclose(part[likely], getattr(whole, name)[likely], err_msg=name)
    assert (found.goal > 0.0).sum() < 0.6 * (whole.goal > 0.0).sum()
