import numpy as np
import pytest

from ricochet.models.sound import channel_faults, impact_synthesis
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.channel_faults import ChannelFaultError
from ricochet.models.sound.impact_synthesis import Background
from ricochet.models.sound.room_acoustics import Room

THREE = Microphones(
    np.array([[-0.30, -0.25, 0.0762], [0.25, -0.30, 0.0762], [0.0, 0.32, 0.0762]]), 44100.0
)
TIMES = 0.1 + np.cumsum([0.0, 0.38, 0.32, 0.27])


def recording(seed, *, snr=28.0, room=None, place=None):
    draw = np.random.default_rng(seed)
    places = draw.uniform(-0.2, 0.2, (4, 2)) if place is None else np.tile(place, (4, 1))
    samples = impact_synthesis.render(
        TIMES,
        np.pad(places, ((0, 0), (0, 1))),
        0.1 * 0.84 ** np.arange(4),
        microphones=THREE,
        duration=1.3,
        draw=draw,
        room=room,
        noise=Background(snr=snr),
    )
    ways = np.linalg.norm(np.pad(places, ((0, 0), (0, 1)))[:, None] - THREE.positions, axis=2)
    return samples, TIMES + ways.min(axis=1) / THREE.speed_of_sound


def check(samples, arrivals):
    channel_faults.check_flat(samples, sample_rate=44100.0)
    channel_faults.check(samples, arrivals, microphones=THREE)


def refusal(samples, arrivals):
    """Return what is said of a recording, or None where it is taken."""
    try:
        check(samples, arrivals)
    except ChannelFaultError as error:
        return str(error)
    return None


def planted(fault, samples, channel, draw):
    """The same recording with one channel at fault."""
    spoilt, frames = samples.copy(), samples.shape[1]
    noise = samples[:, : int(0.08 * 44100)].std()
    other = (channel + 1) % 3
    spoilt[channel] = {
        "constant": np.full(frames, 0.02),
        "zero but for one sample": np.eye(1, frames, 5)[0],
        "tiny": 1e-9 * samples[channel],
        "the last bit": 1e-3 * np.abs(samples).max() * (draw.random(frames) < 0.01),
        "slow drift": 1e-3 * np.round(8 * np.sin(2 * np.pi * np.arange(frames) / frames)),
        "silence after half": np.where(np.arange(frames) < 0.5 * frames, samples[channel], 0.0),
        "noise": noise * draw.standard_normal(frames),
        "hum": noise * (draw.standard_normal(frames) + 9 * np.sin(0.007 * np.arange(frames))),
        "copy": samples[other],
        "louder copy": -2.0 * samples[other],
        "copy by another converter": samples[other] + 0.2 * noise * draw.standard_normal(frames),
    }[fault]
    return spoilt


@pytest.mark.parametrize("channel", [0, 2])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("constant", "channel {} is flat"),
        ("zero but for one sample", "channel {} is flat"),
        ("tiny", "channel {} is flat"),
        ("the last bit", "channel {} is flat"),
        ("slow drift", "channel {} is flat|channel {} is dead"),
        ("silence after half", "channel {} is flat at an impact"),
        ("noise", "channel {} is dead"),
        ("hum", "channel {} is dead"),
        ("copy", "are copies of one another"),
        ("louder copy", "are copies of one another"),
        ("copy by another converter", "are copies of one another"),
    ],
)
def test_each_fault_is_named_with_its_channel(fault, said, channel):
    samples, arrivals = recording(1)
    draw = np.random.default_rng(2)
    with pytest.raises(ChannelFaultError, match=said.format(channel, channel)) as caught:
        check(planted(fault, samples, channel, draw), arrivals)
    assert str(channel) in str(caught.value) and "\n" not in str(caught.value)


def test_two_flat_channels_are_both_named():
    samples, _ = recording(1)
    samples[[0, 2]] = 1.0
    with pytest.raises(ChannelFaultError, match="channels 0 and 2 are flat"):
        channel_faults.check_flat(samples, sample_rate=44100.0)


def test_a_ball_as_far_from_two_microphones_makes_no_copies():
    """Their clicks are then the same to the sample; what lies between is not."""
    middle = (THREE.positions[0] + THREE.positions[1])[:2] / 2
    assert refusal(*recording(3, snr=40.0, place=middle)) is None


def test_loudness_of_channels_and_their_order_change_no_verdict():
    samples, arrivals = recording(4)
    check(samples * np.array([[1.0], [0.1], [5.0]]), arrivals)
    spoilt = planted("noise", samples, 1, np.random.default_rng(5))
    with pytest.raises(ChannelFaultError, match="channel 1 is dead"):
        check(7.0 * spoilt, arrivals)
    with pytest.raises(ChannelFaultError, match="channel 0 is dead"):
        check(spoilt[[1, 0, 2]], arrivals)


def test_quiet_recordings_are_not_called_dead():
    for seed in range(5):
        assert refusal(*recording(seed, snr=8.0)) is None


@pytest.mark.proof
def test_clean_recordings_in_rooms_are_never_refused():
    for seed in range(32):
        snr = (10.0, 20.0, 30.0, 50.0)[seed % 4]
        room = Room(reverberation_time=0.2 + 0.02 * seed)
        assert refusal(*recording(seed, snr=snr, room=room)) is None
