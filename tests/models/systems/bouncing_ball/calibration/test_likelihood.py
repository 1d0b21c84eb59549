"""The exact likelihood of a drop against brute force, identities and symmetries."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.calibration import likelihood
from ricochet.models.systems.bouncing_ball.calibration.likelihood import (
    DropFeatures,
    Quadrature,
    World,
)
from tests.oracles import one_drop

PING_PONG, TENNIS, MOON = (0.85, 3.5), (0.72, 3.0), (0.9, 1.8)
WILD = (0.9, 1.1)  # one redraw in twelve turns the ball by more than 45 degrees
RIG = (1e-4, 5.35e-3)
POOR_RIG = (5e-4, 1e-2)


def _drops(
    theta: tuple[float, float],
    count: int,
    seed: int,
    noise: tuple[float, float] = RIG,
    *,
    height: float = 0.26,
) -> DropFeatures:
    """Drops simulated by the package and measured with Gaussian errors."""
    draw = torch.Generator().manual_seed(seed)
    restitution = torch.full((count,), theta[0], dtype=torch.float64)
    concentration = torch.full((count,), 10.0 ** theta[1], dtype=torch.float64)
    bounces = simulator.simulate(restitution, concentration, drop_height=height, draw=draw)
    times = bounces.times + noise[0] * _normal(draw, count, 3)
    places = bounces.positions[..., :2] + noise[1] * _normal(draw, count, 3, 2)
    intervals, steps = torch.diff(times, dim=1), torch.diff(places, dim=1)
    azimuth = torch.atan2(steps[..., 1], steps[..., 0])
    turn = torch.remainder(azimuth[:, 1] - azimuth[:, 0] + math.pi, 2 * math.pi) - math.pi
    length = torch.linalg.vector_norm(steps, dim=-1)
    stated = [torch.full((count,), value, dtype=torch.float64) for value in (*noise, height)]
    return DropFeatures(
        intervals[:, 1] / intervals[:, 0], length[:, 0], length[:, 1], turn, *stated
    )


def _normal(draw: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=draw, dtype=torch.float64)


def _evaluate(
    drops: DropFeatures, *thetas: tuple[float, float], quadrature: Quadrature | None = None
) -> Tensor:
    points = torch.tensor(thetas, dtype=torch.float64)
    return likelihood.log_likelihood(
        drops, points[:, 0], 10.0 ** points[:, 1], quadrature=quadrature
    )


def _row(drops: DropFeatures, index: int) -> tuple[float, ...]:
    return tuple(float(column[index]) for column in vars(drops).values())


FINE = Quadrature(points=2048, heights=24)
BRUTE = [
    (PING_PONG, RIG),
    (TENNIS, RIG),
    (MOON, POOR_RIG),
    ((0.7, 1.0), (1e-3, 1.5e-2)),
    (WILD, POOR_RIG),
    ((0.8, 4.5), (1e-3, 5.35e-3)),  # the ratio's scatter is all timing
    ((0.9, 0.0), (2e-3, 3e-2)),  # kappa = 1: a third of the draws point into the plane
]


@pytest.mark.parametrize("theta, noise", BRUTE)
def test_it_is_the_mean_measurement_density_of_simulated_drops(
    theta: tuple[float, float], noise: tuple[float, float]
) -> None:
    drops = _drops(theta, 2, 3, noise)
    ours = _evaluate(drops, theta, quadrature=FINE)[:, 0].numpy()
    for index in range(2):
        draw = np.random.default_rng(index)
        brute, error = one_drop.log_likelihood(
            _row(drops, index), (theta[0], 10.0 ** theta[1]), count=60_000, draw=draw
        )
        # 3.5 standard errors of the brute force (twenty comparisons in this file: one false
        # alarm in a hundred), and 0.02 for the quadrature; the error must be small to count
        assert error < 0.4
        assert abs(ours[index] - brute) < 3.5 * error + 0.02


def _without_scatter(start: float, restitution: float, height: float) -> DropFeatures:
    """A drop let go with a horizontal speed, m/s, that no bounce turns, measured without error."""
    first = 2.0 * restitution * math.sqrt(2.0 * height / GRAVITY)
    values = (restitution, start * first, start * restitution * first, 0.0, *RIG, height)
    return DropFeatures(*(torch.tensor([value], dtype=torch.float64) for value in values))


def _normal_law(drop: DropFeatures, start_sd: float, kick: float) -> float:
    """Log density of ratio and places where all velocities are normal, times known."""
    ratio, d1, d2, _, time_sd, position_sd, height = _row(drop, 0)
    first = 2.0 * ratio * math.sqrt(2.0 * height / GRAVITY)
    second, error, start = ratio * first, position_sd**2, start_sd**2
    spread = math.sqrt(1 + (1 + ratio) ** 2 + ratio**2) * time_sd / first
    crossed = first * second * (start + kick) - error
    covariance = [
        [first**2 * (start + kick) + 2 * error, crossed],
        [crossed, second**2 * (start + 2 * kick) + 2 * error],
    ]
    places = stats.multivariate_normal(cov=covariance)
    sides = places.logpdf([d1, d2]) + places.logpdf([0.0, 0.0])
    return float(sides + stats.norm.logpdf(0.0, scale=spread))


@pytest.mark.parametrize("height", [0.05, 0.08, 0.26, 1.0])
@pytest.mark.parametrize("start", [0.0, 0.2, 0.35, 0.45])
def test_without_scatter_it_is_a_normal_density_however_fast_the_ball_was_let_go(
    start: float, height: float
) -> None:
    """At 0.08 m and 0.35 m/s the proposals missed the start speed, and 100 nats were lost."""
    restitution, concentration = 0.61, 7.0
    drop = _without_scatter(start, restitution, height)
    kick = 2.0 * GRAVITY * height * restitution**2 / 10.0**concentration
    found = float(_evaluate(drop, (restitution, concentration), quadrature=FINE)[0, 0])
    # a redraw of 3e-4 rad moves the ratio by a tenth of its error at most
    assert found == pytest.approx(_normal_law(drop, 0.1, kick), abs=0.15)


@pytest.mark.parametrize("height", [0.08, 0.6, 1.5])
@pytest.mark.parametrize("theta", [TENNIS, MOON])
def test_it_is_the_mean_measurement_density_of_drops_from_any_height(
    theta: tuple[float, float], height: float
) -> None:
    noise = (POOR_RIG[0] * math.sqrt(height / 0.26), POOR_RIG[1] * height / 0.26)
    drops = _drops(theta, 2, 13, noise, height=height)
    ours = _evaluate(drops, theta, quadrature=FINE)[:, 0].numpy()
    for index in range(2):
        brute, error = one_drop.log_likelihood(
            _row(drops, index),
            (theta[0], 10.0 ** theta[1]),
            count=60_000,
            draw=np.random.default_rng(index),
        )
        # twelve comparisons at a chance of 5e-4 each; 0.02 for the quadrature, as above
        assert error < 0.4
        assert abs(ours[index] - brute) < 3.5 * error + 0.02


def test_every_drop_has_its_own_height() -> None:
    low, high = (_drops(TENNIS, 2, 14, height=height) for height in (0.1, 0.9))
    both = DropFeatures(*map(torch.cat, zip(vars(low).values(), vars(high).values(), strict=True)))
    apart = torch.cat([_evaluate(low, TENNIS), _evaluate(high, TENNIS)])
    # each drop has its own nodes, which are those of its row: only the first two rows agree
    np.testing.assert_allclose(_evaluate(both, TENNIS)[:2], apart[:2], rtol=1e-12, atol=1e-9)
    fine = torch.cat([_evaluate(each, TENNIS, quadrature=FINE) for each in (low, high)])
    np.testing.assert_allclose(_evaluate(both, TENNIS, quadrature=FINE), fine, atol=0.06)


SHIFTS = [(0.0, 0.0), (0.001, 0.2), (-0.001, -0.2)]
# Each parameter point with one shift; with all of them by hand.
SHIFTED = [
    pytest.param(*point, shift, marks=() if (row + column) % 3 == 0 else pytest.mark.proof)
    for row, point in enumerate(BRUTE)
    for column, shift in enumerate(SHIFTS)
]


@pytest.mark.proof
@pytest.mark.parametrize("theta, noise, shift", SHIFTED)
def test_it_is_the_mean_measurement_density_at_other_parameters_too(
    theta: tuple[float, float], noise: tuple[float, float], shift: tuple[float, float]
) -> None:
    drops = _drops(theta, 4, 4, noise)
    at = (theta[0] + shift[0], theta[1] + shift[1])
    ours = _evaluate(drops, at, quadrature=FINE)[:, 0].numpy()
    score, slack = [], 0.015 if theta[1] > 1.5 else 0.05  # the caustic's heavy tail in the nodes
    for index in range(4):
        brute, error = one_drop.log_likelihood(
            _row(drops, index),
            (at[0], 10.0 ** at[1]),
            count=1_000_000,
            draw=np.random.default_rng(5),
        )
        if error < 0.15:  # with fewer hits than 50 the brute force has no normal error
            score.append((ours[index] - brute) / math.hypot(error, slack))
    assert len(score) >= 2
    # 60 comparisons in all at a chance of 6e-5 each: one false alarm in three hundred runs
    assert np.abs(score).max() < 4.0


# Weights of a far pair are so heavy-tailed that their sample mean says nothing: pairs about one
# drop's posterior sd apart, whose weights' standard errors are 0.01 to 0.04 at the sizes below.
EASY_PAIRS = [
    (PING_PONG, (0.8505, 3.45), RIG),
    (MOON, (0.9005, 1.85), RIG),
    (WILD, (0.89, 1.0), (1e-3, 2e-2)),
]
# Near the longest range that a speed reaches, the density of P1 has a pole (a caustic), and in
# one such drop of a few hundred 128 nodes are off by more than a nat: these take finer nodes.
HARD_PAIRS = [
    (TENNIS, (0.721, 2.95), RIG),
    ((0.7, 1.0), (0.701, 1.1), RIG),
    (WILD, (0.9, 1.3), RIG),
    ((0.8, 4.5), (0.8005, 4.6), RIG),
]


@pytest.mark.parametrize("truth, other, noise", EASY_PAIRS)
def test_likelihood_ratios_average_to_one_under_the_law(
    truth: tuple[float, float], other: tuple[float, float], noise: tuple[float, float]
) -> None:
    # E_{x ~ p(.|a)} [p(x | b) / p(x | a)] = 1: fails when mass is lost or the law is another
    mean, error = _ratio(truth, other, noise, Quadrature(), count=150, seed=11)
    assert error < 0.1
    assert abs(mean - 1.0) < 3.0 * error


@pytest.mark.proof
@pytest.mark.parametrize("truth, other, noise", EASY_PAIRS + HARD_PAIRS)
def test_likelihood_ratios_average_to_one_under_the_law_over_many_drops(
    truth: tuple[float, float], other: tuple[float, float], noise: tuple[float, float]
) -> None:
    mean, error = _ratio(truth, other, noise, Quadrature(1024, 16), count=1000, seed=21)
    assert error < 0.1
    assert abs(mean - 1.0) < 3.0 * error


def _ratio(
    truth: tuple[float, float],
    other: tuple[float, float],
    noise: tuple[float, float],
    rule: Quadrature,
    *,
    count: int,
    seed: int,
) -> tuple[float, float]:
    """Mean ratio of the likelihoods of `other` and `truth` over drops of `truth`, and its error."""
    logs = _evaluate(_drops(truth, count, seed, noise), truth, other, quadrature=rule)
    ratio = (logs[:, 1] - logs[:, 0]).exp()
    return float(ratio.mean()), float(ratio.std()) / math.sqrt(count)


def test_the_score_averages_to_zero_at_the_truth() -> None:
    # E[d log p / d theta] = 0, by central differences half a posterior sd wide or less
    count, step = 150, (2e-4, 0.03)
    drops = _drops(TENNIS, count, 12)
    up_e, down_e = (TENNIS[0] + step[0], TENNIS[1]), (TENNIS[0] - step[0], TENNIS[1])
    up_k, down_k = (TENNIS[0], TENNIS[1] + step[1]), (TENNIS[0], TENNIS[1] - step[1])
    logs = _evaluate(drops, up_e, down_e, up_k, down_k)
    for score in (logs[:, 0] - logs[:, 1], logs[:, 2] - logs[:, 3]):
        assert abs(float(score.mean())) < 3 * float(score.std()) / math.sqrt(count)


@pytest.mark.parametrize("theta", [PING_PONG, MOON, WILD])
def test_a_mirrored_drop_is_as_likely(theta: tuple[float, float]) -> None:
    drops = _drops(theta, 4, 5)
    mirrored = replace(drops, turn=-drops.turn)
    ours, theirs = (_evaluate(each, theta, quadrature=FINE) for each in (drops, mirrored))
    # not exact: the nodes are not mirrored; 2048 of them leave about 0.01
    np.testing.assert_allclose(ours, theirs, atol=0.06)


def test_a_whole_turn_more_changes_nothing() -> None:
    drops = _drops(TENNIS, 4, 6)
    turned = replace(drops, turn=drops.turn + 2 * math.pi)
    np.testing.assert_allclose(
        _evaluate(drops, TENNIS), _evaluate(turned, TENNIS), rtol=0, atol=1e-9
    )


def test_every_parameter_point_of_a_batch_is_as_if_alone() -> None:
    drops = _drops(MOON, 5, 7)
    thetas = [(0.6 + 0.03 * n, 1.0 + 0.35 * n) for n in range(11)]
    together = _evaluate(drops, *thetas)
    alone = torch.cat([_evaluate(drops, theta) for theta in thetas], dim=1)
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-9)


def test_drops_after_a_drop_do_not_change_its_value() -> None:
    drops = _drops(MOON, 90, 8)  # more than one block
    few = DropFeatures(*(column[:3] for column in vars(drops).values()))
    np.testing.assert_allclose(
        _evaluate(drops, MOON)[:3], _evaluate(few, MOON), rtol=1e-12, atol=1e-9
    )


@pytest.mark.parametrize("theta", [PING_PONG, TENNIS, MOON])
def test_twice_the_nodes_change_little(theta: tuple[float, float]) -> None:
    drops = _drops(theta, 60, 9)
    coarse = _evaluate(drops, theta)
    fine = _evaluate(drops, theta, quadrature=Quadrature(points=512, heights=20, seed=4))
    change = (coarse - fine).abs()
    assert float(change.median()) < 0.02
    # independent from drop to drop: it adds to 0.02 sqrt(100) = 0.2 nats over a session
    assert abs(float((coarse - fine).mean())) < 0.02
    assert float(change.quantile(0.95)) < 0.15


def test_a_larger_world_at_the_same_proportions_is_the_same_problem() -> None:
    # lengths x 4 at the same gravity: times and speeds x 2, so start speed and time error too;
    # the density of P1 and P2 (m^-4) falls by 4^4
    drops, world = _drops(TENNIS, 5, 10), World()
    larger = replace(
        drops,
        first_distance=4 * drops.first_distance,
        second_distance=4 * drops.second_distance,
        time_sd=2 * drops.time_sd,
        position_sd=4 * drops.position_sd,
        height=4 * drops.height,
    )
    faster = World(2 * world.horizontal_sd, world.gravity)
    points = (torch.tensor([0.72, 0.75]), torch.tensor([1e3, 20.0]))
    ours = likelihood.log_likelihood(drops, *points)
    theirs = likelihood.log_likelihood(larger, *points, world=faster)
    np.testing.assert_allclose(theirs + 4 * math.log(4.0), ours, rtol=0, atol=1e-6)


def test_gravity_enters_as_a_unit_of_time() -> None:
    # gravity x 9 at the same lengths: times / 3, speeds x 3; r, P1, P2 keep their density
    drops, world = _drops(MOON, 5, 10), World()
    faster = replace(drops, time_sd=drops.time_sd / 3)
    heavy = World(3 * world.horizontal_sd, 9 * world.gravity)
    points = (torch.tensor([0.9, 0.8]), torch.tensor([60.0, 30.0]))
    ours = likelihood.log_likelihood(drops, *points)
    theirs = likelihood.log_likelihood(faster, *points, world=heavy)
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-6)


def test_a_drop_that_the_law_cannot_make_is_impossible_not_nan() -> None:
    drops = _drops(PING_PONG, 1, 2)
    far = replace(drops, first_distance=torch.tensor([3.0]).double())
    value = _evaluate(far, (0.55, 5.0))
    assert not bool(torch.isnan(value).any()) and float(value[0, 0]) < -1e3


@pytest.mark.parametrize("name", ["time_sd", "position_sd", "height"])
@pytest.mark.parametrize("bad", [0.0, -1e-4, math.nan])
def test_noise_or_a_height_that_is_not_positive_is_refused_by_name(name: str, bad: float) -> None:
    drops = _drops(TENNIS, 2, 1)
    spoilt = replace(drops, **{name: torch.tensor([1e-3, bad]).double()})
    with pytest.raises(ValueError, match=name):
        _evaluate(spoilt, TENNIS)


@pytest.mark.parametrize("name", ["ratio", "first_distance", "second_distance", "turn"])
@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_a_feature_that_is_not_finite_is_refused_by_name(name: str, bad: float) -> None:
    drops = _drops(TENNIS, 2, 1)
    spoilt = replace(drops, **{name: torch.tensor([0.5, bad]).double()})
    with pytest.raises(ValueError, match=name):
        _evaluate(spoilt, TENNIS)
