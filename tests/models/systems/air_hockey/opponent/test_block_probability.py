"""The chance of a block: against pucks and mallets drawn one by one, and its limits."""

from dataclasses import replace

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.systems.air_hockey.opponent.block_probability import block_probability
from ricochet.models.systems.air_hockey.opponent.scripts import Sweep
from ricochet.models.systems.air_hockey.opponent.tracker import Forecast, OpponentTracker
from ricochet.models.systems.air_hockey.shots.crossings import Crossing
from ricochet.models.systems.air_hockey.table import Table

TABLE = Table()


class Known(OpponentTracker):
    """A mallet whose forecast is given: it moves straight from a place, with a deviation."""

    def __init__(
        self, place: tuple[float, float], velocity: tuple[float, float], sd: float
    ) -> None:
        super().__init__(TABLE)
        self.update(np.array(place))
        self.start, self.rate, self.sd = np.array(place), np.array(velocity), sd

    def forecast(self, times: ndarray) -> Forecast:
        place = self.start + np.asarray(times)[..., None] * self.rate
        return Forecast(place, 0.0 * place + self.rate, 0.0 * place + self.sd)


def crossing(
    y: float, velocity: tuple[float, float], *, sd: float = 0.01, time: float = 0.8
) -> Crossing:
    one = np.ones(1)
    rate = np.array((velocity,))
    return Crossing(one > 0, y * one, sd * one, rate, np.zeros(1, int), time * one)


def blocked(opponent: OpponentTracker, shot: Crossing, until: float = 0.5) -> float:
    return float(block_probability(opponent, shot, TABLE, until_contact=np.array([until]))[0])


@pytest.mark.parametrize("seed", range(6))
def test_as_many_are_blocked_as_of_pucks_and_mallets_drawn_one_by_one(seed: int) -> None:
    """Each pair is followed in steps of half a millisecond; within 4 standard errors, and 0.01."""
    draw, samples = np.random.default_rng(seed), 4000
    place, rate = draw.uniform((0.75, -0.12), (0.92, 0.12)), draw.uniform(-0.5, 0.5, 2)
    y, velocity = draw.uniform(-0.1, 0.1), (draw.uniform(1.0, 2.0), draw.uniform(-0.6, 0.6))
    sd, own, until = 0.03, 0.012, 0.3
    found = crossing(y, velocity, sd=own)
    known = Known((float(place[0]), float(place[1])), (float(rate[0]), float(rate[1])), sd)
    chance = blocked(known, found, until)
    times = np.arange(-0.25, 0.0, 5e-4)
    off = draw.normal(0.0, (0.0, own), (samples, 2)) - draw.normal(0.0, sd, (samples, 2))
    line = np.array((TABLE.half_length, y)) + times[:, None] * np.array(velocity)
    mallet = place + (until + 0.8 + times)[:, None] * rate
    apart = np.linalg.norm((line - mallet)[None] + off[:, None], axis=-1).min(1)
    share = (apart < TABLE.contact_radius).mean()
    assert chance == pytest.approx(share, abs=0.01 + 4.0 * np.sqrt(share * (1 - share) / samples))


def test_mirrored_shots_at_a_mirrored_mallet_are_blocked_as_often() -> None:
    here = blocked(Known((0.85, 0.03), (0.02, 0.03), 0.02), crossing(0.05, (1.5, 0.4)))
    there = blocked(Known((0.85, -0.03), (0.02, -0.03), 0.02), crossing(-0.05, (1.5, -0.4)))
    assert 0.0 < here < 1.0 and here == pytest.approx(there, abs=1e-12)


def test_a_mallet_in_the_way_blocks_and_one_aside_or_behind_the_line_does_not() -> None:
    shot = crossing(0.0, (1.5, 0.0))
    for place, expected in (((0.85, 0.0), 1.0), ((0.85, 0.2), 0.0), ((1.0, 0.0), 0.0)):
        known = Known((0.9, 0.0), (0.0, 0.0), 0.01)
        known.start = np.array(place)
        assert blocked(known, shot) == pytest.approx(expected, abs=1e-3)


def test_nobody_and_a_puck_that_does_not_arrive_block_nothing() -> None:
    assert blocked(OpponentTracker(TABLE), crossing(0.0, (1.5, 0.0))) == 0.0
    short = replace(crossing(np.nan, (np.nan, np.nan)), arrives=np.zeros(1, bool))
    assert blocked(Known((0.85, 0.0), (0.0, 0.0), 0.01), short) == 0.0


def test_less_is_known_of_a_mallet_the_nearer_the_chance_is_to_its_share_of_the_way() -> None:
    shot = crossing(0.0, (1.5, 0.0))
    chances = [blocked(Known((0.85, 0.0), (0.0, 0.0), sd), shot) for sd in (0.01, 0.05, 0.2)]
    assert chances[0] > chances[1] > chances[2] > 0.0


def test_a_swept_goal_is_open_when_the_sweep_is_at_its_side() -> None:
    """The same shot, at times over a period of the sweep, is blocked in some and free in others."""
    tracker, sweep = OpponentTracker(TABLE), Sweep(0.4)
    for k in range(150):
        tracker.update(sweep.move(0.02 * k, np.zeros(2))[0])
    shot = crossing(0.0, (1.6, 0.0), time=0.7)
    chances = [blocked(tracker, shot, time) for time in np.arange(0.0, 1.0, 0.1)]
    assert min(chances) < 0.1 and max(chances) > 0.7
