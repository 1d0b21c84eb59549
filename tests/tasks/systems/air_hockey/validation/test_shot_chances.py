"""Chances of shots as they were played: those of the arm's table at its speed, and of no other."""

from dataclasses import replace

import numpy as np

from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan
from ricochet.tasks.systems.air_hockey.validation import shot_chances
from tests.oracles.hockey_modes import CONDITIONS

MIRROR = np.array((1.0, -1.0) * 3)
ANGLES = np.linspace(-0.9, 0.9, 13)
PUCK = np.array((-0.45, 0.06, 0.05, -0.02, 0.01, 0.02))


def plans(share: float = 1.0, way: float = 1.0) -> list[StrikePlan]:
    """Strikes at a share of the speed that the arm's table has, or their mirror images."""
    made = []
    for angle in ANGLES:
        place = PUCK[:2] - CONDITIONS.table.contact_radius * np.array(
            (np.cos(angle), np.sin(angle))
        )
        base = np.array(CONDITIONS.table.robot_base[:2])
        speed = float(CONDITIONS.speed((place - base)[None], np.array((angle,)))[0])
        zero = np.zeros(7)
        contact = Contact(zero, zero, share * speed, 1.0, zero, 0.2)
        made.append(StrikePlan(0.06, way * angle, contact, PUCK * (MIRROR if way < 0.0 else 1.0)))
    return made


def test_at_the_speed_of_the_table_it_is_what_the_objective_says() -> None:
    found = shot_chances.as_played(CONDITIONS, plans())
    there = objective.evaluate(CONDITIONS, np.tile(PUCK, (len(ANGLES), 1)), ANGLES)
    np.testing.assert_allclose(found.goal, there.goal, atol=1e-12)
    np.testing.assert_allclose(found.speed, there.speed, atol=1e-12)
    assert found.goal.max() > 0.7 > 0.1 > found.goal.min()


def test_a_slower_stroke_is_a_slower_shot_wherever_the_table_has_none() -> None:
    nothing = replace(CONDITIONS, speed=lambda places, angles: 0.0 * angles)
    fast, slow = (shot_chances.as_played(nothing, plans(share)) for share in (1.0, 0.7))
    both = (fast.speed > 0.0) & (slow.speed > 0.0)
    assert both.sum() > 5
    assert (slow.speed[both] < 0.8 * fast.speed[both]).all()


def test_mirrored_shots_have_the_same_chances() -> None:
    one, other = (shot_chances.as_played(CONDITIONS, plans(way=way)) for way in (1.0, -1.0))
    np.testing.assert_allclose(one.goal, other.goal, atol=1e-9)


def test_no_shots_have_no_chances() -> None:
    found = shot_chances.as_played(CONDITIONS, [])
    assert found.goal.shape == found.speed.shape == (0,)
