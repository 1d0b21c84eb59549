import csv
import os
import pathlib
import wave

import numpy as np
import pytest

from ricochet.models.sound import onsets
from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.listening import bounce_chains, chain_search
from ricochet.models.systems.bouncing_ball.listening.interval_law import Law
from tests.oracles import bounce_recordings, chain_score

DATA = pathlib.Path(
    os.environ.get(
        "RICOCHET_REAL_DATA", pathlib.Path(__file__).resolve().parents[6] / "shared" / "data"
    )
)


def drop(count, *, ratio=0.85, first=0.4, start=0.5, scatter=0.0, seed=0):
    draw = np.random.default_rng(seed)
    steps = np.log(ratio) + scatter * draw.standard_normal(count - 2)
    intervals = first * np.exp(np.concatenate([[0.0], np.cumsum(steps)]))
    return start + np.concatenate([[0.0], np.cumsum(intervals)])


def onsets_at(*groups, strengths=300.0, loudness=1.0):
    times = np.concatenate(groups)
    order = np.argsort(times)
    size = np.broadcast_to(np.asarray(loudness, float), times.shape)[order]
    force = np.broadcast_to(np.asarray(strengths, float), times.shape)[order]
    return Onsets(times[order], force, np.full(len(times), 1e-5), size, times.max() + 0.5)


def test_search_finds_the_best_of_all_subsets():
    """One past is kept for each pair of onsets, so that a rare better chain may be passed over."""
    same = 0
    for seed in range(4):
        draw = np.random.default_rng(seed)
        times = np.sort(np.concatenate([drop(6, ratio=0.8, seed=seed), draw.uniform(0.3, 2.0, 3)]))
        given = onsets_at(
            np.delete(times, 4),
            strengths=draw.uniform(20, 300, 8),
            loudness=np.exp(draw.normal(0, 0.5, 8)),
        )
        found = chain_search.best_path(given, Law(), clutter=4.0)
        score, members = chain_score.best(given, Law(), 4.0)
        assert found is not None
        assert found.score <= score + 1e-9
        same += tuple(found.members) == members and found.score == pytest.approx(score, abs=1e-9)
    assert same == 4


def test_search_prices_a_missed_bounce_as_the_oracle_does():
    for seed in range(2):
        truth = drop(9, ratio=0.85, scatter=0.01, seed=seed)
        given = onsets_at(np.delete(truth, 4))
        found = chain_search.best_path(given, Law(), clutter=1.0)
        score, members = chain_score.best(given, Law(), 1.0)
        assert found is not None
        assert found.missing == (3,)
        assert tuple(found.members) == members == tuple(range(8))
        assert found.score == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("ratio", [0.6, 0.75, 0.9, 0.95])
def test_the_whole_chain_beats_every_second_bounce_of_it(ratio):
    truth = drop(14 if ratio > 0.7 else 8, ratio=ratio)
    for louder in (1.0, 4.0):
        size = np.where(np.arange(len(truth)) % 2, 1.0, louder)
        (chain,) = bounce_chains.find_chains(onsets_at(truth, loudness=size))
        np.testing.assert_array_equal(chain.times, truth)
        assert chain.missing == ()


def test_three_bounces_are_a_chain_and_two_are_not():
    (chain,) = bounce_chains.find_chains(onsets_at(drop(3, ratio=0.7)))
    assert len(chain.times) == 3
    assert bounce_chains.find_chains(onsets_at(drop(3)[:2])) == ()


def test_no_ratio_is_made_across_a_missed_bounce():
    truth = drop(12, ratio=0.85)
    (chain,) = bounce_chains.find_chains(onsets_at(np.delete(truth, 5)))
    np.testing.assert_array_equal(chain.times, np.delete(truth, 5))
    assert chain.missing == (4,)
    ratios = bounce_chains.interval_ratios(chain.times, chain.missing)
    assert len(ratios) == 7
    np.testing.assert_allclose(ratios, 0.85, rtol=1e-9)


def test_growing_intervals_are_no_chain():
    # a few shrink when others are skipped; never more than half of the eight
    truth = np.sort(2.0 - drop(8, ratio=0.8, start=0.0, first=0.5)) + 0.5
    assert all(len(chain.times) <= 4 for chain in bounce_chains.find_chains(onsets_at(truth)))


def test_several_drops_are_distinguished():
    first, second = drop(9, start=0.5), drop(8, ratio=0.7, start=3.2)
    third = drop(12, ratio=0.92, start=5.5)
    chains = bounce_chains.find_chains(onsets_at(third, first, second))
    assert len(chains) == 3
    for chain, truth in zip(chains, (first, second, third), strict=True):
        np.testing.assert_array_equal(chain.times, truth)


def test_a_loose_chain_is_not_threaded_through_several_drops():
    drops = [drop(25, ratio=0.92), drop(20, ratio=0.9, start=5.2), drop(12, ratio=0.85, start=9.5)]
    chains = bounce_chains.find_chains(onsets_at(*drops))
    assert [len(chain.times) for chain in chains] == [25, 20, 12]


def test_a_clock_is_no_ball():
    for jitter in (0.0, 0.01):
        ticks = 0.4 * np.arange(12) + jitter * np.random.default_rng(0).standard_normal(12) + 1.0
        assert all(len(chain.times) < 6 for chain in bounce_chains.find_chains(onsets_at(ticks)))


def test_collision_noise_is_no_reason_to_lose_the_first_bounces():
    # ratios scatter by 0.15 in the logarithm: a soft ball that leaves at odd angles
    right = 0
    for seed in range(40):
        truth = drop(8, ratio=0.8, scatter=0.15, seed=seed)
        chains = bounce_chains.find_chains(onsets_at(truth))
        best = max(chains, key=lambda chain: chain.score)
        right += np.array_equal(best.times[:3], truth[:3])
    # 90 % of 40 expected; 90 - 3 sqrt(90 * 10 / 40) = 76 % at three standard errors
    assert right >= 31


def test_two_balls_at_once_are_distinguished():
    first, second = drop(12, ratio=0.9), drop(10, ratio=0.8, start=0.62, first=0.53)
    chains = bounce_chains.find_chains(onsets_at(first, second))
    assert len(chains) == 2
    np.testing.assert_array_equal(chains[0].times, first)
    np.testing.assert_array_equal(chains[1].times, second)


def test_echoes_of_a_chain_are_no_second_chain():
    truth = drop(14, ratio=0.92)
    size = np.concatenate([np.ones(14), np.full(14, 0.4), np.full(14, 0.3)])
    (chain,) = bounce_chains.find_chains(
        onsets_at(truth, truth + 0.012, truth + 0.07, loudness=size)
    )
    np.testing.assert_array_equal(chain.times, truth)


def test_shifting_time_shifts_the_chain():
    truth = drop(10, scatter=0.02)
    clutter = np.random.default_rng(5).uniform(0.0, 2.5, 6)
    first = bounce_chains.find_chains(onsets_at(truth, clutter))
    second = bounce_chains.find_chains(onsets_at(truth + 7.0, clutter + 7.0))
    np.testing.assert_allclose(second[0].times - 7.0, first[0].times, atol=1e-12)


def test_loudness_has_no_unit():
    truth = np.concatenate([drop(10, scatter=0.02), [0.55, 1.3]])
    size = np.exp(np.random.default_rng(1).normal(0, 0.4, 12))
    first = bounce_chains.find_chains(onsets_at(truth, loudness=size))
    second = bounce_chains.find_chains(onsets_at(truth, loudness=3e4 * size))
    np.testing.assert_array_equal(first[0].times, second[0].times)
    assert first[0].score == pytest.approx(second[0].score, abs=1e-9)


@pytest.mark.parametrize("kind", ["clean", "reverberant", "every second louder", "clipped start"])
def test_simulated_bounces_are_detected_and_nothing_else(kind):
    recording = bounce_recordings.record(bounce_recordings.KINDS[kind], np.random.default_rng(4))
    found = onsets.detect(recording.samples, recording.sample_rate)
    chains = bounce_chains.find_chains(found)
    (truth,) = recording.drops
    chain = max(chains, key=lambda chain: chain.score)
    assert len(chain.times) == len(truth)
    assert np.abs(chain.times - truth).max() < 0.3e-3


def _pingpong():
    folder = DATA / "bounce_audio" / "eeps_pingpong"
    if not (folder / "pingpong.wav").is_file():
        pytest.skip(f"no real recording: {folder} is missing (set RICOCHET_REAL_DATA)")
    with wave.open(str(folder / "pingpong.wav")) as file:
        rate = float(file.getframerate())
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    with (folder / "30 bounces.csv").open() as table:
        times = np.array([float(row["time"]) / 1e3 for row in csv.DictReader(table)])
    return samples[None].astype(np.float64), rate, times


def test_a_real_ping_pong_ball_bounces_where_its_author_says():
    """The author marked loud instants after each contact: one constant separates both tables."""
    samples, rate, table = _pingpong()
    (chain,) = bounce_chains.find_chains(onsets.detect(samples, rate))
    apart = chain.times - (table[:, None] - 2e-3)
    nearest = chain.times[np.abs(apart).argmin(axis=1)]
    late = table - nearest
    assert 0.0 < late.mean() < 3e-3
    assert np.sum(np.abs(late - late.mean()) < 3e-3) >= 30
    assert len(np.unique(nearest)) == 30
    # quarter millisecond scatter at 40 ms intervals; the author's own ratios scatter by 0.02
    assert np.median(bounce_chains.interval_ratios(chain.times, chain.missing)) == pytest.approx(
        0.9457, abs=0.006
    )
    assert chain.missing == ()
