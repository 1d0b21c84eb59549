"""The look-ahead: a ball without noise, the law of a walk, weights, symmetries, bad arguments."""

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import flight
from ricochet.models.systems.bouncing_ball.prediction import lookahead
from ricochet.models.systems.bouncing_ball.prediction.lookahead import LastBounces, NextBounces

RESTITUTION = 0.8
LAST = LastBounces(0.4, (-0.1, 0.02), (0.12, 0.03))


def certain(
    time: np.ndarray, distance: np.ndarray, count: int, draw: np.random.Generator
) -> NextBounces:
    """A ball without noise: time and distance fall by the restitution, straight ahead."""
    ones = np.ones((len(time), count))
    return NextBounces(
        RESTITUTION * time[:, None] * ones, RESTITUTION * distance[:, None] * ones, 0.0 * ones
    )


def noisy(
    time: np.ndarray, distance: np.ndarray, count: int, draw: np.random.Generator
) -> NextBounces:
    """Gaussian noise on the certain ball; the direction of travel does not matter to its spread."""
    base = certain(time, distance, count, draw)
    noise = 0.03 * draw.standard_normal((3, *base.time.shape))
    return NextBounces(base.time * np.exp(noise[0]), base.along + noise[1], noise[2])


def test_a_ball_without_noise_crosses_where_the_parabola_does() -> None:
    plane = 0.15
    found = lookahead.sample(
        LAST, certain, plane=plane, depth=4, branches=3, draw=np.random.default_rng(0)
    )
    # by hand: steps of 0.096, 0.0768, 0.06144, 0.049152 from -0.1: the plane is in the fourth
    x = -0.1 + 0.096 + 0.0768 + 0.06144
    share = (plane - x) / 0.049152
    times = 0.4 * RESTITUTION ** np.arange(1, 5)
    vertical = 9.81 * times[3] / 2
    wait = share * times[3]
    assert (found.flight == 4).all() and found.crossed == pytest.approx(1.0)
    np.testing.assert_allclose(found.time, times[:3].sum() + wait)
    np.testing.assert_allclose(found.y, 0.02 + 0.25 * (plane + 0.1))
    np.testing.assert_allclose(found.z, vertical * wait - 9.81 / 2 * wait**2)
    assert found.next_event == pytest.approx(times[0])


def test_n_to_the_k_samples_are_drawn_and_their_shares_sum_to_one() -> None:
    asked = []

    def counted(
        time: np.ndarray, distance: np.ndarray, count: int, draw: np.random.Generator
    ) -> NextBounces:
        asked.append(len(time) * count)
        return noisy(time, distance, count, draw)

    draw = np.random.default_rng(1)
    never = lookahead.sample(LAST, counted, plane=9.0, depth=4, draw=draw)
    assert asked == [10, 100, 1000, 10_000]
    assert never.missed == pytest.approx(1.0) and never.crossed == 0.0 and len(never.y) == 0
    some = lookahead.sample(LAST, noisy, plane=0.08, depth=3, draw=draw)
    assert 0.0 < some.missed < 1.0
    assert some.crossed + some.missed == pytest.approx(1.0)
    assert some.crossed == pytest.approx(some.weight.sum())


def slow_walk(plane: float, depth: int, draw: np.random.Generator) -> tuple[float, float] | None:
    """One ball, bounce by bounce, in polar coordinates: (time, y) of its crossing."""
    x, y = LAST.place
    time, heading = LAST.time, np.arctan2(LAST.step[1], LAST.step[0])
    distance, since = np.hypot(*LAST.step), 0.0
    for _ in range(depth):
        found = noisy(np.array([time]), np.array([distance]), 1, draw)
        time, distance = float(found.time[0, 0]), float(found.distance[0, 0])
        heading += float(found.turn[0, 0])
        before = (x, y)
        x, y = x + distance * np.cos(heading), y + distance * np.sin(heading)
        since += time
        if before[0] < plane <= x:
            share = (plane - before[0]) / (x - before[0])
            return since - (1 - share) * time, before[1] + share * (y - before[1])
    return None


def test_the_tree_has_the_law_of_single_balls() -> None:
    draw = np.random.default_rng(2)
    walks = [slow_walk(0.05, 2, draw) for _ in range(4000)]
    crossed = np.array([walk for walk in walks if walk is not None])
    found = lookahead.sample(LAST, noisy, plane=0.05, depth=2, branches=300, draw=draw)
    share = len(crossed) / len(walks)
    # the tree has 300 independent first flights, so its standard errors are at most those of 300
    # balls; with the 4000 walks' own, three of both: 3 * sqrt(s (1 - s) (1 / 300 + 1 / 4000))
    both = 3 * np.sqrt(1 / 300 + 1 / 4000)
    assert abs(found.crossed - share) < both * np.sqrt(share * (1 - share))
    weight = found.weight / found.crossed
    for values, walked in ((found.time, crossed[:, 0]), (found.y, crossed[:, 1])):
        allowed = both / np.sqrt(share) * walked.std()
        assert abs(weight @ values - walked.mean()) < allowed


def test_mirrored_bounces_give_mirrored_crossings() -> None:
    def flipped(
        time: np.ndarray, distance: np.ndarray, count: int, draw: np.random.Generator
    ) -> NextBounces:
        found = noisy(time, distance, count, draw)
        return NextBounces(found.time, found.along, -found.across)

    mirror = LastBounces(LAST.time, (-0.1, -0.02), (0.12, -0.03))
    one = lookahead.sample(LAST, noisy, plane=0.1, depth=3, draw=np.random.default_rng(3))
    other = lookahead.sample(mirror, flipped, plane=0.1, depth=3, draw=np.random.default_rng(3))
    np.testing.assert_allclose(other.y, -one.y, atol=1e-12)
    np.testing.assert_allclose(other.z, one.z, atol=1e-12)


def test_a_shift_of_ball_and_plane_shifts_the_crossings() -> None:
    shifted = LastBounces(LAST.time, (0.4, 1.02), LAST.step)
    one = lookahead.sample(LAST, noisy, plane=0.1, depth=3, draw=np.random.default_rng(4))
    other = lookahead.sample(shifted, noisy, plane=0.6, depth=3, draw=np.random.default_rng(4))
    np.testing.assert_allclose(other.y, one.y + 1.0)
    np.testing.assert_allclose(other.z, one.z, atol=1e-12)


def test_spread_is_the_weighted_mean_and_deviation() -> None:
    found = lookahead.sample(LAST, noisy, plane=0.05, depth=3, draw=np.random.default_rng(5))
    whole = np.repeat(found.y, np.round(found.weight * 1000).astype(int))
    spread = lookahead.spread(found)
    assert spread is not None
    assert spread.mean[0] == pytest.approx(whole.mean()) and spread.sd[0] == pytest.approx(
        whole.std()
    )


def test_a_ball_on_the_spot_or_past_the_plane_is_sampled_without_a_crossing() -> None:
    draw = np.random.default_rng(6)
    still = LastBounces(0.3, (0.0, 0.0), (0.0, 0.0))
    past = LastBounces(0.3, (0.5, 0.0), (0.1, 0.0))
    for last in (still, past):
        found = lookahead.sample(last, certain, plane=0.3, depth=2, draw=draw)
        assert found.missed == pytest.approx(1.0) and lookahead.spread(found) is None
        assert np.isfinite(found.next_event)


@pytest.mark.parametrize(
    "last, depth, branches",
    [
        (LastBounces(0.0, (0.0, 0.0), (0.1, 0.0)), 2, 10),
        (LastBounces(np.nan, (0.0, 0.0), (0.1, 0.0)), 2, 10),
        (LastBounces(0.3, (np.inf, 0.0), (0.1, 0.0)), 2, 10),
        (LAST, 0, 10),
        (LAST, 2, 0),
        (LAST, 7, 10),
    ],
)
def test_what_cannot_be_looked_ahead_from_is_refused(
    last: LastBounces, depth: int, branches: int
) -> None:
    with pytest.raises(ValueError, match=r"last|depth"):
        lookahead.sample(
            last, certain, plane=0.3, depth=depth, branches=branches, draw=np.random.default_rng(0)
        )


def test_in_air_it_crosses_where_followed_flights_do() -> None:
    """500 flights of a ping-pong ball, followed to their landing for the law, and to the plane."""
    draw, drag = np.random.default_rng(2), 0.132
    low, high = (0.3, -0.1, 0.8), (0.8, 0.1, 1.8)
    exits = torch.from_numpy(draw.uniform(low, high, (500, 3)))
    k = torch.full((500,), drag, dtype=torch.float64)
    flown = flight.fly(exits, drag=k)
    landed = flown.displacement.numpy()
    plane = 0.7 * float(landed[:, 0].min())
    when, where = (each.numpy() for each in flight.meet(exits, torch.full_like(k, plane), drag=k))

    def followed(
        time: np.ndarray, distance: np.ndarray, count: int, draw: np.random.Generator
    ) -> NextBounces:
        return NextBounces(flown.duration.numpy()[None], landed[None, :, 0], landed[None, :, 1])

    ahead, still = (
        lookahead.sample(
            LastBounces(0.3, (0.0, 0.0), (0.1, 0.0)), followed,
            plane=plane, depth=1, branches=500, drag=of, draw=draw,
        )
        for of in (drag, 0.0)
    )  # fmt: skip
    assert ahead.crossed == pytest.approx(1.0)
    # k w T^2 / 48 of time at most, 0.7 ms, and w times that; without the air's share 2 ms and 4 mm
    np.testing.assert_allclose(ahead.y, where[:, 1], atol=1e-6)
    np.testing.assert_allclose(ahead.time, when, atol=7e-4)
    np.testing.assert_allclose(ahead.z, where[:, 2], atol=1.3e-3)
    assert np.abs(ahead.z - where[:, 2]).mean() < 0.3 * np.abs(still.z - where[:, 2]).mean()
