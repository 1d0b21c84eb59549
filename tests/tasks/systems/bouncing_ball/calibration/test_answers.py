"""What the answers of a ball's sessions say beside their numbers."""

from types import SimpleNamespace

import pytest

from ricochet.tasks.systems.bouncing_ball.calibration.answers import Answers


@pytest.mark.parametrize(
    ("ball", "diameter", "said"),
    [("golf", 0.0427, 0), ("golf", 0.0854, 1), ("golf", None, 0), ("marble", 0.0854, 0)],
)
def test_a_ball_that_is_not_of_the_size_that_its_name_says_is_named(ball, diameter, said):
    """A radius that was stated as the diameter had made the answer wrong without a word."""
    mass = None if diameter is None else 0.0459
    session = SimpleNamespace(ball=ball, diameter=diameter, mass=mass, identity="monday/1")
    detected = SimpleNamespace(sessions=[session])
    found = Answers(detected, None, SimpleNamespace(findings=()), None).findings
    assert [each["name"] for each in found] == [*["size"] * said, "air"]
    assert all("monday/1: a golf ball has 42.7 mm" in each["sentence"] for each in found[:-1])


def test_that_the_answer_knows_no_air_is_said():
    """Four takes of a golf ball gave one that was sharp and too low, without a word."""
    [found] = Answers(
        SimpleNamespace(sessions=[]), None, SimpleNamespace(findings=()), None
    ).findings
    assert found["name"] == "air" and "knows no air" in found["sentence"]
