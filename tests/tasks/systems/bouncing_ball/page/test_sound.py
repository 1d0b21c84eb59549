"""The sound of a page: what is played is what was recorded, where it is said to be."""

import base64
import io

import numpy as np
import pytest
import soundfile

from ricochet.tasks.systems.bouncing_ball.page import sound

RATE = 44_100


def recording(seconds: float = 8.0, rate: int = RATE) -> np.ndarray:
    """Two channels of noise, the second louder, with a spike of each at 3 s."""
    draw = np.random.default_rng(3)
    channels = draw.normal(size=(2, round(seconds * rate))) * np.array([[1e-3], [4e-3]])
    channels[:, 3 * rate] = 0.2, 0.4
    return channels


def decoded(part: sound.Excerpt) -> tuple[np.ndarray, int]:
    kind, content = sound.to_data_url(part).split(",")
    assert kind == "data:audio/wav;base64"
    return soundfile.read(io.BytesIO(base64.b64decode(content, validate=True)))


def test_the_loudest_channel_is_played_to_a_step_of_16_bits() -> None:
    whole = recording()
    part = sound.excerpt(whole, RATE, first=3.0, last=4.0)
    played, rate = decoded(part)
    begin = round(part.start * RATE)
    expected = whole[1, begin : begin + len(played)] * sound.PEAK / 0.4
    assert rate == RATE
    np.testing.assert_allclose(played, expected, atol=1.0 / 32_768 + 1e-9)


def test_it_begins_before_the_first_bounce_and_ends_after_the_last() -> None:
    part = sound.excerpt(recording(), RATE, first=3.0, last=4.0)
    assert (part.start, part.end) == pytest.approx((3.0 - sound.BEFORE, 4.0 + sound.AFTER))


def test_it_stays_inside_the_recording() -> None:
    part = sound.excerpt(recording(), RATE, first=0.2, last=7.9)
    assert (part.start, part.end) == pytest.approx((0.0, 8.0))


def test_a_long_recording_is_cut_to_a_minute() -> None:
    part = sound.excerpt(recording(100.0, 8000), 8000, first=3.0, last=95.0)
    assert part.end - part.start == pytest.approx(sound.LONGEST)


def test_a_fast_recording_is_slowed_and_keeps_its_times() -> None:
    rate = 96_000
    part = sound.excerpt(recording(rate=rate), rate, first=3.0, last=4.0)
    spike = part.start + np.abs(part.samples).argmax() / part.rate
    assert part.rate == sound.FASTEST
    assert spike == pytest.approx(3.0, abs=1.0 / part.rate)


def test_volume_changes_nothing() -> None:
    parts = [sound.excerpt(k * recording(), RATE, first=3.0, last=4.0) for k in (1.0, 1e-3)]
    np.testing.assert_allclose(parts[0].samples, parts[1].samples, atol=1e-12)
