"""What a perfect ball's times do not show, and what an arch, a trend and two balls do."""

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.calibration import times_criticism, times_posterior
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop

SD = 2e-5


def drop(ratios, *, seed=0, first=0.5, scatter=0.003):
    """Times of a ball in vacuum whose restitution is a list, with scatter and timing error."""
    draw = np.random.default_rng(seed)
    steps = np.log(ratios) + scatter * draw.standard_normal(len(ratios))
    intervals = first * np.exp(np.append(0.0, np.cumsum(steps)))
    times = 1.0 + np.append(0.0, np.cumsum(intervals))
    return Drop(times + SD * draw.standard_normal(len(times)), np.full(len(times), SD))


def criticised(*drops):
    return times_criticism.criticise(times_posterior.infer(drops), drops)


def names(found):
    return [finding.name for finding in found.findings]


@pytest.mark.slow
def test_a_perfect_ball_has_no_finding():
    found = criticised(drop(np.full(15, 0.85)), drop(np.full(15, 0.85), seed=1))
    assert found.findings == ()
    assert found.extra == 0.0


def arch(count, height, around=0.88):
    return around + height * (np.sin(np.pi * np.arange(count) / (count - 1.0)) - 0.6)


def test_an_arch_is_found_and_its_size_added():
    found = criticised(drop(arch(24, 0.05)))
    assert names(found) == ["drift"]
    # an arch of height h has the standard deviation 0.31 h; its ends weigh as much as its middle
    assert 0.005 < found.extra < 0.03


@pytest.mark.proof
def test_more_drops_find_a_smaller_arch():
    """One drop does not show it, six do: the stretches are pooled over drops."""
    ratios = arch(20, 0.014)
    alone = criticised(drop(ratios, scatter=0.004))
    together = criticised(*(drop(ratios, seed=seed, scatter=0.004) for seed in range(6)))
    assert names(alone) == []
    assert "drift" in names(together)


def test_two_balls_disagree_by_their_difference():
    found = criticised(drop(np.full(15, 0.82)), drop(np.full(15, 0.86), seed=1))
    assert "disagreement" in names(found)
    # two values 0.04 apart have the standard deviation 0.028
    assert found.extra == pytest.approx(0.028, abs=0.012)


@pytest.mark.slow
def test_the_order_of_drops_does_not_matter():
    drops = [drop(np.full(12, value), seed=seed) for seed, value in enumerate((0.8, 0.84, 0.82))]
    first, second = criticised(*drops), criticised(*drops[::-1])
    assert names(first) == names(second)
    assert first.extra == pytest.approx(second.extra, rel=0.01)


@pytest.mark.slow
def test_a_late_detection_is_no_drift():
    spoilt = drop(np.full(16, 0.85))
    spoilt.times[6] += 2.5e-3
    assert criticised(spoilt).findings == ()


@pytest.mark.proof
def test_perfect_balls_are_seldom_accused():
    accused, count = 0, 10
    for seed in range(count):
        draw = np.random.default_rng(seed)
        value = draw.uniform(0.6, 0.93)
        drops = [drop(np.full(14, value), seed=100 * seed + n, scatter=0.004) for n in range(2)]
        accused += bool(criticised(*drops).findings)
    # two tests of 1 % each: 0.2 of 10 expected; more than 2 have a chance of 0.1 %
    assert accused <= 2
