"""The quadrature over balls: against draws from the prior, and against balls that are known."""

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.calibration import (
    drop_times,
    times_posterior,
    times_quadrature,
)
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Ball, Drop
from ricochet.models.systems.bouncing_ball.chains import family, parameters
from ricochet.models.systems.bouncing_ball.contact import REFERENCE_SPEED

PING_PONG = family.drag_prior(air.COMMON_BALLS["ping-pong"], 20.0)


def prior_draws(count, draw, drag):
    """Balls of the prior, the drag inside its bounds."""
    prior = parameters.Prior()
    low, high = times_quadrature.RANGE
    log_drag = drag[0] + drag[1] * draw.standard_normal(3 * count)
    inside = (log_drag > np.log(air.LEAST_DRAG)) & (log_drag < np.log(air.MOST_DRAG))
    columns = (
        draw.uniform(low, high, count),
        prior.centre[2] + prior.spread[2] * draw.standard_normal(count),
        np.exp(log_drag[inside][:count]),
        np.exp(np.log(times_quadrature.SCATTER) + 1.2 * draw.standard_normal(count)),
        np.exp(np.log(times_quadrature.JITTER) + 1.2 * draw.standard_normal(count)),
    )
    return Ball(*columns)


def drop_of(ball, law, draw, *, count, speed, time_sd=2e-5):
    """One drop of a ball of the family, all detections sound."""
    drag = ball.drag
    w, times = np.array([speed]), [0.0]
    for _ in range(count - 1):
        at = law(ball.restitution, ball.slope, w)
        u = at * w * np.exp(ball.scatter.item() * draw.standard_normal())
        times.append(times[-1] + float(drop_times.duration(u, drag)[0]))
        w = drop_times.impact(u, drag)
    error = np.hypot(time_sd, ball.jitter.item()) * draw.standard_normal(count)
    return Drop(np.array(times) + error, np.full(count, time_sd))


def one(restitution=0.8, slope=0.0, drag=0.01, scatter=0.003, jitter=1e-4):
    values = (restitution, slope, drag, scatter, jitter)
    return Ball(*(np.array([value]) for value in values))


def constant():
    return times_posterior.LAWS["constant"]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("count", "drag"), [(3, parameters.UNKNOWN_DRAG), (5, parameters.UNKNOWN_DRAG), (4, PING_PONG)]
)
def test_evidence_and_means_equal_those_of_draws_from_the_prior(count, drag):
    draw = np.random.default_rng(count)
    drop = drop_of(one(), constant(), draw, count=count, speed=2.0)
    found = times_posterior.infer([drop], drag)
    balls = prior_draws(150_000, draw, drag)
    logs = np.stack(
        [drop_times.log_likelihood(drop, balls, law=law) for law in times_posterior.LAWS.values()]
    )
    weights = np.exp(logs - logs.max())
    evidence = np.log(weights.mean()) + logs.max()
    error = weights.mean(0).std() / weights.mean() / np.sqrt(weights.shape[1])
    # three standard errors of the draws, and 0.1 nats of the quadrature
    assert abs(found.log_evidence - evidence) < 3.0 * error + 0.1
    at = np.array(REFERENCE_SPEED)
    values = np.stack(
        [law(balls.restitution, balls.slope, at) for law in times_posterior.LAWS.values()]
    )
    mean = (weights * values).sum() / weights.sum()
    sd = np.sqrt((weights * (values - mean) ** 2).sum() / weights.sum())
    number = weights.sum() ** 2 / (weights**2).sum()
    ours = float((found.weights * found.restitution(REFERENCE_SPEED)).sum())
    # three standard errors of the draws, and a tenth of a standard deviation of the quadrature
    assert abs(ours - mean) < (3.0 / np.sqrt(number) + 0.1) * sd


@pytest.mark.slow
def test_the_same_times_give_the_same_answer_whatever_the_clock_and_the_order_of_drops():
    draw = np.random.default_rng(0)
    drops = [drop_of(one(), constant(), draw, count=8, speed=speed) for speed in (2.0, 3.0)]
    found = times_posterior.infer(drops)
    again = times_posterior.infer(drops)
    np.testing.assert_array_equal(found.weights, again.weights)
    moved = [Drop(drop.times + 7.0, drop.time_sd) for drop in drops[::-1]]
    other = times_posterior.infer(moved)
    assert other.log_evidence == pytest.approx(found.log_evidence, abs=1e-4)
    for speed in (0.5, 2.0):
        means = [float((each.weights * each.restitution(speed)).sum()) for each in (found, other)]
        assert means[0] == pytest.approx(means[1], abs=1e-5)


@pytest.mark.slow
def test_a_light_ball_s_drag_is_found_from_fast_bounces():
    drag = air.drag(air.COMMON_BALLS["ping-pong"])
    ball = one(0.9, drag=drag, scatter=5e-4, jitter=2e-5)
    drop = drop_of(ball, constant(), np.random.default_rng(2), count=25, speed=4.0, time_sd=1e-5)
    alone = times_posterior.infer([drop]).only("constant")
    log_drag = np.log(alone.balls.drag)
    mean = float((alone.weights * log_drag).sum())
    sd = float(np.sqrt((alone.weights * (log_drag - mean) ** 2).sum()))
    assert sd < 0.1
    assert abs(mean - np.log(drag)) < 3.0 * sd + 0.02


@pytest.mark.slow
def test_the_next_drop_of_the_same_ball_is_predicted_better_than_another_s():
    draw = np.random.default_rng(3)
    first, second = (drop_of(one(), constant(), draw, count=9, speed=v) for v in (2.0, 2.5))
    other = drop_of(one(0.7), constant(), draw, count=9, speed=2.5)
    given = times_posterior.infer([first])
    likely = times_posterior.predictive(second, given)
    joint = times_posterior.infer([first, second]).log_evidence
    # Bayes: p(first, second) = p(first) p(second | first)
    assert likely == pytest.approx(joint - given.log_evidence, abs=0.4)
    assert times_posterior.predictive(other, given) < likely - 20.0


@pytest.mark.parametrize("times", [[0.0, 1.0], [0.0, 0.5, 0.4], [0.0, np.nan, 1.0]])
def test_times_that_are_no_drop_are_refused(times):
    with pytest.raises(ValueError, match=r"drops\[0\]"):
        times_posterior.infer([Drop(np.array(times), np.full(len(times), 1e-5))])


def test_a_drop_that_misses_its_second_bounce_is_refused():
    drop = Drop(np.array([0.0, 1.0, 1.4, 1.7]), np.full(4, 1e-5), missing=(0,))
    with pytest.raises(ValueError, match="between the first two"):
        times_posterior.infer([drop])


def test_no_drop_is_refused():
    with pytest.raises(ValueError, match="none"):
        times_posterior.infer([])


@pytest.mark.proof
@pytest.mark.slow
def test_levels_of_the_truth_are_uniform_over_the_prior():
    draw = np.random.default_rng(7)
    levels = []
    laws = list(times_posterior.LAWS.values())
    for index in range(45):
        law = laws[index % 3]
        ball = prior_draws(1, draw, parameters.UNKNOWN_DRAG)
        ball = Ball(
            ball.restitution * 0.0 + draw.uniform(0.5, 0.95), *list(vars(ball).values())[1:]
        )
        drop = drop_of(ball, law, draw, count=(4, 8, 14)[index // 3 % 3], speed=2.5)
        if not (np.diff(drop.times) > 2e-3).all():
            continue
        found = times_posterior.infer([drop])
        truth = law(ball.restitution, ball.slope, np.array(1.5)).item()
        below = found.restitution(1.5) < truth
        levels.append(float(found.weights[below].sum()))
    inside = np.mean([0.05 <= level <= 0.95 for level in levels])
    assert len(levels) >= 25
    # binomial standard error of the share, and that of the mean of a uniform level; three of each
    assert abs(inside - 0.9) < 3.0 * np.sqrt(0.9 * 0.1 / len(levels))
    assert abs(np.mean(levels) - 0.5) < 3.0 / np.sqrt(12.0 * len(levels))
