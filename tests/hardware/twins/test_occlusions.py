"""A blocked path weakens the direct sound at one microphone alone, and adds a later one there."""

import math

import numpy as np
import pytest

from ricochet.hardware.microphones import acoustics
from ricochet.hardware.microphones.acoustics import Acoustics, Clicks
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.twins import occlusions
from ricochet.hardware.twins.occlusions import Blocked, Obstacles

RIG = default_rig("bench")
PLACE = np.array([[0.1, 0.05, 0.0]])
DETOUR = 0.25


def rendered(channel, *, obstacles=None, reverberation=0.0):
    """One click at 50 ms, in a room of almost no background, blocked at one microphone."""
    quiet = Acoustics(reverberation, snr=90.0, noise_steps=1e-6, survey_sd=0.0)
    setup = acoustics.set_up(RIG, quiet, drop_height=0.26, draw=np.random.default_rng(1))
    clicks = Clicks(np.array([0.05]), PLACE, np.array([0.01]))
    samples = acoustics.render(clicks, setup=setup, duration=0.1, draw=np.random.default_rng(2))
    occlusions.block(
        samples,
        clicks,
        Blocked(np.array([channel]), np.array([DETOUR])),
        setup=setup,
        obstacles=obstacles or Obstacles(),
    )
    return samples, setup


def arrival(setup, channel, *, longer=0.0):
    distance = np.linalg.norm(PLACE[0] - setup.array.positions[channel])
    return distance, round((0.05 + (distance + longer) / setup.array.speed_of_sound) * 44100)


def test_only_the_chosen_microphone_records_a_difference():
    open_path, _ = rendered(-1, reverberation=0.35)
    blocked, _ = rendered(1, reverberation=0.35)
    np.testing.assert_array_equal(blocked[[0, 2]], open_path[[0, 2]])
    assert np.abs(blocked[1] - open_path[1]).max() > 1e-3


def test_the_direct_sound_falls_by_the_stated_loss_and_the_detour_comes_at_its_time():
    """A free field, without a detour's sound: the whole channel falls by 25 dB. With one: up to the
    detour's arrival nothing else changes, and what is added is the click moved and made smaller."""
    whole, setup = rendered(-1)
    weak, _ = rendered(1, obstacles=Obstacles(share=0.0))
    np.testing.assert_allclose(weak[1], 10 ** (-25 / 20) * whole[1], atol=1e-9)
    both, _ = rendered(1, obstacles=Obstacles(share=0.7))
    added = both[1] - weak[1]
    distance, late = arrival(setup, 1, longer=DETOUR)
    assert np.abs(added[: late - 20]).max() < 2e-3 * np.abs(added).max()
    energy = math.sqrt(np.sum(added**2) / np.sum(whole[1] ** 2))
    assert energy == pytest.approx(0.7 * distance / (distance + DETOUR), rel=1e-3)


def test_in_a_room_the_direct_sound_is_taken_away_too():
    """The room's own direct path is a windowed sinc and ours is exact: 25 dB +- 1 dB remain."""
    whole, setup = rendered(-1, reverberation=0.35)
    weak, _ = rendered(1, reverberation=0.35, obstacles=Obstacles(share=0.0))
    _, first = arrival(setup, 1)
    direct = slice(first - 10, first + 80)  # 1.8 ms, before any wall or the floor sounds
    ratio = np.sqrt(np.sum(weak[1, direct] ** 2) / np.sum(whole[1, direct] ** 2))
    assert 20 * math.log10(ratio) == pytest.approx(-25.0, abs=1.0)


def test_paths_are_blocked_as_often_as_stated_and_evenly():
    """4000 contacts: three standard errors of a share of 0.3 are 0.022; of a third of the 1200
    blocked ones, 0.041; of the mean of a detour uniform on 0.2 m, 0.0027 m."""
    chosen = occlusions.choose(
        4000, 3, obstacles=Obstacles(occlusion=0.3), draw=np.random.default_rng(4)
    )
    blocked = chosen.channels >= 0
    assert abs(blocked.mean() - 0.3) < 0.022
    for channel in range(3):
        assert abs(np.mean(chosen.channels[blocked] == channel) - 1 / 3) < 0.041
    assert abs(chosen.detours.mean() - 0.2) < 0.0027
    assert chosen.detours.min() >= 0.1 and chosen.detours.max() <= 0.3


def test_more_occlusion_blocks_the_same_paths_and_more():
    seldom, often = (
        occlusions.choose(
            200, 3, obstacles=Obstacles(occlusion=share), draw=np.random.default_rng(4)
        ).channels
        for share in (0.1, 0.4)
    )
    assert (seldom >= 0).sum() < (often >= 0).sum()
    np.testing.assert_array_equal(seldom[seldom >= 0], often[seldom >= 0])


def test_what_is_no_probability_or_no_detour_is_refused():
    with pytest.raises(ValueError, match=r"occlusion must be in \[0, 1\], got 1.5"):
        Obstacles(occlusion=1.5)
    with pytest.raises(ValueError, match="in order"):
        Obstacles(shortest=0.5, longest=0.4)
