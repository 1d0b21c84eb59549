"""Listeners: buffers on one clock, simulated or from a card, and a line when they stop."""

from itertools import islice

import numpy as np
import pytest

from ricochet.hardware.microphones import stream
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.ring import Gap, Ring
from ricochet.hardware.microphones.sound_stream import SoundStream
from ricochet.hardware.microphones.stream import PlayedSound
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import impact_stream, impact_synthesis
from tests.hardware.microphones.sound_card import Driver

RIG = default_rig("bench")


def noise(frames=4850, seed=0):
    return np.random.default_rng(seed).uniform(-0.1, 0.1, (3, frames)).astype(np.float32)


@pytest.fixture(params=["played", "sound card"])
def listener(request):
    return (
        PlayedSound(RIG, noise())
        if request.param == "played"
        else SoundStream(RIG, driver=Driver())
    )


def test_buffers_are_eleven_milliseconds_on_one_clock(listener):
    buffers = list(islice(listener.buffers(), 8))
    assert [buffer.samples.shape for buffer in buffers] == [(3, 485)] * 8
    assert all(buffer.samples.dtype == np.float32 for buffer in buffers)
    np.testing.assert_allclose([b.time for b in buffers], 485 / 44100 * np.arange(1, 9))
    assert all(buffer.xruns == 0 for buffer in buffers) and listener.fault is None


def test_played_sound_is_the_sound_and_plays_again():
    samples = noise(5000)
    player = PlayedSound(RIG, samples)
    for _ in range(2):
        whole = np.concatenate([buffer.samples for buffer in player.buffers()], axis=1)
        np.testing.assert_array_equal(whole, samples[:, :4850])


def test_simulated_microphones_that_stop_end_the_stream_with_one_line():
    player = PlayedSound(RIG, noise(), stops_at=0.05)
    assert len(list(player.buffers())) == 4
    assert player.fault == "bench: found no sound for 0.2 s after 0.044 s, expected a stream"


def test_a_sound_card_that_stops_ends_the_stream_with_one_line(monkeypatch):
    monkeypatch.setattr("ricochet.hardware.microphones.sound_stream.SILENCE", 0.05)
    card = SoundStream(RIG, driver=Driver(blocks=5))
    assert len(list(card.buffers())) == 4  # 2400 frames are four buffers and a piece
    assert card.fault == "bench: found no sound for 0.2 s after 0.044 s, expected a stream"


@pytest.mark.parametrize("size", [0, 1])
def test_a_card_whose_blocks_bring_next_to_nothing_has_stopped(size):
    """It is given up long before the driver's last block."""
    driver = Driver(size=size)
    card = SoundStream(RIG, driver=driver, patience=0.1)
    assert list(card.buffers()) == [] and len(driver.sent) < driver.blocks
    assert card.fault == "bench: found no sound for 0.1 s after 0.000 s, expected a stream"


def test_a_sound_card_gives_what_it_recorded_in_the_order_of_the_rig():
    turned = type(RIG)(RIG.name, RIG.sample_rate, RIG.temperature, RIG.microphones[::-1])
    driver = Driver()
    found = [buffer.samples for buffer in islice(SoundStream(turned, driver=driver).buffers(), 6)]
    sent = np.concatenate(driver.sent)[: 6 * 485]
    np.testing.assert_array_equal(np.concatenate(found, axis=1), sent.T[::-1])


def test_a_card_s_overflow_is_counted_in_its_buffer_and_located():
    """Block 2 of 480 frames begins at frame 960, in the second buffer; block 5 in the fifth."""
    card = SoundStream(RIG, driver=Driver(overflow=(2, 5)))
    counts = [buffer.xruns for buffer in islice(card.buffers(), 6)]
    assert counts == [0, 1, 0, 0, 1, 0]
    assert card.gaps == (Gap(960, 0), Gap(2400, 0))


def test_samples_that_are_not_finite_are_zero_and_said():
    """Frame 5 of block 2 is frame 965, in the second buffer of 485."""
    driver = Driver(spoils=((2, 5, 1, np.nan), (2, 6, 1, np.inf), (2, 7, 0, -np.inf)))
    card = SoundStream(RIG, driver=driver, clock=driver.clock)
    buffers = list(islice(card.buffers(), 4))
    assert buffers[1].faults == (
        "1 sample of channel 0 not finite, the first at frame 967",
        "2 samples of channel 1 not finite, the first at frame 965",
    )
    assert all(np.isfinite(buffer.samples).all() for buffer in buffers)
    assert buffers[1].samples[1, 480:].any() and buffers[1].samples[1, 480] == 0.0
    assert [buffer.faults for buffer in (*buffers[:1], *buffers[2:])] == [()] * 3


def test_a_block_that_is_lost_unsaid_is_found_within_a_second_and_said_once():
    driver = Driver(lost=(200,), late=0.002, drift=1e-4)
    card = SoundStream(RIG, driver=driver, clock=driver.clock, ahead=30.0)
    ((line,),) = [b.faults for b in islice(card.buffers(), 400) if b.faults]
    assert "lost at frame 96000, not flagged" in line
    assert int(line.split()[1]) == pytest.approx(480, abs=100)


def test_a_doubled_block_is_found_at_once():
    driver = Driver(doubled=(10,))
    card = SoundStream(RIG, driver=driver, clock=driver.clock)
    found = [b.faults for b in islice(card.buffers(), 40) if b.faults]
    assert found == [("about 480 frames doubled at frame 5280, not flagged",)]


def test_a_card_of_another_rate_is_said_in_every_part_of_a_second():
    driver = Driver(late=0.002, drift=44100 / 48000 - 1.0)
    card = SoundStream(RIG, driver=driver, clock=driver.clock, ahead=30.0)
    faults = [fault for buffer in islice(card.buffers(), 360) for fault in buffer.faults]
    assert len(faults) > 5 and all("frames a second by its clock" in fault for fault in faults)


def test_what_the_card_flags_is_not_said_twice():
    driver = Driver(lost=(200,), overflow=(201,))
    card = SoundStream(RIG, driver=driver, clock=driver.clock, ahead=30.0)
    buffers = list(islice(card.buffers(), 400))
    assert sum(buffer.xruns for buffer in buffers) == 1
    assert not any(buffer.faults for buffer in buffers)


class ByHand:
    """A driver whose blocks of 480 frames come when they are told to, four of them at once."""

    class PortAudioError(Exception):
        pass

    def InputStream(self, *, callback, **_):  # noqa: N802
        self.callback = callback
        return self

    def send(self):
        self.callback(np.zeros((480, 3), np.float32), 480, None, None)

    def __enter__(self):
        for _ in range(4):
            self.send()

    def __exit__(self, *_):
        pass


def test_a_listener_that_falls_behind_loses_a_block_and_the_clock_jumps_over_it():
    """The ring takes three blocks; the fourth begins at frame 1440, in the third buffer."""
    driver = ByHand()
    card = SoundStream(RIG, driver=driver, ahead=1500 / 44100)
    sound = card.buffers()
    first = next(sound)
    driver.send()
    second, third = next(sound), next(sound)
    sound.close()
    assert card.gaps == (Gap(1440, 480),)
    assert [buffer.xruns for buffer in (first, second, third)] == [0, 0, 1]
    ends = [round(buffer.time * 44100) for buffer in (first, second, third)]
    assert ends == [485, 970, 1455 + 480]


def test_a_card_with_too_few_channels_is_bad_input():
    with pytest.raises(BadInput, match="expected an input device with 3 channels at 44100 Hz"):
        next(SoundStream(RIG, driver=Driver(channels=2)).buffers())


def test_events_are_those_of_the_stream_moved_by_what_was_lost():
    """The second half of the buffers is said to begin a tenth of a second late."""
    array = RIG.array()
    samples = impact_synthesis.render(
        np.array([0.3, 0.6]),
        np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0]]),
        np.ones(2),
        microphones=array,
        duration=0.8,
        draw=np.random.default_rng(2),
        noise=impact_synthesis.Background(snr=30.0),
    ).astype(np.float32)
    player = PlayedSound(RIG, samples)
    _, plain = impact_stream.step(impact_stream.init(array), samples)

    class Late:
        rig, fault = RIG, None

        def buffers(self):
            for buffer in player.buffers():
                late = 0.1 * (buffer.time > 0.45)
                yield stream.Buffer(buffer.time + late, buffer.samples)

    found_events = [event for _, found in stream.events(player) for event in found]
    moved = [event for _, found in stream.events(Late()) for event in found]
    assert [event.time for event in found_events] == [event.time for event in plain]
    np.testing.assert_allclose(
        [event.time for event in moved], [plain[0].time, plain[1].time + 0.1], atol=1e-9
    )


def test_a_ring_gives_back_in_order_across_its_end():
    ring = Ring(10, 1)
    blocks = np.arange(24, dtype=np.float32).reshape(6, 4, 1)
    taken = []
    for block in blocks:
        ring.push(block)
        taken.append(ring.take(3))
    taken.append(ring.take(100))
    np.testing.assert_array_equal(np.concatenate(taken).ravel(), np.arange(24))
    assert ring.ready == 0 and ring.gaps == []


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_a_block_of_other_channels_is_a_gap(channels):
    """One of a single channel was taken for what all microphones heard."""
    ring = Ring(10, 3)
    ring.push(np.ones((4, channels), np.float32))
    ring.push(np.full((2, 3), 2.0, np.float32))
    assert ring.gaps == [Gap(0, 4)]
    np.testing.assert_array_equal(ring.take(10), np.full((2, 3), 2.0))
