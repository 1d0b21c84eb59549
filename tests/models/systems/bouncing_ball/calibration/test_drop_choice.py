"""Which onsets are one ball's: what is heard first, and what is listened for again."""

import numpy as np
import pytest

from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.calibration import drop_choice
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import NoBallError

TIMES = 0.4 + np.append(0.0, np.cumsum(0.5 * 0.8 ** np.arange(13)))


def onsets_of(times, *, duration=5.0) -> Onsets:
    """Onsets as loud as a ball's bounces."""
    count = len(times)
    sd, strength = np.full(count, 2e-5), np.full(count, 300.0)
    return Onsets(times, strength, sd, 0.8 ** (1.2 * np.arange(count)), duration)


def clicks() -> Onsets:
    draw = np.random.default_rng(3)
    times = np.sort(draw.uniform(0.2, 4.8, 30))
    return Onsets(times, np.full(30, 300.0), np.full(30, 2e-5), np.ones(30), 5.0)


@pytest.mark.slow
def test_a_second_hearing_finds_the_ball_that_the_first_one_missed():
    with pytest.raises(NoBallError):
        drop_choice.choose(clicks())
    found = drop_choice.choose(clicks(), (clicks(), onsets_of(TIMES)))
    assert [len(drop.times) for drop in found.drops] == [14]


@pytest.mark.slow
def test_the_choice_with_the_greater_odds_stands():
    few = onsets_of(TIMES[:6])
    alone = drop_choice.choose(few)
    fewer = drop_choice.choose(few, (onsets_of(TIMES[:5]),))
    assert [len(drop.times) for drop in fewer.drops] == [6]
    more = drop_choice.choose(few, (onsets_of(TIMES),))
    assert more.log_odds > alone.log_odds
    assert [len(drop.times) for drop in more.drops] == [14]


@pytest.mark.slow
def test_of_several_kinds_the_one_that_beats_its_reverse_most_is_judged():
    kinds = (clicks(), onsets_of(TIMES[:5]), onsets_of(TIMES))
    for order in (kinds, kinds[::-1]):
        found = drop_choice.choose(clicks(), order)
        assert [len(drop.times) for drop in found.drops] == [14]


@pytest.mark.slow
def test_clicks_that_no_hearing_makes_a_ball_are_refused_for_what_was_heard_first():
    with pytest.raises(NoBallError, match="30 onsets"):
        drop_choice.choose(clicks(), (clicks(),))
