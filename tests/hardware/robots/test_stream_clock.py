"""A clock in step with a stream."""

import pytest

from ricochet.hardware.robots.stream_clock import StreamClock


class Clock:
    """Seconds of the wall, turned by hand."""

    now = 100.0

    def __call__(self):
        return self.now


def test_the_clock_is_the_latest_that_the_buffers_allow():
    """Buffers that end at 1.0 and 1.1 s come at 100.0 and 100.05 s: the first was late by 50 ms."""
    wall = Clock()
    clock = StreamClock(wall)
    clock.follow(1.0)
    assert clock.now() == pytest.approx(1.0)
    wall.now += 0.05
    clock.follow(1.1)
    assert clock.now() == pytest.approx(1.1) and clock.at(100.0) == pytest.approx(1.05)
    wall.now += 0.2
    clock.follow(1.2)  # itself late by 0.1 s: no reason to turn the clock back
    assert clock.now() == pytest.approx(1.3)
    clock.begin()
    assert clock.now() == pytest.approx(0.0)
