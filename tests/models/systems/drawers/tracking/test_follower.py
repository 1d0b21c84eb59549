"""Ours by camera and sound: the camera while it sees, the belief while it does not."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.drawers import hand
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar, Heard
from ricochet.models.systems.drawers.tracking import follower
from ricochet.models.systems.drawers.tracking import pace as paces
from ricochet.models.systems.drawers.tracking.pace import GAINS, PRIOR, Pace, Seen
from ricochet.models.systems.drawers.tracking.rehearsal import WAYS, Rehearsal

GRAMMAR = Grammar(0.0, 0.4, turning=0.5, weight=0.1, direction_weight=0.3, blocked=0.3)
FRAME = 0.064


def strokes(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Openings at the ends of frames and velocities, m and m/s."""
    draw, at, places, velocities = np.random.default_rng(seed), 0.0, [], []
    while len(places) < count:
        places += [at] * int(draw.integers(3, 10))
        velocities += [0.0] * (len(places) - len(velocities))
        target = draw.uniform(0.0, 0.4)
        steps = max(2, int(abs(target - at) / 0.3 / FRAME))
        path = np.linspace(at, target, steps + 1)
        places += path[1:].tolist()
        velocities += (np.diff(path) / FRAME).tolist()
        at = target
    return np.array(places[:count]), np.array(velocities[:count])


def heard(places: np.ndarray, velocities: np.ndarray, seed: int) -> list[Heard]:
    draw, found = np.random.default_rng(seed), []
    for place, velocity in zip(places, velocities, strict=True):
        speed = max(abs(velocity) + 0.02 * draw.standard_normal(), 0.0)
        measured = place + 0.05 * draw.standard_normal()
        error = 0.05 if abs(velocity) > 0.05 else np.inf
        odds = 0.0 if velocity == 0.0 else np.sign(velocity) * 0.8 + draw.standard_normal()
        found.append(Heard(speed, 0.02, measured, error, FRAME, float(odds)))
    return found


def seen(places: np.ndarray, lit: int) -> list[Seen | None]:
    return [Seen(float(p), 0.001) if k < lit else None for k, p in enumerate(places)]


def test_while_it_is_seen_the_camera_is_believed_and_then_the_sound() -> None:
    errors, middles = [], []
    for seed in range(6):
        places, velocities = strokes(700, seed)
        sight = seen(places, 200)
        found = follower.follow(heard(places, velocities, seed + 50), sight, GRAMMAR)
        np.testing.assert_array_equal(found.place[:200], places[:200])
        assert (found.low <= found.place).all() and (found.place <= found.high).all()
        errors.append(found.place[200:] - places[200:])
        middles.append(places[200:] - 0.2)
    assert np.std(np.concatenate(errors)) < 0.5 * np.std(np.concatenate(middles))


def test_a_moment_in_which_it_is_hidden_is_bridged() -> None:
    places, velocities = strokes(200, 3)
    sight = seen(places, 200)
    sight[100:105] = [None] * 5
    found = follower.follow(heard(places, velocities, 9), sight, GRAMMAR)
    assert np.abs(found.place - places)[100:105].max() < 0.03


def test_it_widens_in_the_dark_where_nothing_is_heard() -> None:
    places, velocities = strokes(800, 4)
    sounds = heard(places, velocities, 5)
    deaf = [Heard(each.speed, 0.02, 0.0, np.inf, FRAME) for each in sounds]
    hearing, without = (
        follower.follow(each, seen(places, 400), GRAMMAR) for each in (sounds, deaf)
    )
    assert without.deviation[-100:].mean() > 1.5 * hearing.deviation[-100:].mean()


def test_a_follower_that_never_saw_it_begins_anywhere() -> None:
    places, velocities = strokes(400, 6)
    found = follower.follow(heard(places, velocities, 7), seen(places, 0), GRAMMAR)
    assert found.deviation[0] == pytest.approx(0.4 / np.sqrt(12.0), rel=0.1)
    assert np.std(found.place[100:] - places[100:]) < 0.6 * np.std(places)


def louder(frames: list[Heard], by: float) -> list[Heard]:
    """The same frames with speeds by the sound multiplied, and nothing of the place."""
    return [
        replace(each, speed=by * each.speed, speed_deviation=by * 0.02, place_deviation=np.inf)
        for each in frames
    ]


@pytest.mark.proof
@pytest.mark.parametrize("by", [0.75, 1.0, 1.3])
def test_a_session_that_is_louder_or_quieter_is_paced_while_it_is_seen(by: float) -> None:
    """Of 20 s of light some metres of path remain, beside which the prior's half a metre counts."""
    better = []
    for seed in range(5):
        places, velocities = strokes(900, seed)
        sounds = louder(heard(places, velocities, seed + 50), by)
        pace = paces.paced(sounds[:300], [Seen(x, 1e-3) for x in places[:300].tolist()])
        expected = (pace.seen + PRIOR) / (by * pace.seen + PRIOR)
        assert pace.gain == pytest.approx(expected, rel=0.06)
        found = follower.follow(sounds, seen(places, 300), GRAMMAR).place - places
        right = louder(heard(places, velocities, seed + 50), 1.0)
        best = follower.follow(right, seen(places, 300), GRAMMAR).place - places
        better.append([np.abs(each[300:]).mean() for each in (found, best)])
    ours, best = np.mean(better, axis=0)
    # Nearly as if the sound had been right; some may be taken for nothing, as no place is heard.
    assert ours < 1.6 * best


def test_a_pace_is_as_it_was_heard_until_something_was_seen_and_is_bounded() -> None:
    assert Pace().gain == 1.0
    assert Pace(50.0, 1.0).gain == GAINS[1] and Pace(0.0, 50.0).gain == GAINS[0]
    still, before = Heard(0.05, 0.01, 0.0, np.inf, FRAME), Seen(0.1, 1e-3)
    assert paces.compared(Pace(1.0, 1.0), still, before, Seen(0.102, 1e-3)) == Pace(1.0, 1.0)
    fast = replace(still, speed=0.5)
    found = paces.compared(Pace(1.0, 1.0), fast, before, Seen(0.11, 1e-3))
    assert (found.seen, found.heard) == pytest.approx((1.01, 1.0 + 0.5 * FRAME))
    unheard = paces.compared(Pace(1.0, 1.0), still, before, Seen(0.15, 1e-3))
    assert unheard.seen == pytest.approx(1.05)  # seen to move while nothing is heard


def ends(sounds: list[Heard], places: np.ndarray, lit: int) -> tuple[follower.Follower, np.ndarray]:
    """A follower at the end, and errors over half the stroke's deviation in the dark."""
    found, errors, inside = follower.begin(GRAMMAR), [], []
    for sound, sight, place in zip(sounds, seen(places, lit), places, strict=True):
        found = follower.step(found, sound, sight, GRAMMAR)
        if sight is None:
            estimate = follower.estimate(found, GRAMMAR)
            errors.append(estimate.place - place)
            inside.append(estimate.low <= place <= estimate.high)
    middle = np.std(places[lit:] - 0.2)
    return found, np.array([np.sqrt(np.mean(np.square(errors))) / middle, np.mean(inside)])


def silent(sounds: list[Heard]) -> list[Heard]:
    return [replace(each, speed=0.005, speed_deviation=0.01, odds=0.0, place_deviation=np.inf)
            for each in sounds]  # fmt: skip


def turned(sounds: list[Heard]) -> list[Heard]:
    """Directions and places of another drawer."""
    draw = np.random.default_rng(3)
    return [replace(each, odds=-each.odds, place=float(draw.uniform(0.0, 0.4))) for each in sounds]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.proof) for seed in (1, 2))]
)
def test_sound_as_it_was_learnt_is_trusted(seed: int) -> None:
    places, velocities = strokes(900, seed)
    found, (error, held) = ends(heard(places, velocities, seed), places, 450)
    assert WAYS[found.rehearsal.way] in ("whole", "half")
    assert error < 0.6 and held > 0.8


@pytest.mark.parametrize("change", [silent, turned])
def test_sound_that_misleads_leaves_the_drawer_in_the_middle(change) -> None:
    """Nowhere worse than the middle, and intervals that hold."""
    for seed in range(3):
        places, velocities = strokes(900, seed)
        found, (error, held) = ends(change(heard(places, velocities, seed)), places, 450)
        assert WAYS[found.rehearsal.way] != "whole"
        assert error < 1.1 and held > 0.8


def test_sound_that_was_compared_with_nothing_is_taken_for_little() -> None:
    places, velocities = strokes(500, 2)
    found, (error, held) = ends(heard(places, velocities, 8), places, 0)
    assert WAYS[found.rehearsal.way] == "little" and found.rehearsal.compared == 0.0
    assert error < 1.0 and held > 0.8


def quieter(sounds: list[Heard]) -> list[Heard]:
    """Speeds heard at a third, as of a recording whose level was set lower."""
    return [replace(each, speed=0.3 * each.speed) for each in sounds]


@pytest.mark.parametrize(("lit", "least"), [(0, 0.7), (40, 0.8), (450, 0.8)])
def test_sound_of_another_level_is_not_trusted(lit: int, least: float) -> None:
    """Without any light it can only be doubted, which the controller says."""
    for seed in range(3):
        places, velocities = strokes(900, seed)
        found, (error, held) = ends(quieter(heard(places, velocities, seed)), places, lit)
        assert WAYS[found.rehearsal.way] in ("little", "nothing")
        assert held > least and error < 1.2


def vague(sounds: list[Heard]) -> list[Heard]:
    """Estimators that are three times as far off, and say so."""
    draw = np.random.default_rng(4)
    return [
        replace(
            each,
            place=each.place + 0.14 * float(draw.standard_normal()),
            place_deviation=3.0 * each.place_deviation,
            odds=each.odds / 3.0,
        )
        for each in sounds
    ]


def test_vague_sound_that_says_how_vague_it_is_is_not_taken_for_nothing() -> None:
    for seed in range(3):
        places, velocities = strokes(900, seed)
        found, (error, _) = ends(vague(heard(places, velocities, seed)), places, 450)
        assert WAYS[found.rehearsal.way] != "nothing"
        assert error < 0.9


@pytest.mark.parametrize("hidden", [pytest.param(1, marks=pytest.mark.proof), 4])
def test_what_is_hidden_for_a_while_is_not_held_against_the_sound(hidden: int) -> None:
    for seed in range(3):
        places, velocities = strokes(900, seed)
        sounds, sight, found = heard(places, velocities, seed), seen(places, 450), None
        for begin in np.linspace(150, 400, hidden).astype(int):
            sight[begin : begin + 30] = [None] * 30
        found = follower.begin(GRAMMAR)
        for sound, where in zip(sounds[:450], sight[:450], strict=True):
            found = follower.step(found, sound, where, GRAMMAR)
        assert WAYS[found.rehearsal.way] in ("whole", "half")
        assert found.rehearsal.held[0] > 0.95 * found.rehearsal.compared


def test_intervals_of_what_is_not_heard_are_those_of_the_belief() -> None:
    """A level that was calibrated on sound says nothing of a drawer that is taken as unheard."""
    narrow = replace(GRAMMAR, level=0.6)
    unheard = Rehearsal(compared=300.0)
    assert WAYS[unheard.way] == "nothing"
    one = follower.begin(narrow)
    trusted = follower.estimate(one, narrow)
    doubted = follower.estimate(replace(one, rehearsal=unheard), narrow)
    assert trusted.high - trusted.low == pytest.approx(0.6 * 0.4, abs=0.01)
    assert doubted.high - doubted.low == pytest.approx(0.9 * 0.4, abs=0.01)


def test_a_drawer_that_is_seen_beyond_its_limits_is_followed_there() -> None:
    """It was learnt from shorter strokes: cells reach what is seen, and the dark begins there."""
    found = follower.begin(GRAMMAR)
    rest = Heard(0.0, 0.02, 0.0, np.inf, FRAME)
    for place in np.linspace(0.3, 0.5, 40):
        found = follower.step(found, replace(rest, speed=0.08), Seen(float(place), 2e-3), GRAMMAR)
    found = follower.step(found, rest, None, GRAMMAR)
    estimate = follower.estimate(found, GRAMMAR)
    assert estimate.place == pytest.approx(0.5, abs=0.02) and estimate.high > 0.49
    assert hand.follow(hand.begin(GRAMMAR), estimate, GRAMMAR).goal > 0.6


def test_twice_the_path_seen_and_heard_is_the_same_gain_but_for_the_prior() -> None:
    one, two = Pace(4.0, 5.0).gain, Pace(8.0, 10.0).gain
    assert abs(two - 0.8) < abs(one - 0.8) < 0.05


@pytest.mark.parametrize("speed", [np.inf, np.nan])
def test_a_speed_that_is_not_finite_leaves_the_pace_as_it_was(speed: float) -> None:
    before, strange = Pace(0.7, 0.6), Heard(speed, 0.02, 0.0, np.inf, FRAME)
    assert paces.compared(before, strange, Seen(0.1, 0.001), Seen(0.2, 0.001)) == before
