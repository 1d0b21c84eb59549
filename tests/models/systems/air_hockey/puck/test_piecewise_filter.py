"""The filter against a batch solution, against its own errors, and through banks and strikes."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import dynamics, piecewise_filter
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes, puck_sampler

TABLE = Table()
NOISE = 2e-3
MODES = hockey_modes.made(wall=(0.03, 0.02), mallet=(0.02, 0.04), delay=0.0)


def played(states: np.ndarray, steps: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return puck_sampler.paths(MODES, states, TABLE, steps=steps, draw=draw)


def followed(places: np.ndarray) -> list[piecewise_filter.State]:
    states = [piecewise_filter.init(MODES, TABLE, position=places[0], noise=NOISE)]
    for place in places[1:]:
        states.append(piecewise_filter.update(states[-1], place))
    return states


def test_floating_equals_the_batch_least_squares_solution():
    """Posterior of the first state by one Gaussian regression, carried to the end."""
    draw = np.random.default_rng(0)
    modes = hockey_modes.made(floating=0.0)
    start = np.array([-0.3, 0.1, 0.3, -0.2, 0.05, 0.03])
    path = modes.flights.matrix[:20] @ start
    seen = path[:, :2] + NOISE * draw.standard_normal((20, 2))
    state = piecewise_filter.init(modes, TABLE, position=seen[0], noise=NOISE)
    for place in seen[1:]:
        state = piecewise_filter.update(state, place)
    design = modes.flights.matrix[:20, :2].reshape(-1, 6)
    prior = np.diag(np.array([0.0, 0.0, 1.0, 1.0, 0.07**-2, 0.07**-2]))
    information = design.T @ design / NOISE**2 + prior
    first = np.linalg.solve(information, design.T @ seen.ravel() / NOISE**2)
    last = modes.flights.matrix[19]
    np.testing.assert_allclose(state.mean, last @ first, atol=1e-7)
    spread = last @ np.linalg.inv(information) @ last.T
    np.testing.assert_allclose(state.covariance, spread, atol=1e-8)


@pytest.mark.slow
def test_errors_are_as_large_as_the_filter_says():
    """70 pucks, banks included: the mean of d^2 (2 dof, sd 2) within three errors of 2."""
    draw = np.random.default_rng(5)
    place = draw.uniform(-1.0, 1.0, (70, 2)) * (0.6, 0.4)
    starts = puck_sampler.release(MODES, place, draw.normal(0.0, 0.6, (70, 2)), draw=draw)
    path = played(starts, 40, 6)
    seen = path[..., :2] + NOISE * draw.standard_normal((41, 70, 2))
    distances, banked = [], 0
    for i in range(70):
        if (np.abs(path[:, i, 0]) > TABLE.wall_x).any():
            continue
        states = followed(seen[:, i])
        banked += any(state.mode == "bank" for state in states)
        error = path[-1, i, 2:4] - states[-1].mean[2:4]
        distances.append(error @ np.linalg.solve(states[-1].covariance[2:4, 2:4], error))
    assert banked > 10
    count = len(distances)
    # The median of chi-squared with two degrees is 1.386; its error sqrt(1 / count) / 0.5.
    assert abs(np.median(distances) - 1.386) < 3.0 * 2.0 / count**0.5


def test_the_mirrored_puck_is_the_mirrored_state():
    start = np.array([[0.2, 0.1, 0.6, 0.9, 0.02, 0.03]])
    seen = played(start, 45, 1)[:, 0, :2]
    state, other = followed(seen)[-1], followed(seen * (1.0, -1.0))[-1]
    mirror = np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    np.testing.assert_allclose(other.mean, mirror @ state.mean, atol=1e-12)
    np.testing.assert_allclose(other.covariance, mirror @ state.covariance @ mirror, atol=1e-12)


def test_a_strike_happens_at_its_instant_within_the_period():
    mallet, speed = np.array([-0.3, 0.0]), np.array([1.0, 0.0])
    place = mallet + np.array((0.2, 0.005))
    state = piecewise_filter.init(MODES, TABLE, position=place, noise=NOISE)
    modes = []
    for k in range(1, 16):
        here = mallet + k * PERIOD * speed
        touch = (0.2 - np.sqrt(TABLE.contact_radius**2 - 0.005**2)) / 1.0
        late = k * PERIOD - touch
        seen = place if late < 0.0 else None
        state = piecewise_filter.update(state, seen, mallet=here, mallet_velocity=speed)
        modes.append(state.mode)
    assert modes.count("strike") == 1
    assert modes.index("strike") == int(touch / PERIOD)
    normal = np.array(
        [(1.0 - (0.005 / TABLE.contact_radius) ** 2) ** 0.5, 0.005 / TABLE.contact_radius]
    )
    tangent = np.array([-normal[1], normal[0]])
    launched = 1.45 * normal[0] * normal + 0.22 * tangent[0] * tangent
    decay = 0.99 ** (late / PERIOD)
    np.testing.assert_allclose(state.mean[2:4], decay * launched, atol=0.03)
    np.testing.assert_allclose(state.mean[:2], place + late * launched, atol=0.02)


def test_one_outlier_is_refused_and_a_row_of_them_accepted():
    state = followed(played(np.array([[0.0, 0.0, 0.1, 0.0, 0.0, 0.0]]), 30, 0)[:, 0, :2])[-1]
    far = state.mean[:2] + np.array((0.0, 0.2))
    once = piecewise_filter.update(state, far)
    np.testing.assert_allclose(once.mean[1], state.mean[1], atol=1e-3)
    for _ in range(piecewise_filter.RESET_AFTER - 1):
        once = piecewise_filter.update(once, far)
    np.testing.assert_allclose(once.mean[:2], far)


def test_a_puck_unseen_for_long_is_lost_until_it_is_seen():
    state = followed(played(np.array([[0.0, 0.0, 0.1, 0.0, 0.0, 0.0]]), 30, 0)[:, 0, :2])[-1]
    for _ in range(piecewise_filter.LOST_AFTER):
        assert not state.lost
        state = piecewise_filter.update(state, np.full(2, np.nan))
    assert state.lost
    state = piecewise_filter.update(state, np.array([0.5, 0.3]))
    assert not state.lost
    np.testing.assert_allclose(state.mean[:2], (0.5, 0.3))


def test_a_prediction_equals_steps_without_observations():
    state = followed(played(np.array([[0.0, 0.0, 0.8, 0.9, 0.0, 0.0]]), 20, 0)[:, 0, :2])[-1]
    mean, covariance = piecewise_filter.predict(state, 40 * PERIOD)
    for _ in range(40):
        state = piecewise_filter.update(state, None)
    np.testing.assert_allclose(mean, state.mean, atol=1e-10)
    np.testing.assert_allclose(covariance, state.covariance, atol=1e-10)


def test_a_part_of_a_period_lies_between_its_ends():
    state = followed(played(np.array([[0.0, 0.0, 0.8, 0.2, 0.0, 0.0]]), 20, 0)[:, 0, :2])[-1]
    ends = [piecewise_filter.predict(state, t)[0] for t in (0.1, 0.113, 0.12)]
    np.testing.assert_allclose(ends[1], ends[0] + 0.65 * (ends[2] - ends[0]), atol=1e-4)


@pytest.mark.parametrize("place", [(np.nan, 0.0), (1.2, 0.0), (0.0, -0.6)])
def test_a_first_place_off_the_table_is_refused(place):
    with pytest.raises(ValueError, match="position"):
        piecewise_filter.init(MODES, TABLE, position=np.array(place), noise=NOISE)


def test_a_prediction_into_the_past_is_refused():
    state = piecewise_filter.init(MODES, TABLE, position=np.zeros(2), noise=NOISE)
    with pytest.raises(ValueError, match="seconds"):
        piecewise_filter.predict(state, -0.1)


def test_the_covariance_stays_positive_through_everything():
    draw = np.random.default_rng(2)
    state = piecewise_filter.init(MODES, TABLE, position=np.zeros(2), noise=NOISE)
    for _ in range(300):
        seen = draw.uniform(-0.9, 0.9, 2) * (1.0, 0.5) if draw.random() < 0.7 else None
        mallet, speed = draw.uniform(-0.5, 0.5, 2), draw.normal(0.0, 1.0, 2)
        state = piecewise_filter.update(state, seen, mallet=mallet, mallet_velocity=speed)
        assert np.isfinite(state.mean).all()
        assert np.linalg.eigvalsh(state.covariance)[0] > -1e-12
        dynamics.step(MODES, state.mean, state.covariance, TABLE)


@pytest.mark.parametrize("mallet", [None, np.array([-0.07, 0.0]), np.full(2, np.nan)])
def test_a_mallet_of_unknown_velocity_strikes_nothing(mallet):
    """Neither does one that is nowhere: the puck floats, and all numbers stay numbers."""
    state = piecewise_filter.init(MODES, TABLE, position=np.zeros(2), noise=NOISE)
    plain = piecewise_filter.update(state, np.array([0.001, 0.0]))
    lost = piecewise_filter.update(
        state, np.array([0.001, 0.0]), mallet=mallet, mallet_velocity=np.array([np.nan, 0.0])
    )
    assert lost.mode == "floating"
    np.testing.assert_array_equal(lost.mean, plain.mean)
    np.testing.assert_array_equal(lost.covariance, plain.covariance)
