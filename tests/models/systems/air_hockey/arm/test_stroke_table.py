"""The table of strokes: exact contacts, promised speeds, and strokes that keep to the limits."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stroke_path, stroke_search, stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact, Strokes

ENDS = ((0.85, 1.0), (-0.1, 0.1), (-0.4, 0.4))


@pytest.fixture(scope="module")
def table() -> Strokes:
    """Return a table over a small part of the field, about a second's work."""
    draw = np.random.default_rng(0)
    return stroke_table.build(counts=(3, 3, 5), ends=ENDS, steps=(120, 25), draw=draw)


def contacts(table: Strokes, count: int) -> list[tuple[np.ndarray, float, Contact]]:
    draw = np.random.default_rng(1)
    low, high = np.array(ENDS).T
    places = draw.uniform(low, high, (count, 3))
    return [(p[:2], p[2], table.contact(p[:2], p[2])) for p in places]


def load(contact: Contact, limits: Limits) -> float:
    """Return what the stroke from home uses."""
    times = np.array((0.0, contact.duration - contact.wind_up, contact.duration))
    points = np.stack((iiwa.HOME, contact.start_posture, contact.joints))
    path = splines.fit(times, points, first=np.zeros(7), last=contact.joint_speeds)
    after = stroke_path.usage_after(contact.joints, contact.joint_speeds, limits)
    return float(max(stroke_path.usage(path, limits).peak(), after.peak()))


@pytest.mark.proof
def test_contacts_have_the_promised_place_direction_and_speed(table):
    for position, angle, contact in contacts(table, 20):
        pose = iiwa.pose(contact.joints)
        np.testing.assert_allclose(pose.tip, (*position, iiwa.TIP_HEIGHT), atol=1e-9)
        velocity = pose.jacobian @ contact.joint_speeds
        np.testing.assert_allclose(
            velocity, contact.speed * stroke_table.direction(np.asarray(angle)), atol=1e-6
        )
        promised = table.speed(position, np.array(angle))
        np.testing.assert_allclose(contact.speed, promised, rtol=0.03)


def test_between_its_points_strokes_keep_to_the_limits(table):
    """Cells are sound up to a load of 1.02 at the places that were tried; these are others."""
    found = contacts(table, 30)
    loads = np.array([load(c, Limits()) for p, a, c in found if table.speed(p, np.array(a)) > 0])
    assert len(loads) > 20
    assert loads.max() < 1.03


def test_the_speed_is_that_of_the_null_space(table):
    """Nominal inverse kinematics gives at most 1.1 m/s there (the challenge's facts)."""
    assert table.speed(np.array((0.9, 0.0)), np.array(0.0)) > 1.3


def test_neighbouring_contacts_have_neighbouring_strokes(table):
    """Drifts of a millimetre move joints by millimetre over 0.4 m, and across no jump."""
    for position, angle, contact in contacts(table, 10):
        near = table.contact(position * (1.0 + 1e-3 / np.abs(position).max()), angle)
        assert np.abs(near.joints - contact.joints).max() < 0.01
        assert np.abs(near.joint_speeds - contact.joint_speeds).max() < 0.1


def test_a_batch_of_speeds_equals_its_members_and_nothing_is_promised_outside(table):
    positions = np.array(((0.9, 0.05), (0.97, -0.02), (0.9, 0.6), (1.4, 0.0)))
    angles = np.array((0.1, -0.3, 0.0, 0.0))
    whole = table.speed(positions, angles)
    alone = [table.speed(p, np.asarray(a)) for p, a in zip(positions, angles, strict=True)]
    np.testing.assert_allclose(whole, alone, atol=1e-14)
    assert (whole[:2] > 1.0).all()
    assert not whole[2:].any()
    with pytest.raises(ValueError, match="not in the table"):
        table.contact(positions[2], 0.0)


def test_arrays_restore_the_table(table):
    again = stroke_table.from_arrays(table.to_arrays())
    for name, value in table.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[name], value)
    broken = table.to_arrays() | {"speeds": np.full((3, 3, 5), np.nan)}
    with pytest.raises(ValueError, match="speeds"):
        stroke_table.from_arrays(broken)
    with pytest.raises(ValueError, match="durations"):
        stroke_table.from_arrays(table.to_arrays() | {"durations": np.ones((3, 3, 4))})
    with pytest.raises(ValueError, match="wind_ups: is missing"):
        stroke_table.from_arrays({n: a for n, a in table.to_arrays().items() if n != "wind_ups"})


def test_where_a_cell_is_not_sound_nothing_is_promised(table):
    broken = replace(table, sound=np.zeros_like(table.sound))
    assert not broken.speed(np.array((0.9, 0.0)), np.array(0.0)).any()


def test_mending_slows_down_what_can_be_mended_and_gives_up_the_rest():
    """A load in proportion to speed over duration, times ten in one corner."""
    speeds, durations = np.ones((3, 3, 3)), np.ones((3, 3, 3))
    hard = np.ones((2, 2, 2))
    hard[0, 0, 0], hard[1, 1, 1] = 10.0, 1.1

    def loads(speed: np.ndarray, duration: np.ndarray) -> np.ndarray:
        return hard * (speed / duration)[1:, 1:, 1:]

    mended, longer, sound = stroke_search.mend(speeds, durations, loads)
    assert not sound[0, 0, 0]
    assert sound.sum() == 7
    np.testing.assert_array_equal(mended[0, 0], 1.0)
    assert mended[2, 2, 2] < 1.0 < longer[2, 2, 2]
    assert loads(mended, longer)[1, 1, 1] <= 1.02


def test_the_same_draw_gives_the_same_table():
    small = {"counts": (2, 2, 2), "ends": ENDS, "steps": (3, 2)}
    first, second = (stroke_table.build(**small, draw=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first.speeds, second.speeds)
