"""The belief of where a pendulum is: the posterior's law of it, right as often as it says."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.inference import motion_predictions
from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import Noise, ShootingDensity
from ricochet.models.systems.rigid_bodies import (
    double_pendulum,
    marked_motion,
    pendulum_limits,
    pendulum_tracking,
)
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from tests.models.systems.rigid_bodies import rods

FRAMES = 2 * rods.WINDOW


def seen_of(states: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return states + rods.OBSERVATION * generator.normal(size=states.shape)


def test_states_are_those_of_the_whole_recording_but_for_its_ends() -> None:
    angles = np.random.default_rng(0).normal(size=(41, 2)).cumsum(0)
    expected = marked_motion.states(angles, 400.0)[5:-5]
    np.testing.assert_allclose(pendulum_tracking.states(angles, 400.0), expected, atol=1e-9)
    assert (pendulum_tracking.WINDOW, pendulum_tracking.ORDER) == (
        marked_motion.WINDOW,
        marked_motion.ORDER,
    )


def test_the_belief_is_the_law_that_the_posterior_gives_to_the_last_state() -> None:
    """By draws of it, of many particles that are the same."""
    generator, many = np.random.default_rng(1), 1000
    one = rods.draws(1, 0.0)
    states = rods.swung(one, rods.starts(1, generator), FRAMES, generator)[:, 0]
    seen = seen_of(states, generator)
    belief = pendulum_tracking.track(one, seen)
    scale = torch.from_numpy(seen.std(0))
    simulate = partial(double_pendulum.move, duration=1.0 / rods.RATE, substeps=rods.SUBSTEPS)
    shooting = Shooting(simulate, torch.from_numpy(seen[None]), 2, scale)
    low, high = (
        torch.from_numpy(pendulum_limits.LOW),
        torch.from_numpy(pendulum_limits.HIGH),
    )
    low = low.clone()
    low[[1, 7]] = 1e-5
    density = ShootingDensity(shooting, Shares(Limits(low, high)))
    x = density.coordinates.of(torch.from_numpy(one.theta)).expand(many, -1)
    noise = Noise(
        *(torch.from_numpy(each[0]).expand(many, -1) / scale
          for each in (one.observation, one.departure))
    )  # fmt: skip
    ends = motion_predictions._ends(density, x, noise, generator)[:, 0].numpy()
    deviation = np.sqrt(np.diag(belief.covariance[0]))
    away = (ends.mean(0) - belief.mean[0]) / deviation
    assert np.abs(away).max() < 4.0 / np.sqrt(many) + 0.02
    ratio = np.linalg.eigvals(np.linalg.solve(belief.covariance[0], np.cov(ends.T))).real
    assert np.abs(ratio - 1.0).max() < 4.0 * np.sqrt(2.0 / many) + 0.05


@pytest.mark.proof
@pytest.mark.parametrize("frames", [FRAMES, 30])
def test_regions_of_the_state_hold_it_as_often_as_they_say(frames: int) -> None:
    """Also where the first window is shorter, with departures at the starts of all others."""
    count, generator = 300, np.random.default_rng(2)
    own = rods.draws(count, 0.05)
    whole = rods.swung(own, rods.starts(count, generator), FRAMES, generator)
    states = whole[FRAMES - frames :]
    away = np.empty((count, 4))
    covariance = np.empty((count, 4, 4))
    for place in range(count):
        seen = seen_of(states[:, place], generator)
        belief = pendulum_tracking.track(own[place : place + 1], seen)
        away[place], covariance[place] = states[-1, place] - belief.mean[0], belief.covariance[0]
    squares = np.einsum("ni,nij,nj->n", away, np.linalg.inv(covariance), away)
    inside = (squares <= stats.chi2.ppf(0.9, 4)).mean()
    assert abs(inside - 0.9) < 3.0 * np.sqrt(0.09 / count)


def test_a_recording_that_is_seen_longer_is_known_better() -> None:
    generator, own = np.random.default_rng(3), rods.draws(5, 0.01, departing=False)
    states = rods.swung(own[:1], rods.starts(1, generator), 80, generator)[:, 0]
    seen = seen_of(states, generator)
    short, long = (pendulum_tracking.track(own, seen[-n:]) for n in (21, 81))
    sizes = [np.linalg.slogdet(each.covariance)[1] for each in (short, long)]
    assert (sizes[1] < sizes[0]).all()


def test_draws_of_a_belief_have_its_law() -> None:
    mean, factor = np.arange(4.0), np.tril(np.ones((4, 4)))
    belief = pendulum_tracking.Belief(
        np.tile(mean, (20_000, 1)), np.tile(factor @ factor.T, (20_000, 1, 1))
    )
    found = belief.drawn(np.random.default_rng(0))
    np.testing.assert_allclose(found.mean(0), mean, atol=4.0 * 2.0 / np.sqrt(20_000))
    np.testing.assert_allclose(np.cov(found.T), factor @ factor.T, atol=0.16)


def test_a_draw_of_a_law_that_is_none_is_no_number_and_others_are_as_they_were() -> None:
    mean, good = np.zeros((3, 4)), np.tile(np.eye(4), (3, 1, 1))
    bad = good.copy()
    bad[1, 2, 2] = -1e-9
    expected, found = (
        pendulum_tracking.Belief(mean, each).drawn(np.random.default_rng(0)) for each in (good, bad)
    )
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(found[[0, 2]], expected[[0, 2]])


def test_some_of_the_draws_keep_what_they_have_in_common() -> None:
    own = rods.draws(6)
    some = own[np.array([4, 1])]
    assert isinstance(some, Draws)
    np.testing.assert_array_equal(some.theta, own.theta[[4, 1]])
    assert (some.rate, some.window, some.substeps) == (own.rate, own.window, own.substeps)
