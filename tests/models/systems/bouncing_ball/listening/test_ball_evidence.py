"""The odds of a ball against clicks at random, rhythms and clocks."""

import numpy as np
import pytest
from scipy import integrate, stats

from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.calibration import times_posterior
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.listening import ball_evidence
from ricochet.models.systems.bouncing_ball.listening.bounce_chains import Chain


def chain_of(times, loudness=None):
    count = len(times)
    loud = np.ones(count) if loudness is None else np.asarray(loudness, float)
    return Chain(times, np.full(count, 300.0), np.full(count, 2e-5), loud, score=50.0)


def onsets_of(chain, others=()):
    times = np.concatenate([chain.times, others])
    order = np.argsort(times)
    loud = np.concatenate([chain.loudness, np.full(len(others), 0.5)])[order]
    count = len(times)
    duration = float(times.max()) + 0.3
    return Onsets(times[order], np.full(count, 300.0), np.full(count, 2e-5), loud, duration)


def weighed(chain, others=(), backwards=0.0):
    evidence = times_posterior.infer([Drop(chain.times, chain.time_sd, chain.missing)]).log_evidence
    return ball_evidence.weigh(onsets_of(chain, others), chain, evidence, backwards=backwards)


def bouncing(count=12, ratio=0.8, first=0.6):
    intervals = first * ratio ** np.arange(count - 1)
    times = 0.5 + np.append(0.0, np.cumsum(intervals))
    return chain_of(times, ratio ** np.arange(count))


@pytest.mark.slow
def test_a_rhythm_s_density_is_the_integral_over_its_mean_and_precision():
    intervals = np.array([0.3, 0.35, 0.24])
    values = np.log(intervals)
    _, shape, rate = ball_evidence._RHYTHM

    means, precisions = np.linspace(-6.0, 4.0, 2001), np.geomspace(1e-4, 80.0, 4001)
    width = 1.0 / np.sqrt(precisions)[:, None]
    each = np.prod([stats.norm.pdf(value, means, width) for value in values], axis=0)
    inner = each.sum(1) * (means[1] - means[0]) / np.log(100.0)
    weighted = inner * stats.gamma(shape, scale=1.0 / rate).pdf(precisions)
    expected = np.log(integrate.trapezoid(weighted, precisions)) - values.sum()
    assert ball_evidence.rhythm(intervals) == pytest.approx(expected, abs=1e-3)


def test_clicks_at_random_have_the_integral_over_their_rate():
    value, _ = integrate.quad(lambda rate: rate**4 * np.exp(-rate * 3.0), 0.0, 60.0)
    # the density of the rate is 1 / rate, so that five intervals leave its fourth power
    assert ball_evidence.clicks(5, 3.0) == pytest.approx(np.log(value), abs=1e-6)


@pytest.mark.slow
def test_a_ball_is_a_ball_and_clutter_takes_from_it():
    clean = weighed(bouncing())
    cluttered = weighed(bouncing(), others=np.random.default_rng(0).uniform(0.5, 3.0, 12))
    assert clean.log_odds > 10.0
    assert 0.0 < cluttered.log_odds < clean.log_odds


@pytest.mark.slow
def test_a_clock_is_a_clock_also_when_it_gets_faster():
    draw = np.random.default_rng(1)
    steady = 0.5 + 0.4 * np.arange(12) + 2e-3 * draw.standard_normal(12)
    faster = 0.5 + np.append(0.0, np.cumsum(0.5 - 0.008 * np.arange(11)))
    faster = faster + 4e-3 * draw.standard_normal(12)
    for times in (steady, faster):
        found = weighed(chain_of(times))
        assert found.likeliest == "a clock"
        assert found.log_odds < 0.0


def test_a_rhythm_is_a_rhythm():
    intervals = np.exp(np.random.default_rng(2).normal(np.log(0.2), 0.4, 15))
    found = weighed(chain_of(0.5 + np.append(0.0, np.cumsum(intervals))))
    assert found.log_odds < 0.0


def test_loudness_falls_with_the_speed_or_counts_against_a_ball():
    falling = bouncing()
    rising = chain_of(falling.times, falling.loudness[::-1])
    assert ball_evidence.loudness_odds(falling) > 0.5
    assert ball_evidence.loudness_odds(rising) < -1.0


def test_loudness_has_no_unit_and_time_no_origin():
    one = bouncing()
    other = chain_of(one.times + 9.0, 1e4 * one.loudness)
    assert ball_evidence.loudness_odds(other) == pytest.approx(ball_evidence.loudness_odds(one))
    gaps = np.diff(one.times)
    for model in (ball_evidence.rhythm, ball_evidence.tempo):
        # twice as slow is half as dense, interval by interval
        change = model(2.0 * gaps) - model(gaps)
        assert change == pytest.approx(-len(gaps) * np.log(2.0), abs=1e-9)


def test_reversing_twice_gives_the_onsets_back():
    given = onsets_of(bouncing(), others=[1.23])
    again = ball_evidence.reversed_in_time(ball_evidence.reversed_in_time(given))
    np.testing.assert_allclose(again.times, given.times, atol=1e-12)
    np.testing.assert_array_equal(again.loudness, given.loudness)
