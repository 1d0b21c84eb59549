"""False bounces: enumerated with importance sampling, found among true ones, and seldom alleged."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.chains import false_bounces, posterior
from ricochet.models.systems.bouncing_ball.chains.false_bounces import Judged, Set
from ricochet.models.systems.bouncing_ball.chains.log_density import Density
from ricochet.models.systems.bouncing_ball.chains.observations import Take, grouped
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from tests.oracles import false_detections
from tests.oracles.simulated_chains import Case, session

PRIOR = Prior()
SCATTERS = np.log([3e-4, 1e-3, 0.1])
POINT = np.array([0.85, 3.5, 0.0, np.log(1e-5), 0.0, -4.0, -3.5, *SCATTERS, 0.0, 0.0])


def weighed(take: Take, sets: list[Set] | None = None) -> np.ndarray:
    return false_bounces.weighed(take, sets or false_bounces.sets_of(take), PRIOR, POINT)


def spoilt(takes: list[Take], share: float, seed: int) -> tuple[list[Take], list[Set]]:
    """Put a false detection into a share of some takes."""
    draw = np.random.default_rng(seed)
    found, false = list(takes), list[Set]([()] * len(takes))
    for take in draw.choice(len(takes), round(share * len(takes)), replace=False):
        found[take], number = false_detections.anywhere(takes[take], draw)
        false[take] = (number,)
    return found, false


def ambiguous(seed: int) -> Take:
    """A take of three bounces with a false detection that is as near to one as errors are great."""
    draw, errors = np.random.default_rng(seed), (8e-3, 0.02)
    take = session(Case(1, 3, time_sd=errors[0], place_sd=errors[1]), seed)[0]
    if seed % 2:
        return false_detections.anywhere(take, draw)[0]
    near = int(draw.integers(3))
    time = take.times[near] + 2.0 * errors[0] * draw.standard_normal()
    return false_detections.put(take, time, take.places[near] + 0.03 * draw.standard_normal(2))[0]


def pilot(takes: list[Take]) -> Density:
    """The density about the point at which takes are simulated."""
    member = posterior.at_point(grouped(takes), PRIOR, POINT)
    return Density(member.groups, member.paths, PRIOR, POINT)


@pytest.mark.proof
def test_probabilities_are_those_of_the_enumeration() -> None:
    """The first of a hundred, of which none was off by more than 0.036."""
    undecided = 0
    for seed in range(10):
        take = ambiguous(seed)
        ours, (slow, errors) = weighed(take), false_detections.enumerated(take, PRIOR, POINT)
        # a probability moves by a quarter of what its log odds do at most: those of two sets are
        # off by 0.15 nats of Laplace's rule each (`test_laplace`), and four errors of the draws
        likely = np.argsort(slow)[-2:]
        assert np.abs(ours - slow).max() < 0.25 * (0.3 + 4.0 * errors[likely].sum())
        undecided += slow.max() < 0.95
    assert undecided >= 3


def test_chances_of_all_sets_add_up_to_one() -> None:
    take = replace(session(Case(1, 4), 0)[0], place_sd=np.full(4, np.inf))
    second = replace(take, times=take.times / np.ptp(take.times))
    every = [chosen for count in range(5) for chosen in combinations(range(4), count)]
    total = sum(np.exp(false_bounces.log_prior(second, false)) for false in every)
    assert total == pytest.approx(1.0)


@pytest.mark.slow
def test_the_clock_s_zero_does_not_matter() -> None:
    take, sets = ambiguous(2), [(2,), (3,)]
    later = replace(take, times=take.times + 1.7)
    chances = weighed(take, sets)
    assert 0.6 < chances[0] < 0.8
    # what the search for paths leaves: 1e-3 nats each
    np.testing.assert_allclose(weighed(later, sets), chances, atol=1e-3)


def test_the_order_of_takes_does_not_matter() -> None:
    takes, _ = spoilt(session(Case(8, 6), 1), 0.4, 2)
    plain, order = false_bounces.suspected(takes), [3, 0, 7, 5, 1, 2, 6, 4]
    turned = false_bounces.suspected([takes[number] for number in order])
    assert turned == [plain[number] for number in order]


@pytest.mark.slow
def test_the_farther_a_false_detection_is_from_a_bounce_the_surer_it_is() -> None:
    take = session(Case(1, 3, time_sd=8e-3, place_sd=0.02), 4)[0]
    chances = []
    for away in (0.002, 0.02, 0.05, 0.15):
        false, number = false_detections.put(take, take.times[1] + away, take.places[1])
        chances.append(weighed(false, [(number,), (number - 1,), ()])[0])
    assert (np.diff(chances) > 0.0).all() and chances[0] < 0.9 and chances[-1] > 0.9999


@pytest.mark.slow
def test_one_of_two_detections_that_are_alike_is_not_left_out() -> None:
    takes = session(Case(5, 4, time_sd=3e-3), 3)
    takes[2], number = false_detections.put(takes[2], takes[2].times[2] + 5e-4, takes[2].places[2])
    suspects = false_bounces.suspected(takes)
    assert {(number,), (number - 1,)} <= set(suspects[2])
    assert false_bounces.judged(takes, suspects, pilot(takes[:2])) == [Judged()] * 5


def test_in_a_sound_session_nothing_is_weighed(monkeypatch) -> None:
    """So that its answer is bit for bit what it was."""
    monkeypatch.setattr(false_bounces, "weighed", None)
    takes = session(Case(8, 6), 5)
    judged = false_bounces.judged(takes, false_bounces.suspected(takes), pilot(takes))
    assert judged == [Judged()] * 8
    left = false_bounces.left_out(takes, [each.false for each in judged])
    assert all(ours is whole for ours, whole in zip(left, takes, strict=True))


def test_sets_leave_chains() -> None:
    take = session(Case(1, 5), 6)[0]
    assert len(false_bounces.sets_of(take)) == 1 + 5 + 10
    missed = replace(take, time_sd=np.where(np.arange(5) == 1, np.inf, take.time_sd))
    # four are seen, of which the first cannot go: what is left would begin with the missed one
    assert false_bounces.sets_of(missed) == [(), (2,), (3,), (4,)]


@pytest.mark.proof
def test_sets_that_intervals_exclude_have_no_probability() -> None:
    takes, _ = spoilt(session(Case(5, 4), 7), 0.4, 8)
    for take, suspects in zip(takes, false_bounces.suspected(takes), strict=True):
        if suspects:
            every = false_bounces.sets_of(take)
            chances = dict(zip(every, weighed(take), strict=True))
            assert sum(chances[false] for false in [(), *suspects]) > 0.999


@pytest.mark.proof
@pytest.mark.slow
def test_false_detections_are_found_and_true_ones_kept() -> None:
    """In smooth and rough sessions of which two takes in five have one."""
    found = right = wrong = 0
    for seed in range(4):
        units = {"concentration": 10**2.5} if seed % 2 else {}
        takes, false = spoilt(session(Case(10, 6, units=units), 20 + seed), 0.4, seed)
        point = np.where(np.arange(12) == 1, np.log10(units.get("concentration", 10**3.5)), POINT)
        density = replace(pilot(takes[:1]), point=point)
        judged = false_bounces.judged(takes, false_bounces.suspected(takes), density)
        found += sum(map(bool, false))
        right += sum(a.false == b != () for a, b in zip(judged, false, strict=True))
        wrong += sum(len(set(a.false) - set(b)) for a, b in zip(judged, false, strict=True))
    # one in a hundred hides among intervals: three of 16 are more than chance
    assert found == 16 and right >= 14
    # of 240 bounces at most 1 %
    assert wrong <= 2
