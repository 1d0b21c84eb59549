"""The joint belief against particles, its mirror image, and motions drawn from its own model."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ricochet.models.systems.drawers.belief import place_and_direction
from ricochet.models.systems.drawers.belief.place_and_direction import (
    CELL,
    FARTHEST,
    REST,
    UNHEARD,
    Belief,
    Grammar,
    Heard,
)

GRAMMAR = Grammar(
    0.0,
    0.4,
    turning=0.7,
    weight=0.7,
    direction_weight=0.5,
    widening=1.5,
    blocked=0.3,
    stopping=0.1,
    starting=0.5,
)
FRAME = 0.064


def frames(count: int, seed: int) -> list[Heard]:
    """Frames that move and rest in turn, with a place now and then."""
    draw = np.random.default_rng(seed)
    found = []
    for place in range(count):
        speed = 0.3 if place % 12 > 4 else 0.01
        heard = Heard(speed, 0.03, draw.uniform(0.0, 0.4), np.inf, FRAME, draw.normal(0.0, 0.7))
        found.append(replace(heard, place_deviation=0.1) if place % 5 == 0 else heard)
    return found


def followed(belief: Belief, heard: list[Heard], grammar: Grammar = GRAMMAR) -> Belief:
    for each in heard:
        belief = place_and_direction.step(belief, each, grammar)
    return belief


def test_probabilities_are_some_and_sum_to_one() -> None:
    belief = followed(place_and_direction.anywhere(GRAMMAR), frames(60, 0))
    assert belief.probabilities.sum() == pytest.approx(1.0) and belief.probabilities.min() >= 0.0


def test_the_mirror_image_is_believed_of_what_is_mirrored() -> None:
    one = followed(place_and_direction.anywhere(GRAMMAR), frames(40, 1))
    mirrored = [replace(each, place=0.4 - each.place, odds=-each.odds) for each in frames(40, 1)]
    other = followed(place_and_direction.anywhere(GRAMMAR), mirrored)
    np.testing.assert_allclose(
        other.probabilities, one.probabilities[[1, 0, 3, 2], ::-1], atol=1e-9
    )
    assert other.mean == pytest.approx(0.4 - one.mean)


@pytest.mark.proof
def test_particles_that_follow_the_equations_agree() -> None:
    """400,000 particles, drawn anew each frame: a share is known to 0.01, cells blur by 2 mm."""
    draw, count = np.random.default_rng(2), 400_000
    place, sign = draw.uniform(0.0, 0.4, count), draw.choice([-1.0, 1.0], count)
    resting = draw.random(count) < 0.5
    belief, heard = place_and_direction.anywhere(GRAMMAR), frames(31, 3)
    for each in heard:
        spread = GRAMMAR.widening * each.speed_deviation
        below = stats.norm.cdf(REST, each.speed, spread)
        stays = draw.random(count) < np.where(resting, 1.0 - GRAMMAR.starting, GRAMMAR.stopping)
        log_weights = np.log(np.where(stays, below, 1.0 - below))
        speed = np.maximum(draw.normal(each.speed, spread, count), 0.0)
        place = place + np.where(resting & stays, 0.0, sign * speed * each.duration)
        # A cell at the limit begins half a cell before it and holds what is half a cell beyond.
        past = (place < -0.0025) | (place > 0.4025)
        log_weights += np.where(past, np.log(GRAMMAR.blocked), 0.0)
        place = np.clip(place, 0.0, 0.4)
        odds = sign * GRAMMAR.direction_weight * (1.0 - below) * each.odds
        log_weights += np.where(resting & stays, np.log(0.5), -np.logaddexp(0.0, -odds))
        turns = stays & ~resting & (draw.random(count) < GRAMMAR.turning)
        sign, resting = np.where(turns, -sign, sign), stays
        error = (each.place - place) / each.place_deviation
        log_weights -= 0.5 * GRAMMAR.weight * error**2
        weights = np.exp(log_weights - log_weights.max())
        kept = draw.choice(count, count, p=weights / weights.sum())
        place, sign, resting = place[kept], sign[kept], resting[kept]
        belief = place_and_direction.step(belief, each, GRAMMAR)
    assert belief.mean == pytest.approx(float(place.mean()), abs=4e-3)
    assert belief.opening == pytest.approx(float((sign > 0.0).mean()), abs=0.02)
    assert belief.probabilities[2:].sum() == pytest.approx(float(resting.mean()), abs=0.02)
    assert belief.deviation == pytest.approx(float(place.std()), rel=0.05)


def test_a_drawer_that_moves_for_long_is_at_a_limit() -> None:
    belief = place_and_direction.anywhere(GRAMMAR)
    lenient = replace(GRAMMAR, blocked=1.0)
    belief = followed(belief, [Heard(0.4, 0.02, 0.0, np.inf, FRAME)] * 20, lenient)
    at_limits = belief.probabilities[::2, 0].sum() + belief.probabilities[1::2, -1].sum()
    assert at_limits == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("rest", [1, 2, 3, 8, 40])
def test_a_direction_is_kept_while_it_moves_and_turns_once_in_a_rest(rest: int) -> None:
    belief = place_and_direction.anywhere(GRAMMAR)
    only = np.array([[0.0], [4.0], [0.0], [0.0]])
    opening = Belief(belief.probabilities * only, belief.places)
    moving = followed(opening, [Heard(0.3, 0.01, 0.0, np.inf, FRAME)] * 3)
    assert moving.opening > 0.999
    resting = followed(moving, [Heard(0.0, 0.002, 0.0, np.inf, FRAME)] * rest)
    assert resting.opening == pytest.approx(1.0 - GRAMMAR.turning, abs=0.01)
    further = followed(
        resting, [Heard(0.15, 0.01, 0.0, np.inf, FRAME)], replace(GRAMMAR, blocked=1.0)
    )
    assert further.opening == pytest.approx(1.0 - GRAMMAR.turning, abs=0.01)


def test_what_a_limit_stops_is_less_likely_where_so_weighed() -> None:
    """Two strokes of 0.26 m, one after another, cannot both be the way out from the middle."""
    seen = place_and_direction.see(place_and_direction.anywhere(GRAMMAR), 0.1, 0.005)
    strokes = [Heard(0.4, 0.02, 0.0, np.inf, FRAME)] * 10
    lenient, strict = (
        followed(seen, strokes, replace(GRAMMAR, blocked=blocked)) for blocked in (1.0, 0.1)
    )
    assert lenient.opening == pytest.approx(0.5, abs=0.05)
    assert strict.opening > 0.99


def test_directions_that_are_heard_are_believed_as_far_as_it_moves() -> None:
    belief = place_and_direction.see(place_and_direction.anywhere(GRAMMAR), 0.2, 0.005)
    moving = followed(belief, [Heard(0.2, 0.02, 0.0, np.inf, FRAME, -2.0)] * 3)
    assert moving.opening == pytest.approx(1.0 / (1.0 + np.exp(3 * 0.5 * 2.0)), rel=0.05)
    resting = followed(belief, [Heard(0.0, 0.005, 0.0, np.inf, FRAME, -2.0)] * 3)
    assert resting.opening == pytest.approx(0.5, abs=1e-6)


def test_where_it_was_seen_it_is() -> None:
    belief = place_and_direction.see(place_and_direction.anywhere(GRAMMAR), 0.2, 0.01)
    assert belief.mean == pytest.approx(0.2, abs=1e-6)
    low, high = belief.interval(0.9)
    # A normal law of 0.01, to a cell at either end.
    assert high - low == pytest.approx(2 * 1.645 * 0.01, abs=0.01)


def test_a_weight_of_a_tenth_is_ten_times_the_variance() -> None:
    strong, weak = replace(GRAMMAR, weight=1.0), replace(GRAMMAR, weight=0.1)
    still = Heard(0.0, 1e-3, 0.2, 0.02, FRAME)
    narrow, wide = (followed(place_and_direction.anywhere(g), [still], g) for g in (strong, weak))
    assert wide.deviation / narrow.deviation == pytest.approx(np.sqrt(10.0), rel=0.1)


@pytest.mark.slow
def test_intervals_hold_motions_drawn_from_the_model() -> None:
    """Of 40 motions at 30 times each, some tenth of which are apart: 0.9 to within 0.03, thrice."""
    draw, held = np.random.default_rng(5), []
    plain = Grammar(0.0, 0.4, turning=0.7, stopping=0.1, starting=0.15)
    for _ in range(40):
        place, sign, resting = draw.uniform(0.0, 0.4), draw.choice([-1.0, 1.0]), False
        belief = place_and_direction.anywhere(plain)
        for frame in range(300):
            rests = draw.random() < (1.0 - plain.starting if resting else plain.stopping)
            if rests and not resting and draw.random() < plain.turning:
                sign = -sign
            resting, speed = rests, 0.0 if rests else 0.25
            heard = speed + 0.03 * draw.standard_normal()
            place = float(np.clip(place + sign * speed * FRAME, 0.0, 0.4))
            measured = place + 0.06 * draw.standard_normal()
            each = Heard(heard, 0.03, measured, 0.06, FRAME)
            belief = place_and_direction.step(belief, each, plain)
            if frame % 10 == 9:
                low, high = belief.interval(0.9)
                held.append(low <= place <= high)
    assert np.mean(held) == pytest.approx(0.9, abs=0.09)


@pytest.mark.parametrize("low", [0.4, 0.4 - 1e-9, 0.4 - 0.99 * CELL])
def test_limits_without_room_are_refused(low: float) -> None:
    with pytest.raises(ValueError, match="no room"):
        place_and_direction.anywhere(replace(GRAMMAR, low=low))


@pytest.mark.parametrize("high", [1.0, 1.49, 1.51, 2.49, 2.51])
def test_what_is_seen_far_from_near_limits_is_reached_by_some_hundreds_of_cells(
    high: float,
) -> None:
    belief = place_and_direction.anywhere(Grammar(0.0, high * CELL))
    for place in (FARTHEST, -FARTHEST):
        belief = place_and_direction.reaching(belief, 0.99 * place)
    assert len(belief.places) < 2.0 * FARTHEST / (0.6 * CELL)
    assert belief.places[0] < -0.98 * FARTHEST and belief.places[-1] > 0.98 * FARTHEST


def test_an_interval_holds_a_place_from_its_centrality_on() -> None:
    belief = followed(place_and_direction.anywhere(GRAMMAR), frames(20, 4))
    for place in belief.places[2:-2:9]:
        least = belief.centrality(float(place))
        low, high = belief.interval(min(least + 0.01, 1.0))
        assert low <= place <= high
        if least > 0.02:
            low, high = belief.interval(least - 0.01)
            assert not low <= place <= high


@pytest.mark.parametrize("speed", [3.0, 40.0, 1e6])
def test_a_move_beyond_all_places_is_one_to_the_limits_and_takes_no_memory(speed: float) -> None:
    """A package may say that all speeds are huge: its moves are no longer than the drawer."""
    belief, heard = place_and_direction.anywhere(GRAMMAR), Heard(speed, 0.05, 0.2, np.inf, 0.064, 0)
    tracemalloc.start()
    found = place_and_direction.step(belief, heard, GRAMMAR)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()
    assert found.probabilities.sum() == pytest.approx(1.0)


def test_moves_are_cut_at_the_length_of_all_places_and_change_nothing() -> None:
    """Against the kernel in full, of moves that some of the way lead beyond the limits."""
    belief = place_and_direction.anywhere(GRAMMAR)
    cell, count = float(belief.places[1] - belief.places[0]), len(belief.places)
    heard = Heard(0.9 * count * cell / FRAME, 0.2 * count * cell / FRAME, 0.2, np.inf, FRAME, 0.0)
    spread, deviation = 0.2 * count, 0.2 * count * cell / FRAME
    found = place_and_direction._moved(belief.probabilities, belief.places, heard, deviation, 0.3)
    kernel = np.diff(stats.norm.cdf((np.arange(6 * count + 1) - 0.5 - 0.9 * count) / spread))
    kernel[0] += stats.norm.cdf((-0.5 - 0.9 * count) / spread)
    expected = np.zeros_like(belief.probabilities)
    for state, row in enumerate(belief.probabilities):
        turned = row[::-1] if state not in place_and_direction.OPENING else row
        long = np.convolve(turned, kernel)
        short = long[:count].copy()
        short[-1] += 0.3 * long[count:].sum()
        expected[state] = short[::-1] if state not in place_and_direction.OPENING else short
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    "changed",
    [
        {"speed": np.inf},
        {"speed": np.nan},
        {"speed_deviation": np.nan},
        {"speed": np.inf, "speed_deviation": np.inf},
        {"place": np.nan, "place_deviation": 0.1},
        {"odds": np.nan},
        {"odds": -np.inf},
    ],
)
def test_a_frame_whose_numbers_are_not_finite_counts_as_unheard(changed: dict[str, float]) -> None:
    before = followed(place_and_direction.anywhere(GRAMMAR), frames(20, 3))
    found = place_and_direction.step(before, replace(frames(1, 0)[0], **changed), GRAMMAR)
    unheard = place_and_direction.step(before, replace(UNHEARD, duration=FRAME), GRAMMAR)
    np.testing.assert_array_equal(found.probabilities, unheard.probabilities)


def test_odds_beyond_all_measure_are_a_direction_that_is_sure() -> None:
    before = place_and_direction.anywhere(GRAMMAR)
    for odds, opening in ((1e5, 1.0), (-1e5, 0.0), (1e300, 1.0), (-1e300, 0.0)):
        heard = Heard(0.3, 0.01, 0.0, np.inf, FRAME, odds)
        found = place_and_direction.step(before, heard, GRAMMAR)
        assert found.probabilities[1].sum() == pytest.approx(opening)
