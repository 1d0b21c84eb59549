"""A hand that stays before a drawer: at its distance, ahead of it, and farther when in doubt."""

import math

import pytest

from ricochet.models.systems.drawers import hand
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.models.systems.drawers.hand import AHEAD, CLEARANCE, GAP
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.tracking.follower import Estimate

GRAMMAR = Grammar(0.0, 0.4)


def at(place: float, high: float | None = None) -> Estimate:
    high = place if high is None else high
    return Estimate(place, 0.01, 2.0 * place - high, high, 0.5)


def goals(estimates: list[Estimate]) -> list[float]:
    found, made = hand.begin(GRAMMAR), []
    for each in estimates:
        found = hand.follow(found, each, GRAMMAR)
        made.append(found.goal)
    return made


def test_before_anything_is_known_it_waits_where_the_drawer_never_comes() -> None:
    assert hand.begin(GRAMMAR).goal == pytest.approx(0.4 + GAP)


def test_a_drawer_at_rest_has_it_at_its_distance() -> None:
    assert goals([at(0.2)] * 3)[-1] == pytest.approx(0.2 + GAP)


def test_doubt_moves_it_away_and_never_nearer() -> None:
    """The upper end counts from where it and CLEARANCE are beyond the usual distance."""
    found = [goals([at(0.1, high)])[-1] for high in (0.1, 0.15, 0.25, 0.4)]
    assert found == sorted(found)
    assert found[0] == pytest.approx(0.1 + GAP) and found[-1] == pytest.approx(0.4 + CLEARANCE)


def test_a_drawer_that_moves_evenly_has_it_ahead_by_what_an_arm_takes() -> None:
    speed = 0.3
    found = goals([at(0.02 + speed * PERIOD * n) for n in range(15)])
    assert found[-1] == pytest.approx(0.02 + speed * PERIOD * 14 + speed * AHEAD + GAP, abs=1e-4)


def test_it_never_leads_beyond_the_limits() -> None:
    found = goals([at(0.1), at(0.38), at(0.4)])
    assert max(found) <= 0.4 + GAP + 1e-12


def test_the_same_motion_elsewhere_has_it_elsewhere_by_as_much() -> None:
    places = [0.1, 0.12, 0.15, 0.15]
    here, there = goals([at(x) for x in places]), goals([at(x + 0.05) for x in places])
    assert [b - a for a, b in zip(here, there, strict=True)] == pytest.approx([0.05] * 4)


@pytest.mark.parametrize("wrong", [at(math.nan), at(0.1, math.inf)])
def test_an_estimate_that_is_none_is_refused(wrong: Estimate) -> None:
    with pytest.raises(ValueError, match="expected both"):
        hand.follow(hand.begin(GRAMMAR), wrong, GRAMMAR)
