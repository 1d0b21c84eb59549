"""Takes of drawers: what changes a sound and what must not; nothing is known but physics."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.hardware.twins.drawers.generator import drawers, takes
from ricochet.hardware.twins.drawers.generator.rooms import RATE
from ricochet.hardware.twins.drawers.generator.strokes import CALM
from ricochet.hardware.twins.drawers.generator.takes import Setting

SHORT = Setting("kitchen-small", seconds=8.0, light_off=5.0, reverberation_time=0.15)


@pytest.fixture(scope="module")
def take() -> takes.Take:
    return takes.record(SHORT, 3)


@pytest.mark.proof
def test_a_take_has_what_was_asked_for(take: takes.Take) -> None:
    assert take.samples.shape == (6, 8 * 16_000) and np.abs(take.samples).max() <= 1.0
    assert take.motion.shape == (800, 2) and take.motion[1, 0] == 0.01
    assert take.vision[-1, 0] < 5.0 and 0.9 < len(take.vision) / 150 < 1.0
    true = np.interp(take.vision[:, 0], *take.motion.T)
    errors = take.vision[:, 1] - true
    # 144 errors: their deviation is known to 6 %.
    assert errors.std() == pytest.approx(takes.VISION_SD, rel=0.2)


def test_equal_seeds_are_equal_and_the_ring_changes_no_motion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(takes, "REFERENCE_SECONDS", 4.0)  # of a take that sets levels alone
    brief = replace(SHORT, seconds=2.0, light_off=1.5)
    take, again = takes.record(brief, 3), takes.record(brief, 3)
    assert np.array_equal(take.samples, again.samples)
    elsewhere = takes.record(replace(brief, array="ring-4", place="front"), 3)
    assert len(elsewhere.samples) == 4
    assert np.array_equal(take.truth.position, elsewhere.truth.position)
    assert np.ptp(take.truth.position) > 0.01  # it moves
    assert not np.array_equal(take.truth.position, takes.record(brief, 4).truth.position)


@pytest.mark.proof
def test_moving_frames_stand_above_the_background_as_asked() -> None:
    """Background power is that of the rests; what moves has it too."""
    for snr in (5.0, 20.0):
        one = takes.record(replace(SHORT, snr=snr, impacts=False, seconds=40.0), 8)
        at = takes.opening(one.truth, 40.0)
        speed = np.abs(np.gradient(at)) * RATE
        quiet = np.convolve(speed, np.ones(8000) / 8000, "same") < 1e-4
        power = np.mean(one.samples[:, speed > takes.MOVING] ** 2)
        rest = np.mean(one.samples[:, quiet] ** 2)
        # A session's load has a deviation of 0.25 of a logarithm, 2.2 dB; strokes differ.
        assert 10 * np.log10(power / rest - 1.0) == pytest.approx(snr, abs=5.0)


@pytest.mark.proof
def test_without_a_share_of_the_front_the_sound_comes_from_where_the_rails_are() -> None:
    """The ring's delays do not move with the opening; with the front alone they do."""

    def lag(share: float) -> float:
        setting = replace(SHORT, moving_share=share, snr=60.0, seconds=20.0, impacts=False)
        one = takes.record(replace(setting, reverberation_time=0.1), 6)
        at = takes.opening(one.truth, 20.0)
        moving = np.abs(np.gradient(at)) * RATE > 0.1
        found = []
        for far in (False, True):
            there = moving & ((at > 0.2) if far else (at < 0.08))
            pair = one.samples[[0, 3]] * there
            spectra = np.fft.rfft(pair, axis=1)
            cross = np.fft.irfft(spectra[0] * np.conj(spectra[1]), pair.shape[1] * 8)
            shift = int(np.argmax(np.roll(cross, 60)[:121])) - 60
            found.append(shift / 8)
        return abs(found[1] - found[0])

    assert lag(0.0) < 0.5 < lag(1.0)


@pytest.mark.proof
def test_another_person_moves_slower() -> None:
    usual, calm = (
        np.abs(np.diff(takes.record(replace(SHORT, person=person, seconds=30.0), 2).motion[:, 1]))
        for person in (SHORT.person, CALM)
    )
    assert calm.max() < usual.max()


def test_all_drawers_are_made_once_and_differ() -> None:
    made = [drawers.made(name) for name in drawers.DRAWERS]
    assert all(drawers.made(name) is one for name, one in zip(drawers.DRAWERS, made, strict=True))
    lengths = [one.drawer.stroke for one in made]
    assert min(lengths) >= 0.28 and max(lengths) <= 0.45 and len(set(lengths)) == 4
