"""Every recorder keeps one contract; the simulated one sounds as its scene says."""

import math

import numpy as np
import pytest
import torch

from ricochet.hardware.microphones import acoustics, journal, simulated_drops, sound_device
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.sound_device import SoundCard
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.systems import catalogue
from tests.hardware.microphones.sound_card import Driver

DURATION = 0.5
FRAMES = round(sound_device.BESIDE * 44100)
BEFORE, REST = divmod(FRAMES, 480)
"""Whole blocks before a take, and frames of the next that are before it too."""


def simulated_rig(seed=5, **scene):
    values = {"restitution": 0.8, "log10_concentration": 3.0, "drop_height": 0.26} | scene
    return simulated_drops.SimulatedRig(
        default_rig("simulated"),
        simulated_drops.Scene(**values),
        draw=np.random.default_rng(seed),
    )


@pytest.fixture(params=["simulated", "sound card"])
def recorder(request):
    if request.param == "simulated":
        return simulated_rig()
    return SoundCard(default_rig("bench"), driver=Driver())


def test_a_take_has_the_asked_length_and_one_row_a_microphone(recorder):
    take = recorder.record(DURATION)
    assert take.samples.shape == (3, round(DURATION * 44100))
    assert take.samples.dtype == np.float32 and np.isfinite(take.samples).all()
    assert take.xruns == 0 and take.started_at.utcoffset().total_seconds() == 0


def test_the_journal_holds_the_take(recorder, tmp_path):
    take = recorder.record(DURATION, journal=tmp_path / "j")
    samples, rate = journal.read(tmp_path / "j")
    assert rate == recorder.rig.sample_rate
    np.testing.assert_array_equal(samples[:, : take.samples.shape[1]], take.samples)


def test_a_sound_card_that_overflows_is_counted_and_located():
    card = SoundCard(default_rig("bench"), driver=Driver(overflow=(2, BEFORE + 1, BEFORE + 5)))
    assert card.record(DURATION).gaps == (480 - REST, 5 * 480 - REST)


@pytest.mark.parametrize(
    ("words", "gaps"),
    [
        ({}, ()),
        ({"late": 0.005, "drift": 2e-4}, ()),
        ({"late": 0.005, "drift": -2e-4, "lost": (150,)}, (150,)),
        ({"doubled": (7,)}, (8,)),
        ({"lost": (150,), "overflow": (151,)}, (150,)),
        ({"lost": (150, 151, 152), "doubled": (20,)}, (21, 151)),
    ],
)
def test_blocks_that_a_sound_card_loses_or_doubles_unsaid_are_located(words, gaps):
    """By their number in the take. A doubled block makes the frames after it one block more."""
    driver = Driver(**{k: v if k in ("late", "drift") else later(v) for k, v in words.items()})
    card = SoundCard(default_rig("bench"), driver=driver, clock=driver.clock)
    assert card.record(4.0).gaps == tuple(480 * gap - REST for gap in gaps)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("drift", [44100 / 48000 - 1.0, 0.05, -0.04, 1.0, 44100 / 18000 - 1.0])
def test_a_card_of_another_rate_than_was_asked_is_refused(drift, counts):
    """One that samples at 48 kHz and says 44.1: all intervals would be nine percent too long.

    So is one that counts the times which it states from frames.
    """
    driver = Driver(late=0.01, drift=drift, counts=counts)
    card = SoundCard(default_rig("bench"), driver=driver, clock=driver.clock)
    rate = 44100 / (1.0 + drift)
    with pytest.raises(RuntimeError, match=r"found some \d+ frames a second") as refused:
        card.record(2.8)
    assert float(str(refused.value).split()[3]) == pytest.approx(rate, rel=0.02)


def later(blocks):
    return tuple(BEFORE + block for block in blocks)


@pytest.mark.parametrize("count", [1, 10])
def test_blocks_lost_anywhere_in_a_take_of_the_usual_length_are_noted(count, capsys):
    """At each tenth block, and at both ends, of `capture.duration`."""
    duration = catalogue.load_settings(None, [])[Capture].duration
    last = int(duration * 44100 / 480) - count
    places = (1, 2, *range(5, last, 10), last - 1, last)
    for at in places:
        driver = Driver(lost=later(range(at, at + count)))
        card = SoundCard(default_rig("bench"), driver=driver, clock=driver.clock)
        (gap,) = card.record(duration).gaps
        assert abs(gap - (480 * at - REST)) <= 480, at
    with capsys.disabled():
        print(f"\nlost at {len(places)} places, {count} blocks each: all noted")  # noqa: T201


def test_a_take_begins_with_its_first_frame_and_ends_with_its_last():
    driver = Driver()
    card = SoundCard(default_rig("bench"), driver=driver, clock=driver.clock)
    take = card.record(DURATION)
    sent = np.concatenate(driver.sent)
    np.testing.assert_array_equal(take.samples, sent[FRAMES : FRAMES + take.samples.shape[1]].T)
    assert len(sent) >= 2 * FRAMES + take.samples.shape[1]


def test_a_sound_card_that_falls_silent_is_given_up(monkeypatch):
    monkeypatch.setattr(sound_device, "PATIENCE", 0.05 - DURATION - 2.0 * sound_device.BESIDE)
    card = SoundCard(default_rig("bench"), driver=Driver(blocks=4))
    with pytest.raises(RuntimeError, match="1920 of 92610 frames"):
        card.record(DURATION)


def test_a_sound_card_with_too_few_channels_is_bad_input():
    card = SoundCard(default_rig("bench"), driver=Driver(channels=2))
    with pytest.raises(BadInput, match="expected an input device with 3 channels at 44100 Hz"):
        card.record(DURATION)


def test_channels_are_ordered_by_the_rig_and_not_by_the_card():
    rig = default_rig("bench")
    turned = type(rig)(rig.name, rig.sample_rate, rig.temperature, rig.microphones[::-1])
    driver = Driver()
    take = SoundCard(turned, driver=driver).record(DURATION)
    sent = np.concatenate(driver.sent)[FRAMES : FRAMES + take.samples.shape[1]]
    np.testing.assert_array_equal(take.samples, sent.T[::-1])


def test_the_same_draw_gives_the_same_take_and_the_next_another():
    first, again = simulated_rig(), simulated_rig()
    take = first.record(DURATION).samples
    np.testing.assert_array_equal(take, again.record(DURATION).samples)
    assert not np.array_equal(take, first.record(DURATION).samples)


def test_the_background_has_the_stated_steps():
    """Frames before the first impact hold noise alone: 0.24 s at 3 channels are n = 30 000 samples;
    the standard error of a standard deviation is 1 / sqrt(2 n) = 0.4 %, three of them 1.2 %;
    rounding adds 1/12 of a step squared to 36, 0.1 %."""
    take = simulated_rig(noise_steps=6.0).record(DURATION).samples
    quiet = take[:, : round(0.235 * 44100)] / acoustics.STEP
    np.testing.assert_array_equal(quiet, np.round(quiet))
    assert math.isclose(float(quiet.std()), 6.0, rel_tol=0.014)


def test_bounces_sound_at_their_times_and_shrink_by_the_restitution():
    """Free field and no scatter in direction: the emission times follow from restitution alone.

    The loudest frame of each bounce lies within a click (1 ms) and the travel (0.4 m, 1.2 ms) of
    the emission; the difference of two is free of the travel, but for 0.1 m/s of drift over 0.4 s
    (0.04 m, 0.1 ms) and the click.
    """
    rig = simulated_rig(log10_concentration=9.0, reverberation_time=0.0, snr=60.0, noise_steps=0.5)
    track = np.abs(rig.record(1.3).samples[0])
    first = int(track[: round(0.4 * 44100)].argmax()) / 44100
    interval = 2 * 0.8 * math.sqrt(2 * 0.26 / 9.81)
    for number in range(3):
        expected = first + interval * (1 - 0.8**number) / 0.2
        window = slice(round((expected - 0.02) * 44100), round((expected + 0.02) * 44100))
        peak = (window.start + int(track[window].argmax())) / 44100
        assert abs(peak - expected) < 2e-3


def test_the_room_sounds_after_the_click():
    """With a reverberation time of 0.35 s, 30 ms after a click the sound is 5 dB down, not gone."""
    loud = {"snr": 60.0, "noise_steps": 0.5}
    dry = simulated_rig(reverberation_time=0.0, **loud).record(DURATION).samples
    wet = simulated_rig(reverberation_time=0.35, **loud).record(DURATION).samples
    start = int(np.abs(dry[0]).argmax()) + round(0.02 * 44100)
    tail = slice(start, start + round(0.03 * 44100))
    assert wet[0, tail].std() > 5 * dry[0, tail].std()


def natural(**columns):
    """A ball that goes straight up again, of the family."""
    values = {"slope": 0.0, "tangential_loss": 0.0, "tail_share": 0.0, "tail_ratio": 1.0}
    values |= {"restitution": 0.8, "concentration": 1e12, "scatter": 0.0, "drag": 0.0} | columns
    viscoelastic = values.pop("viscoelastic", False)
    tensors = {name: torch.tensor([value], dtype=torch.float64) for name, value in values.items()}
    drag = tensors.pop("drag")
    return ContactDraws(Contact(**tensors), torch.tensor([viscoelastic]), drag)


@pytest.mark.parametrize("viscoelastic", [False, True])
def test_a_ball_of_the_family_drops_through_air_as_its_speeds_say(viscoelastic):
    """Closed forms of vertical flights; a tenth of a metre per second sideways moves the last ones,
    of 0.15 m/s, by some parts in ten thousand."""
    nature = natural(viscoelastic=viscoelastic, slope=0.03, drag=0.132)
    rig = simulated_rig(nature=nature)
    times, _, speeds = rig._drop(10.0)
    at = torch.from_numpy(speeds)[:, None]
    exits = speeds[:-1] * nature.restitution(at).numpy()[:-1, 0]
    np.testing.assert_allclose(speeds[1:], air.speed_on_return(exits, 0.132), rtol=3e-4)
    root = exits * np.sqrt(0.132 / GRAVITY)
    away = (np.arctan(root) + np.arcsinh(root)) / np.sqrt(0.132 * GRAVITY)
    np.testing.assert_allclose(np.diff(times), away, rtol=1e-3)


def test_a_ball_of_the_family_without_its_departures_falls_as_the_paper_s():
    plain = simulated_rig(log10_concentration=12.0)._drop(10.0)
    times, _, speeds = simulated_rig(nature=natural())._drop(10.0)
    np.testing.assert_allclose(times, plain[0], rtol=1e-4)
    np.testing.assert_allclose(speeds, plain[2], rtol=1e-4)


def test_restitution_scatters_from_take_to_take(monkeypatch):
    monkeypatch.setattr(simulated_drops, "MOST_BOUNCES", 2)
    rig = simulated_rig(nature=natural(), take_scatter=0.01)
    levels = []
    for _ in range(100):
        speeds = rig._drop(1.0)[2]
        levels.append(speeds[1] / speeds[0])
    # 100 takes know a standard deviation to 7 %, four of them
    assert np.std(levels) == pytest.approx(0.008, rel=0.28)
