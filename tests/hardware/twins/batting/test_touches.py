"""Touches of the board: momentum, mirrored starts, a bat that moves, and flights that are leapt."""

import numpy as np
import pytest

from ricochet.hardware.twins.batting import board, touches
from ricochet.hardware.twins.batting.touches import Play, Touch
from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import Table

DISC, LOZENGE, TRIANGLE = 0, 2, 3


def played(kind: int, start: tuple, path: BatPath, seconds: float) -> list[Touch]:
    return Play(board.scene(kind), kind, np.array(start), path).run(seconds)


def test_pushes_are_the_change_of_momentum() -> None:
    """Force times step is exact for Euler's steps; gravity's share is that of the time."""
    (touch,) = played(DISC, (5.0, 0.6, 0.0, 1.0, -2.0, 3.0), bat.hold(0.0), 0.3)
    lost = board.STEP * sum(step.push for step in touch.steps) / Table().mass
    rise = touch.after.velocity[1] - touch.before.velocity[1]
    assert rise + touch.after.time - touch.before.time == pytest.approx(lost, rel=1e-9)
    assert touch.before.velocity[1] == pytest.approx(-2.0 - touch.before.time, abs=1e-9)
    assert {step.surface for step in touch.steps} == {board.SURFACES.index("bat")}


def test_a_mirrored_start_gives_mirrored_touches() -> None:
    """The lozenge is its own mirror image; the other wall is struck."""
    right = played(LOZENGE, (9.2, 5.0, 0.4, 3.0, 1.0, 2.0), bat.hold(0.0), 0.3)
    left = played(LOZENGE, (0.8, 5.0, np.pi - 0.4, -3.0, 1.0, -2.0), bat.hold(0.0), 0.3)
    assert [board.SURFACES[each[0].steps[0].surface] for each in (right, left)] == ["right", "left"]
    mirror = np.array((-1.0, 1.0, -1.0))
    # A corner of the outline is 4 mm from the next, which both may touch.
    for one, other in zip(right, left, strict=True):
        assert one.before.time == pytest.approx(other.before.time, abs=1e-9)
        np.testing.assert_allclose(one.after.velocity, mirror * other.after.velocity, atol=0.05)
        place = [each.steps[0].contact for each in (one, other)]
        np.testing.assert_allclose(place[0], mirror[:2] * place[1], atol=5e-3)
        np.testing.assert_allclose(one.steps[0].normal, mirror[:2] * other.steps[0].normal)


@pytest.mark.parametrize("rate", [1.5, -0.8])
def test_a_turning_bat_strikes_with_the_velocity_of_its_surface(rate: float) -> None:
    """Relative to it, restitution is that of a bat that rests."""
    path = BatPath(np.array((0.0, 0.2)), np.array((-0.1 * rate, 0.1 * rate)))
    start = (5.0, 0.75 - 0.25 * min(rate, 0.0), 0.0, 0.0, -1.0 + 5.5 * min(rate, 0.0), 0.0)
    touch = played(DISC, start, path, 0.2)[0]
    step, velocity = touch.steps[0], touch.before.velocity
    assert touch.before.rate == pytest.approx(rate)
    place = np.array((5.0, start[1])) + touch.before.time * np.array((0.0, start[4])) + step.contact
    np.testing.assert_allclose(step.velocity, rate * np.array((-place[1], place[0])), atol=0.02)
    angle = -0.1 * rate + rate * touch.before.time
    np.testing.assert_allclose(step.normal, (-np.sin(angle), np.cos(angle)), atol=1e-6)
    surface = np.mean([each.velocity for each in touch.steps], axis=0)
    fell = step.normal @ (velocity[:2] - step.velocity)
    rose = touch.steps[-1].normal @ (touch.after.velocity[:2] - surface)
    assert fell < -1.0
    assert rose / -fell == pytest.approx(0.9, abs=0.03)


def test_flights_that_are_leapt_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    start, path = (3.0, 3.0, 0.3, 1.0, -2.0, 1.0), bat.cyclic(0.0, 3.0, 2.0, 0.2)
    leapt = played(TRIANGLE, start, path, 1.6)
    monkeypatch.setattr(touches, "far_from_all", lambda *_: False)
    looked = played(TRIANGLE, start, path, 1.6)
    assert len(leapt) == len(looked) > 0
    for one, other in zip(leapt, looked, strict=True):
        np.testing.assert_allclose(one.after.velocity, other.after.velocity, atol=1e-6)
        assert one.after.time == pytest.approx(other.after.time)


def test_the_bat_goes_as_it_is_driven_whatever_it_strikes() -> None:
    path = bat.cyclic(0.0, 3.0, 1.0, 0.2)
    play = Play(board.scene(DISC), DISC, np.array((5.0, 0.8, 0.0, 0.0, -1.0, 0.0)), path)
    while play.data.time < 0.8:
        play.run(0.05)
        angle, _ = bat.angle_and_rate(path, play.data.time)
        assert play.data.qpos[board.BAT] == pytest.approx(angle, abs=1e-6)
    assert play.touches and len(seven_shapes().radius) == 7
