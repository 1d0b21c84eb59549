"""Frames against time: what was lost or doubled is found and located, clean streams never are."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ricochet.hardware.microphones.frame_clock import (
    RATE_ERROR,
    RECENT,
    Blocks,
    FrameClock,
    Slip,
    stepped,
)
from tests.hardware.microphones.sound_card import stated

RATE, SIZE = 44100, 480


def blocks(count=700, *, draw=None, late=0.0, drift=0.0, lost=None, size=SIZE):
    """Blocks of a card: `lost` is (block, frames) that are missing before it; below 0, too many."""
    draw = np.random.default_rng(0) if draw is None else draw
    begins = size * np.arange(count)
    true = begins.astype(float)
    if lost is not None:
        true[lost[0] :] += lost[1]
    recorded = true / RATE * (1.0 + drift) + draw.uniform(0.0, 2e-6, count)
    arrived = recorded + size / RATE + draw.uniform(0.0, late, count) if late else recorded
    return Blocks(begins, np.full(count, size), np.maximum.accumulate(arrived), recorded)


def unstated(found):
    return Blocks(found.begins, found.sizes, found.arrived, np.full(len(found.begins), np.nan))


clean = st.tuples(
    st.integers(0, 2**32 - 1),
    st.floats(0.0, 0.05),  # s, of lateness
    st.floats(-3e-4, 3e-4),  # of drift
    st.sampled_from([64, 441, 480, 1024]),
)


@settings(deadline=None, max_examples=40)
@given(clean, st.lists(st.tuples(st.integers(0, 699), st.floats(0.0, 3.0)), max_size=4))
def test_a_clean_stream_is_never_flagged(case, stalls):
    """Callbacks late by up to 50 ms at random, clocks 300 ppm apart, and four stalls of up to 3 s
    whose blocks then come at once; and the same without a stated time, late by up to 20 ms."""
    seed, late, drift, size = case
    draw = np.random.default_rng(seed)
    found = blocks(draw=draw, late=late, drift=drift, size=size)
    arrived = found.arrived.copy()
    for at, seconds in stalls:
        arrived[at:] = np.maximum(arrived[at:], found.arrived[at] + seconds)
    moved = Blocks(found.begins, found.sizes, arrived, found.recorded)
    assert stepped(moved, RATE) == ()
    if late <= 0.02:  # the least of 18 blocks of a bin is then within some 3 ms of none
        assert stepped(unstated(moved), RATE) == ()


@settings(deadline=None, max_examples=25)
@example(seed=0, at=300, way=-1, frames=18240, late=0.0)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(300, 540),
    st.sampled_from([-1, 1]),
    st.integers(400, 20_000),
    st.floats(0.0, 0.01),
)
def test_frames_that_are_missing_or_too_many_are_found_and_located(seed, at, way, frames, late):
    """400 frames are 9.1 ms, 4 ms above the tolerance. The least of the 18 blocks of a bin is late
    by 4 of 10 ms once in 10 000; the median of three bins once in 30 million. Frames too many are
    noted anywhere among themselves."""
    found = blocks(draw=np.random.default_rng(seed), late=late, lost=(at, way * frames))
    (slip,) = stepped(found, RATE)
    among = frames / 2 if way < 0 else 0
    assert abs(slip.frame - SIZE * at) <= 0.2 * RATE + among
    assert slip.frames == pytest.approx(way * frames, abs=0.005 * RATE)


def test_the_smallest_loss_that_is_found_is_the_tolerance():
    """5 ms are 220.5 frames."""
    assert stepped(blocks(lost=(300, 219)), RATE) == ()
    (slip,) = stepped(blocks(lost=(300, 222)), RATE)
    assert slip == Slip(300 * SIZE, 222)


@pytest.mark.parametrize("rate", [RATE, 1.001 * RATE])
def test_a_driver_that_counts_its_times_from_frames_hides_no_loss(rate):
    found = blocks(lost=(300, 480), late=0.002)
    counted = Blocks(found.begins, found.sizes, found.arrived, 7.0 + found.begins / rate)
    (slip,) = stepped(counted, RATE)
    assert abs(slip.frame - 300 * SIZE) <= 0.2 * RATE
    assert slip.frames == pytest.approx(480, abs=0.003 * RATE)


def test_a_clock_that_jumps_alone_is_no_loss():
    """The driver's clock, then the callbacks for as long as the record lasts."""
    found = blocks(late=0.002)
    jumped = found.recorded + 0.1 * (found.begins > 150_000)
    assert stepped(Blocks(found.begins, found.sizes, found.arrived, jumped), RATE) == ()
    held = found.arrived + 0.02 * (found.begins > 150_000)
    assert stepped(Blocks(found.begins, found.sizes, held, found.recorded), RATE) == ()


def test_a_block_that_comes_twice_is_found_wherever_it_is_and_silence_is_none():
    draw, wall = np.random.default_rng(1), [0.0]
    clock = FrameClock(RATE, clock=lambda: wall[0])
    heard = [draw.normal(0.0, 1e-3, (SIZE, 3)).astype(np.float32) for _ in range(4)]
    for block in (heard[0], heard[1], heard[1], heard[2], 0.0 * heard[2], 0.0 * heard[2]):
        wall[0] += SIZE / RATE
        clock.note(block, None)
    assert clock.slips() == (Slip(2 * SIZE, -SIZE),)
    assert str(clock.slips()[0]) == "about 480 frames doubled at frame 960, not flagged"


@pytest.mark.parametrize("back", range(1, RECENT + 1))
def test_an_old_block_in_place_of_a_new_one_is_found(back):
    draw, wall = np.random.default_rng(1), [0.0]
    clock = FrameClock(RATE, clock=lambda: wall[0])
    heard = [draw.normal(0.0, 1e-3, (SIZE, 3)).astype(np.float32) for _ in range(8)]
    for block in (*heard[:6], heard[6 - back], heard[7]):
        wall[0] += SIZE / RATE
        clock.note(block, None)
    assert clock.slips() == (Slip(6 * SIZE, -SIZE),)


def test_a_stream_remembers_only_what_it_looks_back_on():
    wall, draw = [0.0], np.random.default_rng(1)
    clock = FrameClock(RATE, kept=4.0, clock=lambda: wall[0])
    for number in range(2000):
        wall[0] += SIZE / RATE + 0.05 * (number == 1900)
        clock.note(draw.normal(size=(SIZE, 1)).astype(np.float32), stated(wall[0] - SIZE / RATE))
    (slip,) = clock.slips()
    assert slip.frame == 1900 * SIZE and slip.frames == pytest.approx(0.05 * RATE, abs=2)
    assert len(clock._rows) <= 4.0 * RATE / SIZE + 2


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.0, 0.02),
    st.floats(-0.1, 0.5),
    st.one_of(st.none(), st.tuples(st.integers(60, 240), st.integers(400, 20_000))),
)
def test_a_steady_rate_is_measured_and_a_loss_is_none(seed, late, drift, lost):
    """What is lost at once, at most half a second of three, is a slip and no other rate."""
    found = blocks(300, draw=np.random.default_rng(seed), late=late, drift=drift, lost=lost)
    clock = FrameClock(RATE, clock=lambda: 0.0)
    clock._rows.extend(zip(found.begins, found.sizes, found.arrived, found.recorded, strict=True))
    if lost is None:
        assert clock.rate() == pytest.approx(RATE / (1.0 + drift), rel=0.012)
    elif abs(drift) < 3e-4:
        assert clock.rate() == pytest.approx(RATE, rel=RATE_ERROR)
