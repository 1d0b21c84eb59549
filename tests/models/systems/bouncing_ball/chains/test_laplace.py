"""The likelihood of chains: against importance sampling over paths, and its symmetries."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball import contact
from ricochet.models.systems.bouncing_ball.chains import (
    corrections,
    laplace,
    least_squares,
    log_density,
    normal_equations,
    observations,
    preparation,
)
from tests.oracles import chain_likelihood
from tests.oracles.simulated_chains import Case, session, values

LOSSES = {"scatter": 0.02, "drag": 0.13, "tangential_loss": 0.2, "take_scatter": 0.01}
SMALL = [
    # bounces, parameters, nats by which a take may be off beside the sampling's error: 25 takes
    (3, {"scatter": 0.02}, 0.25),
    pytest.param(4, {"scatter": 0.01, "concentration": 300.0}, 0.25, marks=pytest.mark.slow),
    pytest.param(5, LOSSES, 0.25, marks=pytest.mark.slow),
    # a redirection that may be narrow or wide is no normal law: 0.1 nats a bounce too low
    pytest.param(
        4, {"scatter": 0.02, "tail_share": 0.2, "tail_ratio": 0.1}, 0.6, marks=pytest.mark.slow
    ),
]


@pytest.mark.proof
@pytest.mark.parametrize("bounces, units, most", SMALL)
def test_it_is_the_integral_over_paths_of_a_hundred_small_cases(
    bounces: int, units: dict, most: float
) -> None:
    case = Case(takes=25, bounces=bounces, units=units)
    chains = observations.grouped(session(case, 7))
    groups, paths = preparation.prepare(chains, contact.constant, values(**units))
    groups = tuple(replace(group, floor=0.0 * group.floor) for group in groups)
    ours, slow, error = chain_likelihood.of_takes(groups, values(**units), paths)
    assert np.median(error) < 0.05
    assert (np.abs(ours - slow) < most + 4.0 * error).all()
    assert abs(np.median(ours - slow)) < most / 2


SHARE, RATIO = 0.2, 0.03


def test_two_kinds_of_redirections_are_what_all_assignments_add_up_to(monkeypatch) -> None:
    """Each of four exits narrow or wide, sixteen likelihoods of plain laws a take."""
    monkeypatch.setattr(least_squares, "TILT_SD", 1e-9)  # takes share nothing
    units = {"scatter": 0.02, "tail_share": SHARE, "tail_ratio": RATIO}
    takes = session(Case(takes=25, bounces=5, units=units), 8)
    chains = observations.grouped([replace(take, height_sd=1e-9) for take in takes])
    groups, paths = preparation.prepare(chains, contact.constant, values(**units))
    ours = laplace.evidence(groups, values(**units), paths)
    plain = values(scatter=0.02, tail_share=1e-12)
    alone = []
    for wide in itertools.product((False, True), repeat=4):
        chance = np.where(wide, np.log(SHARE), np.log1p(-SHARE)).sum()
        kinds = np.broadcast_to(np.where(wide, RATIO, 1.0), (1, 25, 4)).copy()
        monkeypatch.setattr(laplace, "_RENEWALS", 0)
        start = replace(ours.paths, weights=(kinds,))
        found = laplace.evidence(groups, plain, start)
        # the correction puts the narrow law in the place of each square: take it out again
        problem = laplace.problems_of(groups, found.paths, plain)[0]
        covariance = normal_equations.arrow(problem).covariance
        curved = corrections.curvature(problem, covariance)
        extra = corrections.of(problem, covariance, plain).log_likelihood - curved
        alone.append(chance + found.takes[0][0] - extra[0])
    apart = ours.takes[0][0] - np.logaddexp.reduce(alone)
    assert np.abs(apart).max() < 0.6 and abs(np.median(apart)) < 0.1


def _evidence(takes, **units) -> float:
    chains = observations.grouped(takes)
    groups, paths = preparation.prepare(chains, contact.constant, values(**units))
    return float(laplace.evidence(groups, values(**units), paths, enough=1e-9).log_likelihood[0])


@pytest.fixture(scope="module")
def takes():
    return session(Case(takes=5, bounces=6), 11)


def test_turning_and_shifting_the_table_changes_nothing(takes) -> None:
    cosine, sine = np.cos(0.7), np.sin(0.7)
    turn = np.array([[cosine, -sine], [sine, cosine]])
    moved = [
        replace(take, places=take.places @ turn.T + [0.3, -0.1], times=take.times + 5.0)
        for take in takes
    ]
    assert _evidence(moved) == pytest.approx(_evidence(takes), abs=1e-3)


def test_the_order_of_takes_does_not_matter(takes) -> None:
    assert _evidence(takes[::-1]) == pytest.approx(_evidence(takes), abs=1e-6)


def test_takes_of_different_lengths_add_up(takes) -> None:
    """Without shared errors the likelihood is a product over takes."""
    exact = [replace(take, height_sd=1e-9) for take in takes]
    short = replace(exact[0], **{
        name: getattr(exact[0], name)[:4]
        for name in ("times", "places", "time_sd", "place_sd", "distortion", "areas")
    })  # fmt: skip
    level = [replace(take, session=number) for number, take in enumerate([short, *exact[1:]])]
    apart = sum(_evidence([replace(take, session=0)]) for take in level)
    assert _evidence(level) == pytest.approx(apart, abs=0.02)


def test_every_point_of_a_batch_is_as_if_alone(takes) -> None:
    chains = observations.grouped(takes)
    groups, paths = preparation.prepare(chains, contact.constant, values())
    both = values(2)
    both.restitution[:] = [0.8495, 0.8503]
    together = laplace.evidence(groups, both, paths.repeated(2), enough=1e-9).log_likelihood
    for number in range(2):
        one = values(restitution=float(both.restitution[number]))
        alone = laplace.evidence(groups, one, paths, enough=1e-9).log_likelihood
        assert float(alone[0]) == pytest.approx(float(together[number]), abs=1e-4)


def test_a_bounce_that_was_not_detected_only_loses_its_information(takes) -> None:
    """Its time is a guess of no weight: another guess changes nothing."""

    def without(guess: float):
        time_sd, place_sd = takes[0].time_sd.copy(), takes[0].place_sd.copy()
        time_sd[2] = place_sd[2] = np.inf
        times = takes[0].times.copy()
        times[2] += guess
        return [replace(takes[0], times=times, time_sd=time_sd, place_sd=place_sd), *takes[1:]]

    assert _evidence(without(0.0)) == pytest.approx(_evidence(without(0.02)), abs=0.02)


@pytest.mark.parametrize("spoilt", ["times", "places", "height"])
def test_numbers_that_cannot_be_are_refused_by_take(takes, spoilt: str) -> None:
    value = getattr(takes[1], spoilt)
    bad = replace(takes[1], **{spoilt: value * np.nan})
    with pytest.raises(ValueError, match=r"takes\[1\]"):
        observations.grouped([takes[0], bad])


def test_a_search_that_ends_early_says_by_how_much_it_may_be_off() -> None:
    """What it still promises is in the likelihood already, so that little is missed."""
    units = {"scatter": 0.01, "take_scatter": 0.01}
    chains = observations.grouped(session(Case(takes=10, bounces=5, units=units), 9))
    groups, paths = preparation.prepare(chains, contact.constant, values(**units))
    other = values(scatter=0.02, take_scatter=0.005, restitution=0.852)
    whole = laplace.evidence(groups, other, paths)
    assert whole.promise.max() < 1e-3
    promised = []
    for steps in range(6):
        early = laplace.evidence(groups, other, paths, steps=steps)
        off = abs(float(early.log_likelihood[0] - whole.log_likelihood[0]))
        promised.append(float(early.promise[0]))
        if promised[-1] < log_density._NEAR:
            assert off < log_density._NEAR
    assert promised[0] > 1e-3 and promised[-1] < log_density._NEAR
