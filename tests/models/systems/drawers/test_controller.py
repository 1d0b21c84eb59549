"""The controller hears, sees, and meets what cannot be: a line, and a hand that moves away."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.drawers import controller, live
from ricochet.models.systems.drawers.belief.place_and_direction import Belief
from ricochet.models.systems.drawers.controller import Controller
from ricochet.models.systems.drawers.direction.estimator import DirectionEstimator
from ricochet.models.systems.drawers.hand import GAP
from ricochet.models.systems.drawers.labels import FRAME, PERIOD
from ricochet.models.systems.drawers.tracking.pace import Seen
from tests.models.systems.drawers import hearings

CHANNELS, BUFFER = 3, 176
HEARD = hearings.random(CHANNELS)


def made() -> Controller:
    return controller.make(HEARD, CHANNELS)


def noise(seed: int = 0, length: int = BUFFER) -> np.ndarray:
    return 0.05 * np.random.default_rng(seed).standard_normal((CHANNELS, length))


def fed(one: Controller, count: int, seen: Seen | None = None) -> None:
    for number in range(count):
        one.hear(noise(number), seen)


def test_it_says_what_the_stream_says() -> None:
    one, stream, found = made(), live.begin(HEARD, CHANNELS), []
    for number in range(40):
        one.hear(noise(number))
        stream, more = live.feed(stream, noise(number))
        found += more
    assert one.estimate == found[-1] and plain(one) == []
    assert one.stream.frames == len(found) == 40 * BUFFER // FRAME


def test_what_is_seen_has_the_hand_before_it() -> None:
    one = made()
    fed(one, 30, Seen(0.1, 0.003))
    assert one.hand.goal == pytest.approx(0.1 + GAP, abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.full((CHANNELS, BUFFER), np.nan), "no number"),
        (np.full((CHANNELS + 1, BUFFER), 0.1), "expected 3 channels"),
        (np.zeros((CHANNELS, BUFFER)), "stuck"),
        (2.0 * np.sign(noise()), "at most"),
        (np.sign(noise()), "at full scale"),
        (np.zeros((CHANNELS, 0)), "samples"),
        (np.zeros(5), "shape"),
        (None, "shape"),
        ("sound", "no numbers"),
    ],
)
def test_what_cannot_be_heard_is_said_once_and_spreads_the_belief(
    wrong: object, words: str
) -> None:
    one = made()
    fed(one, 30, Seen(0.1, 0.003))
    before = one.hand.goal
    for _ in range(60):
        assert one.hear(wrong) <= HEARD.grammar.high + GAP
    (fault,) = plain(one)
    assert words in fault
    assert one.hand.goal > before + 0.05
    assert one.estimate is not None and one.estimate.high - one.estimate.low > 0.1


def plain(one: Controller) -> list[str]:
    """Faults but for what the sound of a network that learnt nothing is worth."""
    return [each for each in one.faults if "compare" not in each and "agree" not in each]


def test_a_fault_that_is_over_and_comes_again_is_said_again() -> None:
    one = made()
    for buffer in (None, noise(), noise(1), None):
        one.hear(buffer)
    assert len(one.faults) == 2


def test_time_goes_on_while_nothing_is_heard() -> None:
    """Ten buffers of 11 ms are a frame and a half, with what was pending."""
    one = made()
    one.hear(noise(0, 900))
    for _ in range(10):
        one.hear(np.full((CHANNELS, BUFFER), np.inf))
    assert one.stream.frames == (900 + 10 * BUFFER) // FRAME
    assert one.stream.frames * PERIOD < 0.2


def test_a_camera_is_believed_where_nothing_is_heard() -> None:
    one = made()
    for _ in range(60):
        one.hear(None, Seen(0.2, 0.003))
    assert one.estimate is not None and one.estimate.place == pytest.approx(0.2, abs=0.01)
    assert one.hand.goal == pytest.approx(0.2 + GAP, abs=0.01)


@pytest.mark.parametrize(
    "seen", [Seen(math.nan, 0.01), Seen(0.1, 0.0), Seen(0.1, math.inf), Seen(1e300, 0.01)]
)
def test_a_camera_that_sees_no_place_is_said_and_not_believed(seen: Seen) -> None:
    one, other = made(), made()
    fed(one, 12, seen)
    fed(other, 12)
    (fault,) = plain(one)
    assert fault.startswith("camera")
    assert one.estimate == other.estimate


FAILING = replace(HEARD, direction=DirectionEstimator(HEARD.place.network, 1.0))
"""Of a direction that takes other inputs than it is given: it raises in every frame."""


def test_an_estimator_that_fails_is_said_once_and_its_frames_are_lost() -> None:
    one = controller.make(FAILING, CHANNELS)
    fed(one, 30, Seen(0.1, 0.003))
    before = one.hand.goal
    fed(one, 60)
    (fault,) = plain(one)
    assert fault.startswith("sound: found ValueError(") and len(fault) < 150
    assert fault.endswith("expected an estimate of each frame")
    assert one.stream.frames == 90 * BUFFER // FRAME
    assert one.hand.goal > before + 0.05


def test_an_estimator_that_fails_again_is_said_again() -> None:
    one = controller.make(FAILING, CHANNELS)
    fed(one, 12)
    for hearing in (HEARD, FAILING):
        one.stream = replace(one.stream, hearing=hearing)
        fed(one, 12)
    assert len(plain(one)) == 2 and one.estimate is not None


def test_a_frame_that_cannot_even_pass_is_said_once_and_the_hand_goes_out_of_reach() -> None:
    """A belief whose cells lie on one another: no number of them reaches what is seen."""
    one = made()
    fed(one, 30, Seen(0.1, 0.003))
    nowhere = Belief(np.full((4, 2), 0.125), np.array([0.0, 1e-300]))
    one.stream = replace(one.stream, follower=replace(one.stream.follower, belief=nowhere))
    for _ in range(12):
        one.hear(None, Seen(0.1, 0.003))
    assert one.hand.goal == HEARD.grammar.high + GAP
    assert [each for each in one.faults if "expected an estimate of each frame" in each]
    assert len(plain(one)) == 2
