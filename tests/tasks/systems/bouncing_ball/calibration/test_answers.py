"""What the answers of a ball's sessions say beside their numbers."""

from types import SimpleNamespace

import pytest

from ricochet.tasks.systems.bouncing_ball.calibration import detection_findings
from ricochet.tasks.systems.bouncing_ball.calibration.answers import Answers


@pytest.mark.parametrize(
    ("ball", "diameter", "said"),
    [("golf", 0.0427, 0), ("golf", 0.0854, 1), ("golf", None, 0), ("marble", 0.0854, 0)],
)
def test_a_ball_that_is_not_of_the_size_that_its_name_says_is_named(ball, diameter, said):
    """A radius that was stated as the diameter had made the answer wrong without a word."""
    mass = None if diameter is None else 0.0459
    session = SimpleNamespace(ball=ball, diameter=diameter, mass=mass, identity="monday/1")
    detected = SimpleNamespace(sessions=[session], takes=[])
    found = Answers(detected, None, SimpleNamespace(findings=()), None).findings
    assert [each["name"] for each in found] == [*["size"] * said, "air"]
    assert all("monday/1: a golf ball has 42.7 mm" in each["sentence"] for each in found[:-1])


def test_that_the_answer_knows_no_air_is_said():
    """Four takes of a golf ball gave one that was sharp and too low, without a word."""
    [found] = Answers(
        SimpleNamespace(sessions=[], takes=[]), None, SimpleNamespace(findings=()), None
    ).findings
    assert found["name"] == "air" and "knows no air" in found["sentence"]


def test_takes_in_which_two_balls_bounce_are_named():
    """The answer was that of either ball, sharp, without a word."""
    takes = [
        SimpleNamespace(file=f"a/{n}.wav", detected=SimpleNamespace(other=0.3 if n else None))
        for n in range(6)
    ]
    [found] = detection_findings.findings(SimpleNamespace(sessions=[], takes=takes))
    assert found.name == "drops" and found.takes == tuple(f"a/{n}.wav" for n in range(1, 6))
    assert "in a/1.wav, a/2.wav, a/3.wav and 2 more: " in found.sentence
