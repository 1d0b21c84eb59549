"""Which onsets are one ball's: what is heard first, and what is listened for again."""

import numpy as np
import pytest

from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.calibration import drop_choice
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import NoBallError
from ricochet.models.systems.bouncing_ball.chains import family

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


def first_of_a_slow_ball(count: int, *, ratio: float = 0.94):
    return 0.3 + np.append(0.0, np.cumsum(0.19 * ratio ** np.arange(count - 1)))


@pytest.mark.parametrize("count", [3, 4, 5])
def test_the_first_bounces_alone_are_answered_as_weak_where_the_odds_leave_it_open(count):
    found = drop_choice.choose(onsets_of(first_of_a_slow_ball(count), duration=1.5))
    assert -drop_choice.SURE < found.log_odds < drop_choice.SURE
    assert [finding.name for finding in found.findings] == ["weak"]
    assert "record the ball again" in found.findings[0].sentence


@pytest.mark.parametrize("count", [3, 4])
def test_the_same_bounces_beside_other_clicks_are_refused(count):
    times = np.append(first_of_a_slow_ball(count), [2.1, 3.37, 4.2, 4.71])
    loud = np.append(0.9 ** np.arange(count), [0.3, 1.0, 0.5, 0.8])
    size = len(times)
    with pytest.raises(NoBallError, match=f"{size} onsets"):
        drop_choice.choose(Onsets(times, np.full(size, 300.0), np.full(size, 2e-5), loud, 5.0))


def test_even_beats_alone_are_no_ball():
    with pytest.raises(NoBallError):
        drop_choice.choose(onsets_of(0.3 + 0.2 * np.arange(6), duration=1.5))


@pytest.mark.slow
def test_several_drops_of_a_known_ball_have_its_drag_together():
    drag = family.drag_prior(air.COMMON_BALLS["steel"], 20.0)
    strays = 1e-4 * np.random.default_rng(4).standard_normal(8)
    given = np.concatenate([TIMES[:8], TIMES[:8] + 4.0 + strays])
    loud = np.tile(0.8 ** (1.2 * np.arange(8)), 2)
    twice = Onsets(given, np.full(16, 300.0), np.full(16, 2e-5), loud, 9.0)
    found = drop_choice.choose(twice, (), drag)
    assert [len(drop.times) for drop in found.drops] == [8, 8]
    posterior = found.posterior(drag)
    mean = float((posterior.weights * np.log(posterior.balls.drag)).sum())
    assert abs(mean - drag[0]) < 3.0 * drag[1]


def two_drops(apart: float, strays: float):
    """Onsets of two drops of a ball, each gap of the second longer by a share of its own."""
    gaps = np.diff(TIMES) * (1.0 + strays * np.random.default_rng(5).standard_normal(13))
    second = TIMES[0] + apart + np.append(0.0, np.cumsum(gaps))
    return onsets_of(np.concatenate([TIMES, second]), duration=10.0)


@pytest.mark.parametrize(("strays", "drops"), [(0.0, 1), (0.01, 2)])
def test_a_drop_that_was_put_in_twice_counts_once_and_that_is_said(strays, drops):
    found = drop_choice.choose(two_drops(4.5, strays))
    assert len(found.drops) == drops
    said = [each.sentence for each in found.findings if each.name == "repeated"]
    assert len(said) == 2 - drops
    assert all("from 4.90 s on come after the same times" in each for each in said)
    assert [float(copy.times[0]) for copy in found.copies] == [4.9] * (2 - drops)
