"""What joins two bodies, and how it moves, from points that a depth camera sees."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ricochet.models.systems.drawers.kinematics import features, joints, scene
from ricochet.models.systems.drawers.kinematics.joints import Joint, Kind
from ricochet.models.systems.drawers.kinematics.scene import Scene

RATE = 30.0
AXIS = np.array([0.6, 0.0, -0.8])


def points(seed: int, middle: list[float], count: int = 12) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.2, 0.2, (count, 3)) + middle


def strokes(count: int) -> np.ndarray:
    """Positions between rests, 0 to 0.3."""
    phase = np.clip(2.0 * np.sin(np.arange(count) / 25.0), -1.0, 1.0)
    return 0.15 * (1.0 - np.cos(0.5 * np.pi * (1.0 + phase)))


def images(moved: list[np.ndarray], seed: int = 0, wrong: float = 0.0) -> list[np.ndarray]:
    draw, found = np.random.default_rng(seed), []
    for each in moved:
        sizes = np.sqrt(np.diagonal(features.noise(each), axis1=1, axis2=2))
        seen = each + sizes * draw.standard_normal(each.shape)
        off = draw.random(len(each)) < wrong
        seen[off] += 0.1 * draw.standard_normal((int(off.sum()), 3))
        seen[draw.random(len(each)) < 0.1] = np.nan
        found.append(seen)
    return found


def followed(moved: list[np.ndarray], *, wrong: float = 0.0) -> tuple[Scene, np.ndarray]:
    """The scene after all images, and q of the likeliest joint after each."""
    still = [points(1, [0.1, 0.0, 1.4])] * len(moved)
    found, places = scene.unseen(12, 12), []
    for fixed, moving in zip(images(still, 1, wrong), images(moved, 2, wrong), strict=True):
        found = scene.step(found, 1.0 / RATE, fixed, moving)
        joint = likeliest(found)
        places.append(0.0 if joint.state is None else joint.state[2])
    return found, np.array(places)


def likeliest(found: Scene) -> Joint:
    kind = max(found.probabilities.items(), key=lambda pair: pair[1])[0]
    return next(joint for joint in found.joints if joint.kind is kind)


def drawer(openings: np.ndarray) -> list[np.ndarray]:
    return [points(3, [0.0, 0.0, 1.3]) + opening * AXIS for opening in openings]


def test_a_drawer_is_a_prismatic_joint_and_its_axis_and_opening_are_known() -> None:
    openings = strokes(300)
    found, places = followed(drawer(openings))
    assert likeliest(found).kind is Kind.PRISMATIC
    state = found.prismatic.state
    assert state is not None and joints.axis(state) @ AXIS > np.cos(np.radians(2.0))
    # Twelve points that err by 1.4 to 2.6 mm, smoothed over few images.
    assert np.sqrt(np.mean((places - openings + openings[0])[60:] ** 2)) < 2.5e-3


def test_sound_measures_how_fast_the_drawer_opens_and_nothing_of_a_door() -> None:
    found, _ = followed(drawer(strokes(150)))
    heard = scene.hear(found, 0.7, 1e-4)
    state, before = heard.prismatic.state, found.prismatic.state
    assert state is not None and before is not None
    assert state[3] == pytest.approx(0.7, abs=1e-3) and abs(before[3] - 0.7) > 0.1
    others = [kind for kind in Kind if kind is not Kind.PRISMATIC]
    for kind in others:
        assert next(j for j in heard.joints if j.kind is kind) in found.joints


def test_a_camera_that_is_turned_sees_the_same_opening() -> None:
    openings = strokes(200)
    _, places = followed(drawer(openings))
    turn = Rotation.from_rotvec([0.0, 0.0, 1.0]).as_matrix()  # about the view: noise is as before
    _, turned = followed([each @ turn.T for each in drawer(openings)])
    assert np.abs(places - turned)[60:].mean() < 2e-3


def test_a_door_is_a_revolute_joint() -> None:
    hinge, way = np.array([-0.25, 0.0, 1.3]), np.array([0.0, 1.0, 0.0])
    angles = 3.0 * strokes(300)
    shape = points(3, [0.0, 0.0, 1.3])
    moved = [hinge + Rotation.from_rotvec(angle * way).apply(shape - hinge) for angle in angles]
    found, places = followed(moved)
    assert likeliest(found).kind is Kind.REVOLUTE
    assert np.abs(places - angles + angles[0])[60:].mean() < 0.02


def test_what_does_not_move_is_rigid_and_what_moves_freely_is_disconnected() -> None:
    found, _ = followed(drawer(np.zeros(100)))
    assert likeliest(found).kind is Kind.RIGID
    draw = np.random.default_rng(5)
    way = np.cumsum(np.cumsum(0.002 * draw.standard_normal((200, 3)), axis=0), axis=0)
    way *= 0.3 / np.abs(way).max()
    turns = np.cumsum(0.02 * draw.standard_normal((200, 3)), axis=0)
    shape = points(3, [0.0, 0.0, 0.0])
    way += np.array([0.0, 0.0, 1.3])
    moved = [
        Rotation.from_rotvec(turn).apply(shape) + place
        for turn, place in zip(turns, way, strict=True)
    ]
    found, _ = followed(moved)
    assert likeliest(found).kind is Kind.DISCONNECTED


def test_points_of_something_else_do_little() -> None:
    openings = strokes(300)
    found, places = followed(drawer(openings), wrong=0.02)
    assert likeliest(found).kind is Kind.PRISMATIC
    assert np.sqrt(np.mean((places - openings + openings[0])[60:] ** 2)) < 4e-3


def test_in_the_dark_a_joint_moves_on_and_hears_its_velocity() -> None:
    """Eq. 4: a velocity that is heard exactly is believed; the paper keeps q between limits."""
    found, _ = followed(drawer(strokes(300)))
    before = found.prismatic.state
    assert before is not None
    dark = scene.step(found, 0.1).prismatic
    assert dark.state is not None
    assert dark.state[2] == pytest.approx(before[2] + 0.1 * before[3])
    heard = joints.hear(dark, 0.25, 1e-6)
    assert heard.state is not None and heard.state[3] == pytest.approx(0.25)
    kept = joints.within(joints.hear(dark, 5.0, 1e-6), 0.0, 0.1)
    assert kept.state is not None and 0.0 <= kept.state[2] <= 0.1


def test_a_scene_with_too_few_points_has_no_body() -> None:
    found = scene.unseen(12, 12)
    few = np.full((12, 3), np.nan)
    few[:3] = points(0, [0.0, 0.0, 1.0], 3)
    for _ in range(5):
        found = scene.step(found, 1.0 / RATE, points(1, [0.0, 0.0, 1.4]), few)
    assert found.moving.body is None and found.start is None
    assert found.probabilities[Kind.RIGID] == pytest.approx(0.25)
