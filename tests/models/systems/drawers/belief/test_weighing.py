"""Weights of the belief: independent errors count in full, errors that last count for little."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import signal

from ricochet.models.systems.drawers.belief import place_and_direction, weighing, whole_sessions
from ricochet.models.systems.drawers.belief.place_and_direction import Heard
from ricochet.models.systems.drawers.labels import PERIOD, Labels

LOW, HIGH = 0.0, 0.4
ERROR = 0.06


def session(seed: int, lasting: float, count: int = 700) -> weighing.Session:
    """Strokes of a drawer between rests, and places whose errors last."""
    draw = np.random.default_rng(seed)
    speed, at, sign, left = np.zeros(count), 0.2, 1.0, 0
    position, velocity = np.zeros(count), np.zeros(count)
    for frame in range(count):
        if left == 0:
            left = -int(draw.integers(3, 8))
        if left < 0:
            left += 1
            if left == 0:
                room = (HIGH - at) if draw.random() < 0.5 else -(at - LOW)
                sign, left = np.sign(room), int(0.9 * draw.random() * abs(room) / 0.3 / PERIOD)
        else:
            left -= 1
            speed[frame] = 0.3
        at += sign * speed[frame] * PERIOD
        position[frame], velocity[frame] = at, sign * speed[frame]
    white = draw.standard_normal(count)
    error = ERROR * signal.lfilter([np.sqrt(1.0 - lasting**2)], [1.0, -lasting], white)
    heard = [
        Heard(max(v + 0.02 * draw.standard_normal(), 0.0), 0.02, p, ERROR, PERIOD)
        for v, p in zip(speed, position + error, strict=True)
    ]
    return weighing.Session(heard, Labels(speed, velocity, position))


@pytest.mark.slow
@pytest.mark.parametrize(("lasting", "least", "most"), [(0.0, 0.4, 1.0), (0.9, 0.02, 0.2)])
def test_errors_that_last_count_for_less(lasting: float, least: float, most: float) -> None:
    """Of AR(1) errors n are worth n (1 - a) / (1 + a): 0.05 n of those with a = 0.9."""
    grammar = weighing.fit([session(seed, lasting) for seed in range(3)])
    assert least <= grammar.weight <= most
    held = []
    for seed in range(50, 62):
        fresh = session(seed, lasting)
        belief = place_and_direction.anywhere(grammar)
        for frame, heard in enumerate(fresh.heard):
            belief = place_and_direction.step(belief, heard, grammar)
            low, high = belief.interval(grammar.level)
            if frame > 100:
                held.append(low <= fresh.labels.position[frame] <= high)
    # Of 12 sessions some 20 strokes each speak for themselves: 0.9 to within 0.02, twice.
    assert np.mean(held) == pytest.approx(0.9, abs=0.07)


@pytest.mark.proof
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"turning": 0.9, "blocked": 0.05, "direction_weight": 0.0},
        {"stopping": 0.1, "starting": 0.3, "direction_weight": 1.0},
    ],
)
def test_machine_code_follows_a_session_as_frame_by_frame_is(changed: dict[str, float]) -> None:
    """With directions that are heard, frames without a place, and limits that stop moves."""
    made, draw = session(4, 0.5, 300), np.random.default_rng(5)
    heard = [
        replace(each, odds=float(draw.normal()), speed=3.0 * each.speed)
        if n % 7
        else _without(each)
        for n, each in enumerate(made.heard)
    ]
    grammar = replace(weighing.FIRST, low=LOW, high=HIGH, **changed)
    other = weighing.Session(heard, made.labels)
    start = place_and_direction.see(place_and_direction.anywhere(grammar), 0.2, 0.01)
    plain = weighing.follow_plainly(start, other, grammar)
    cells = np.abs(start.places[:, None] - made.labels.position).argmin(0)
    ways = np.where(made.labels.moving, (made.labels.velocity > 0.0).astype(np.int64), -1)
    found = whole_sessions.follow(start, other.rows, cells, ways, grammar)
    np.testing.assert_allclose(found[0], plain[0], atol=1e-9)
    np.testing.assert_allclose(found[1], plain[1], atol=1e-9)


@pytest.mark.proof
def test_machine_code_takes_what_is_not_finite_or_beyond_all_measure_as_frame_by_frame() -> None:
    made = session(4, 0.5, 120)
    strange = (
        {"speed": np.inf}, {"speed": 1e12}, {"speed_deviation": np.nan}, {"place": np.nan},
        {"odds": np.nan}, {"odds": 1e6}, {"odds": -1e6}, {"speed_deviation": 1e12},
    )  # fmt: skip
    heard = [
        replace(each, **strange[n // 9 % len(strange)]) if n % 9 == 5 else each
        for n, each in enumerate(made.heard)
    ]
    other = weighing.Session(heard, made.labels)
    grammar, first = replace(weighing.FIRST, low=LOW, high=HIGH), float(made.labels.position[0])
    start = place_and_direction.see(place_and_direction.anywhere(grammar), first, weighing.SEEN)
    plain = weighing.follow_plainly(start, other, grammar)
    np.testing.assert_allclose(weighing._judged(grammar, other), plain, atol=1e-9)


def test_a_better_grammar_has_a_better_score() -> None:
    made = [session(1, 0.0, 300)]
    grammar = weighing.FIRST
    right = place_and_direction.Grammar(LOW, HIGH, weight=1.0)
    assert weighing.score(right, made) > weighing.score(grammar, made)
    deaf = [weighing.Session([_without(each) for each in made[0].heard], made[0].labels)]
    assert weighing.score(right, made) > weighing.score(right, deaf)


def test_rests_that_end_the_other_way_are_counted() -> None:
    speed = np.array([0.0, 0.3, 0.0, 0.3, 0.0, 0.3, 0.0, 0.3])
    velocity = speed * np.array([1, 1, 1, -1, 1, -1, 1, 1])
    labels = Labels(speed, velocity, np.linspace(0.1, 0.2, 8))
    found = weighing.fit([weighing.Session([Heard(0.0, 0.02, 0.0, np.inf, PERIOD)] * 8, labels)])
    # Two of three rests, by Laplace's rule.
    assert found.turning == pytest.approx(3.0 / 5.0)
    # Of three moving frames all are followed by a rest, and of four resting ones all end.
    assert (found.stopping, found.starting) == pytest.approx((4.0 / 5.0, 5.0 / 6.0))


def _without(heard: Heard) -> Heard:
    return Heard(heard.speed, heard.speed_deviation, 0.0, np.inf, heard.duration)


@pytest.mark.slow
def test_two_takes_of_one_session_are_no_two_sessions() -> None:
    takes = [session(seed, 0.9) for seed in range(3)]
    alone = weighing.fit(takes)
    grouped = weighing.fit(takes, groups=[0, 0, 0])
    # Frames weigh as much, but one session says less of the next than three that are as alike.
    assert replace(grouped, level=alone.level) == alone
    assert grouped.level > alone.level
