"""Crossing a disc: contact by brute force, mirrors, larger discs, chances that come true."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.rigid_bodies import disc_crossing, pendulum_tracking
from ricochet.models.systems.rigid_bodies.disc_crossing import (
    FASTEST,
    INTERVALS,
    SLOWEST,
    Crossing,
    Disc,
)
from tests.models.systems.rigid_bodies import rods

FRAMES = 41


def watched(count: int, seed: int, departing: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return angles of rods, as seen and as they are, shape (frame, pendulum, 2)."""
    generator = np.random.default_rng(seed)
    own = rods.draws(count, 0.01, departing)
    states = rods.swung(own, rods.starts(count, generator), 400, generator)
    angles = states[..., :2]
    return angles + rods.OBSERVATION[:2] * generator.normal(size=angles.shape), angles


def test_contact_is_a_point_of_a_link_in_the_disc() -> None:
    angles, disc = np.random.default_rng(0).uniform(-4.0, 4.0, (3000, 2)), Disc()
    share = np.linspace(0.0, 1.0, 2001)[:, None]
    elbow = np.stack((np.sin(angles[:, 0]), np.cos(angles[:, 0])), -1)
    whole = angles.sum(1)
    tip = elbow + disc.link_2 * np.stack((np.sin(whole), np.cos(whole)), -1)
    centre = np.array((disc.aside, disc.down))
    nearest = np.full(len(angles), np.inf)
    for begin, end in ((0.0 * elbow, elbow), (elbow, tip)):
        points = begin + share[:, None] * (end - begin)
        nearest = np.minimum(nearest, np.linalg.norm(points - centre, axis=-1).min(0))
    clear = np.abs(nearest - disc.radius) > 1e-3
    np.testing.assert_array_equal(disc.touched(angles)[clear], (nearest <= disc.radius)[clear])
    assert 0.05 < disc.touched(angles).mean() < 0.95


def test_a_larger_disc_never_lowers_the_chance() -> None:
    seen, _ = watched(1, 0)
    for radius in (0.05, 0.28):
        chances = [
            Crossing(rods.draws(50), INTERVALS["long"], replace(Disc(), radius=each))
            .decide(seen[:FRAMES, 0], np.random.default_rng(0))
            .chance
            for each in (radius, 1.3 * radius)
        ]
        assert chances[0] <= chances[1]


def test_in_a_mirror_the_decision_is_the_same() -> None:
    """Without noise a future is no draw: all that is left is the parameters' spread."""
    own, (seen, _) = rods.draws(40, 0.05, departing=False), watched(5, 1)
    own = replace(own, observation=1e-9 * own.observation)
    mirrored = own.theta.copy()
    mirrored[:, [3, 9]] *= -1.0
    other, disc = replace(own, theta=mirrored), Disc()
    for each in seen[:FRAMES].swapaxes(0, 1):
        one = Crossing(own, INTERVALS["long"], disc).decide(each, np.random.default_rng(0))
        back = replace(disc, aside=-disc.aside)
        two = Crossing(other, INTERVALS["long"], back).decide(-each, np.random.default_rng(0))
        assert one == two


@pytest.mark.proof
def test_chances_come_true() -> None:
    """Of pendulums whose parameters are draws like those of the controller."""
    count, generator = 150, np.random.default_rng(4)
    seen, angles = watched(count, 5)
    own = rods.draws(count, 0.01)
    chances, touched = [], []
    crossing = Crossing(own[:80], INTERVALS["short"])
    first, last = (FRAMES - 1 + round(each * rods.RATE) for each in crossing.interval)
    for place in range(count):
        chances.append(crossing.decide(seen[:FRAMES, place], generator).chance)
        touched.append(crossing.disc.touched(angles[first : last + 1, place]).any())
    chance, came = np.array(chances), np.array(touched)
    error = np.sqrt((chance * (1.0 - chance)).sum() + 1.0)
    assert abs(chance.sum() - came.sum()) < 4.0 * error
    assert 0.1 < came.mean() < 0.9
    passed = chance <= crossing.tolerated
    allowed = chance[passed].sum()
    assert came[passed].sum() <= allowed + 4.0 * np.sqrt(allowed) + 1.0
    assert passed.sum() > 0.7 * (~came).sum()


def test_frames_that_cannot_be_decided_by_are_refused() -> None:
    crossing, (seen, _) = Crossing(rods.draws(3)), watched(1, 0)
    with pytest.raises(ValueError, match="40 frames, expected 41"):
        crossing.decide(seen[:40, 0], np.random.default_rng(0))
    broken = seen[:FRAMES, 0].copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="no numbers"):
        crossing.decide(broken, np.random.default_rng(0))


@pytest.mark.parametrize("speed", [300.0, 1e4, 1e8])
def test_what_no_future_follows_is_not_passed(speed: float) -> None:
    """As of angles in degrees, or in the wrong order: futures run away, some to no number."""
    crossing = Crossing(rods.draws(40), INTERVALS["long"])
    seen = speed * np.arange(FRAMES)[:, None] / rods.RATE * (1.0, -1.0)
    coming = crossing.futures(pendulum_tracking.states(seen, rods.RATE), np.random.default_rng(0))
    found = crossing.decide(seen, np.random.default_rng(0))
    assert found.chance >= 1.0 - np.isfinite(coming).all((0, 2)).mean()
    assert not found.passes


@pytest.mark.parametrize("rate", [10.0, 60.0, 109.0, 1101.0, 1e5, np.nan])
def test_a_slow_film_and_a_fast_one_are_refused(rate: float) -> None:
    """Polynomials through eleven frames of 20 Hz make no speeds of a swing."""
    own = replace(rods.draws(20), rate=rate, window=1)
    with pytest.raises(ValueError, match=f"a film of {rate:g} Hz, expected 110 to 1100 Hz"):
        Crossing(own).decide(np.full((FRAMES, 2), 1e-3), np.random.default_rng(0))


@pytest.mark.parametrize("rate", [SLOWEST, FASTEST])
def test_the_slowest_film_and_the_fastest_are_decided_by(rate: float) -> None:
    own = replace(rods.draws(20), rate=rate, window=1, substeps=max(1, round(1600 / rate)))
    crossing = Crossing(own, INTERVALS["long"])
    hangs = np.full((crossing.frames, 2), 1e-3)
    assert crossing.frames == round(0.1 * rate) + 1
    assert crossing.decide(hangs, np.random.default_rng(0)).chance < 0.5


def test_draws_count_alike_whether_their_futures_are_held_together(monkeypatch) -> None:
    """Without noise a future is no draw."""
    own, (seen, _) = rods.draws(12, 0.1, departing=False), watched(6, 1)
    crossing = Crossing(replace(own, observation=1e-9 * own.observation), INTERVALS["long"])
    found = []
    for together in (12, 5):
        monkeypatch.setattr(disc_crossing, "TOGETHER", together)
        decided = [
            crossing.decide(each, np.random.default_rng(0)) for each in seen[:FRAMES].swapaxes(0, 1)
        ]
        found.append([each.chance for each in decided])
    assert found[0] == found[1]
    assert any(0.0 < chance < 1.0 for chance in found[0])


def test_draws_of_which_no_pendulum_moves_so_are_ones_of_contact() -> None:
    """By noise as a package may have it: a covariance has no inverse, or no factor."""
    hangs = np.full((FRAMES, 2), 0.7)
    for across in (rods.RODS[9], -1e-300):
        own = replace(rods.draws(20), window=1, substeps=3)
        own.observation[:5], own.theta[:5, 9] = (0.036, 1e-11, 1e-9, 1e3), across
        assert not Crossing(own).decide(hangs, np.random.default_rng(0)).passes


def test_only_the_last_frames_matter() -> None:
    crossing, (seen, _) = Crossing(rods.draws(20)), watched(1, 0)
    one, two = (
        crossing.decide(each, np.random.default_rng(0))
        for each in (seen[:100, 0], seen[100 - FRAMES : 100, 0])
    )
    assert one == two
