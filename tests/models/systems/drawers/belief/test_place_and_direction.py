"""The joint belief against particles, its mirror image, and motions drawn from its own model."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.drawers.belief import place_and_direction
from ricochet.models.systems.drawers.belief.place_and_direction import (
    REST,
    Belief,
    Grammar,
    Heard,
)

GRAMMAR = Grammar(0.0, 0.4, turning=0.4)
FRAME = 0.064


def frames(count: int, seed: int) -> list[Heard]:
    """Frames that move and rest in turn, with a place now and then."""
    draw = np.random.default_rng(seed)
    found = []
    for place in range(count):
        speed = 0.3 if place % 12 > 4 else 0.01
        heard = Heard(speed, 0.03, draw.uniform(0.0, 0.4), np.inf, FRAME)
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
    mirrored = [replace(each, place=0.4 - each.place) for each in frames(40, 1)]
    other = followed(place_and_direction.anywhere(GRAMMAR), mirrored)
    np.testing.assert_allclose(other.probabilities, one.probabilities[::-1, ::-1], atol=1e-9)
    assert other.mean == pytest.approx(0.4 - one.mean)


def test_particles_that_follow_the_equations_agree() -> None:
    """100,000 particles: a share is known to 0.005 (three deviations), cells blur by 2 mm."""
    draw, count = np.random.default_rng(2), 100_000
    place, sign = draw.uniform(0.0, 0.4, count), draw.choice([-1.0, 1.0], count)
    belief, heard = place_and_direction.anywhere(GRAMMAR), frames(14, 3)
    log_weights = np.zeros(count)
    for each in heard:
        below = np.random.default_rng(9).normal(each.speed, each.speed_deviation, 10**6) < REST
        sign = np.where(draw.random(count) < GRAMMAR.turning * below.mean(), -sign, sign)
        speed = np.maximum(draw.normal(each.speed, each.speed_deviation, count), 0.0)
        place = np.clip(place + sign * speed * each.duration, 0.0, 0.4)
        log_weights -= 0.5 * ((each.place - place) / each.place_deviation) ** 2
        belief = place_and_direction.step(belief, each, GRAMMAR)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    assert belief.mean == pytest.approx(float(weights @ place), abs=4e-3)
    assert belief.opening == pytest.approx(float(weights[sign > 0.0].sum()), abs=0.02)
    spread = np.sqrt(weights @ (place - weights @ place) ** 2)
    assert belief.deviation == pytest.approx(spread, rel=0.05)


def test_a_drawer_that_moves_for_long_is_at_a_limit() -> None:
    belief = place_and_direction.anywhere(GRAMMAR)
    belief = followed(belief, [Heard(0.4, 0.02, 0.0, np.inf, FRAME)] * 20)
    at_limits = belief.probabilities[0, 0] + belief.probabilities[1, -1]
    assert at_limits == pytest.approx(1.0, abs=1e-6)


def test_direction_is_kept_while_it_moves_and_forgotten_at_rest() -> None:
    belief = place_and_direction.anywhere(GRAMMAR)
    opening = Belief(belief.probabilities * np.array([[0.0], [2.0]]), belief.places)
    moving = followed(opening, [Heard(0.3, 0.02, 0.0, np.inf, FRAME)] * 3)
    assert moving.opening > 0.999
    resting = followed(moving, [Heard(0.0, 0.02, 0.0, np.inf, FRAME)] * 20)
    assert resting.opening == pytest.approx(0.5, abs=0.02)


def test_where_it_was_seen_it_is() -> None:
    belief = place_and_direction.see(place_and_direction.anywhere(GRAMMAR), 0.2, 0.01)
    assert belief.mean == pytest.approx(0.2, abs=1e-6)
    low, high = belief.interval(0.9)
    # A normal law of 0.01, to a cell at either end.
    assert high - low == pytest.approx(2 * 1.645 * 0.01, abs=0.01)


def test_a_weight_of_a_tenth_is_ten_times_the_variance() -> None:
    weak = replace(GRAMMAR, weight=0.1)
    still = Heard(0.0, 1e-3, 0.2, 0.02, FRAME)
    narrow, wide = (followed(place_and_direction.anywhere(g), [still], g) for g in (GRAMMAR, weak))
    assert wide.deviation / narrow.deviation == pytest.approx(np.sqrt(10.0), rel=0.1)


@pytest.mark.slow
def test_intervals_hold_motions_drawn_from_the_model() -> None:
    """Of 40 motions at 30 times each, some tenth of which are apart: 0.9 to within 0.03, thrice."""
    draw, held = np.random.default_rng(5), []
    for _ in range(40):
        place, sign = draw.uniform(0.0, 0.4), draw.choice([-1.0, 1.0])
        belief = place_and_direction.anywhere(GRAMMAR)
        for frame in range(300):
            speed = 0.25 if frame % 15 > 5 else 0.0
            heard = speed + 0.03 * draw.standard_normal()
            if heard < REST and draw.random() < GRAMMAR.turning:
                sign = -sign
            place = float(np.clip(place + sign * speed * FRAME, 0.0, 0.4))
            measured = place + 0.06 * draw.standard_normal()
            each = Heard(heard, 0.03, measured, 0.06, FRAME)
            belief = place_and_direction.step(belief, each, GRAMMAR)
            if frame % 10 == 9:
                low, high = belief.interval(0.9)
                held.append(low <= place <= high)
    assert np.mean(held) == pytest.approx(0.9, abs=0.09)
