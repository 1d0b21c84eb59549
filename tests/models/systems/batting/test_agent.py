"""The controller meets what cannot be: a line for each, and the bat at rest."""

import numpy as np
import pytest

from ricochet.models.systems.batting import agent as controller
from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.agent import BLIND, LOST_OFTEN, Agent
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.planning.policies import Decision, View
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_ANGLE
from ricochet.models.systems.batting.world import World, paper_world
from tests.models.systems.batting.swinging import Swinging

FEW = FilterSettings(draws=2000, early=1000, early_readings=10, particles=1000)


class Level:
    """Holds the bat where it is."""

    def decide(self, view: View, world: World, draw: np.random.Generator) -> Decision | None:
        """Return a path that stays."""
        return None

    def interrupt(self) -> None:
        """Nothing was planned."""


def agent() -> Agent:
    """Return an agent that computes in no time."""
    world, draw = paper_world(np.random.default_rng(1), 2**12), np.random.default_rng(2)
    return Agent(Swinging(), FEW, world, draw, clock=lambda: 0.0)


def good_reading(seed: int = 3) -> np.ndarray:
    return np.array([0.1, 0.2]) + 0.01 * np.random.default_rng(seed).standard_normal(2)


def shown(one: Agent, readings: list[np.ndarray], begun: int = 0) -> None:
    """Show readings, a frame each, to an agent whose bat follows its commands."""
    for frame, reading in enumerate(readings, begun):
        now = frame * CAMERA_PERIOD
        one.see(now, reading, one.target(now))


def at_rest(one: Agent, now: float) -> bool:
    return len({one.target(now + later) for later in np.arange(0.0, 2.0, 0.02)}) == 1


def test_with_good_readings_it_swings_and_says_nothing():
    one = agent()
    shown(one, [good_reading(n) for n in range(5)])
    assert one.faults == []
    assert not at_rest(one, 5 * CAMERA_PERIOD)


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ([np.nan, 0.1], "no two numbers"),
        ([np.inf, 0.1], "no two numbers"),
        ([0.5, -0.5], "expected the lower first"),
        ([-40.0, 900.0], "of its middle"),
    ],
)
def test_a_reading_that_cannot_be_is_said_once_and_leaves_the_particles(reading, words):
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    before = one.belief.cloud.weights.copy()
    shown(one, [np.array(reading)] * 4, begun=3)
    assert len(one.faults) == 1
    assert words in one.faults[0]
    assert "\n" not in one.faults[0]
    assert np.allclose(np.sort(one.belief.cloud.weights), np.sort(before))


def test_the_bat_rests_when_nothing_is_seen_for_long_and_swings_again_after():
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    shown(one, [np.full(2, np.nan)] * (BLIND + 1), begun=3)
    assert at_rest(one, (BLIND + 4) * CAMERA_PERIOD)
    assert any(f"nothing for {BLIND} readings" in line for line in one.faults)
    shown(one, [good_reading(9)], begun=BLIND + 4)
    assert not at_rest(one, (BLIND + 5) * CAMERA_PERIOD)


@pytest.mark.parametrize("angle", [np.nan, 2.0, -np.inf, 0.45])
def test_a_bat_that_is_where_it_cannot_be_rests(angle):
    """0.45 rad is in its range, but further than it turns in a frame."""
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one.see(3 * CAMERA_PERIOD, good_reading(5), angle)
    assert len(one.faults) == 1
    assert one.faults[0].startswith("bat: found angle")
    assert at_rest(one, 3 * CAMERA_PERIOD)
    assert np.isfinite(one.belief.cloud.states).all()
    assert one.policy.interrupted == 1


def test_a_bat_that_was_moved_stays_where_it_is_and_then_goes_on():
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one.see(3 * CAMERA_PERIOD, good_reading(5), 0.45)
    assert one.target(3.5 * CAMERA_PERIOD) == 0.45
    one.see(4 * CAMERA_PERIOD, good_reading(6), 0.45)
    assert len(one.faults) == 1
    assert not at_rest(one, 4 * CAMERA_PERIOD)


@pytest.mark.parametrize("reading", [[0.1], [0.1, 0.2, 0.3], None, "ab", [[0.1, 0.2]]])
def test_what_is_no_pair_of_numbers_is_no_reading(reading):
    assert np.isnan(controller._two_numbers(reading)).all()
    assert controller._two_numbers([1, 2.5]) == (1.0, 2.5)


@pytest.mark.parametrize("now", [0.1, 0.0, 5.0, 0.175])
def test_a_reading_out_of_time_is_said_and_the_object_is_looked_for_anew(now):
    """The last came at 0.1 s, so that the next is due at 0.15 s."""
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one.see(now, good_reading(5), one.target(0.15))
    assert len(one.faults) == 1
    assert one.faults[0].startswith("time: found")
    assert one.belief.readings == 1
    assert at_rest(one, now)


@pytest.mark.parametrize("now", [np.nan, np.inf])
def test_a_time_that_is_none_puts_the_bat_to_rest_and_is_forgotten(now):
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one.see(now, good_reading(5), one.target(0.15))
    assert at_rest(one, 0.1) and np.isfinite(one.target(np.nan))  # asks 2 s ahead: silent
    shown(one, [good_reading(n) for n in range(3, 6)], begun=3)
    assert [line.split(":")[0] for line in one.faults] == ["time", "camera"]
    assert one.belief.readings == 3 and at_rest(one, 0.25)  # it looks first


@pytest.mark.slow  # with the fast tests, which check types, it cannot be called so
@pytest.mark.parametrize("now", [None, "soon", 1e300])
def test_a_target_at_no_time_is_where_the_bat_was_last_to_be(now):
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    assert abs(one.target(now)) <= LARGEST_ANGLE
    assert now == 1e300 or one.target(now) == one.target(0.1)
    one.see(1e300, good_reading(5), 0.0)
    assert len(one.faults[-1]) < 120


@pytest.mark.slow  # with the fast tests, which check types, it cannot be called so
@pytest.mark.parametrize(("now", "angle"), [(None, 0.0), (0.15, None), (0.15, "0.1 rad")])
def test_a_time_or_an_angle_that_is_no_number_puts_the_bat_to_rest(now, angle):
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    assert not at_rest(one, 0.1)
    one.see(now, good_reading(5), angle)
    assert at_rest(one, 0.1)


@pytest.mark.parametrize("angle", [3.0, np.nan, -np.inf])
def test_a_bat_that_never_was_where_it_can_be_is_said_and_rests(angle):
    """Without room for an object no particle could be drawn: nothing is believed yet."""
    one = agent()
    assert one.see(0.0, good_reading(0), angle) is None
    assert one.faults[0].startswith("bat: found angle") and at_rest(one, 0.0)
    one.see(CAMERA_PERIOD, good_reading(1), 0.0)
    assert one.belief is not None and len(one.faults) == 1


def test_a_bat_that_leaves_objects_no_room_is_said_and_rests_until_it_is_down():
    """Turned up by half a radian it goes through the upper wall of a table 40 heights wide."""
    one = agent()
    one.world = one.world._replace(table=one.world.table._replace(width=400.0))
    for frame in range(3):
        assert one.see(frame * CAMERA_PERIOD, good_reading(frame), 0.5) is None
    (fault,) = one.faults
    assert fault == "table: found a bat at 0.500 rad that leaves objects no room, expected some"
    assert one.target(0.15) == one.target(0.3) == 0.5
    for frame, angle in enumerate((0.4, 0.3, 0.2, 0.1, 0.0), 3):
        one.see(frame * CAMERA_PERIOD, good_reading(frame), angle)
    assert one.belief is not None and len(one.faults) == 1


def test_a_reading_that_is_late_and_none_puts_the_bat_to_rest():
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one.see(1.0, np.full(2, np.nan), one.target(1.0))
    assert one.belief is None and at_rest(one, 1.0)


@pytest.mark.parametrize("more", [0, 1])
def test_frames_that_passed_while_it_computed_are_no_silence_of_the_camera(more):
    """A clock by which the tenth reading, which ends the first flight, takes 1.6 s: 32 frames."""
    one, passed = agent(), [0.0]
    one.clock = lambda: passed[0]
    shown(one, [good_reading(n) for n in range(9)])
    update = one._updated

    def long_update(*given):
        passed[0] += 1.6
        return update(*given)

    one._updated = long_update
    shown(one, [good_reading(9)], begun=9)
    one._updated = update
    readings = one.belief.readings
    frame = 9 + 32 + BLIND + more
    one.see(frame * CAMERA_PERIOD, good_reading(frame), 0.0)
    late = [line for line in one.faults if line.startswith("time")]
    assert len(late) == more
    assert one.belief.readings == (1 if more else readings + frame - 9)


def test_a_filter_slower_than_the_camera_looks_anew_and_says_so():
    one, passed = agent(), [0.0]
    one.clock = lambda: passed[0]
    shown(one, [good_reading(n) for n in range(3)])
    update, updates = one._updated, []

    def long_update(*given):
        updates.append(given)
        passed[0] += 0.8
        return update(*given)

    one._updated = long_update
    one.see(12 * CAMERA_PERIOD, good_reading(12), 0.0)
    assert len(updates) == 4 and one.belief is None and at_rest(one, 12 * CAMERA_PERIOD)
    assert [line for line in one.faults if line.startswith("filter: found it slower")]
    shown(one, [good_reading(13)], begun=13)
    assert one.belief is not None


def test_a_queue_that_is_drained_is_one_silence():
    """Readings of 30 frames are given at once, and the bat is asked for between them."""
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    for frame in range(3, 33):
        one.see(frame * CAMERA_PERIOD, good_reading(frame), 0.0)
        one.target(33 * CAMERA_PERIOD)
    assert len([line for line in one.faults if line.startswith("camera")]) == 1
    one.target(33 * CAMERA_PERIOD)
    shown(one, [good_reading(40)], begun=33)
    assert one.target(33 * CAMERA_PERIOD + 5.0) is not None
    assert len([line for line in one.faults if line.startswith("camera")]) == 2


def test_who_asks_while_it_computes_hears_of_no_silence():
    one, asked = agent(), []
    one.clock = lambda: asked.append(one.target(9.0)) or 0.0
    shown(one, [good_reading(n) for n in range(3)])
    before = len(one.faults)
    one._seeing = True
    one.target(9.0)
    assert len(one.faults) == before


@pytest.mark.parametrize("freak", [[900.0, -40.0], [-40.0, 900.0], [1e308, -1e308]])
def test_one_reading_off_the_screen_blinds_it_for_that_frame_alone(freak):
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one.see(0.15, np.array(freak), one.target(0.15))
    assert len(one.faults) == 1 and len(one.faults[0]) < 120
    shown(one, [good_reading(n) for n in range(4, 9)], begun=4)
    assert len(one.faults) == 1 and one._missing == 0


def test_losses_before_a_clock_fell_back_are_forgotten():
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one._losses = [999.0] * LOST_OFTEN
    shown(one, [good_reading(n) for n in range(3, 8)], begun=3)
    assert not any("lost" in line for line in one.faults) and not at_rest(one, 0.35)


@pytest.mark.slow  # with the fast tests, which check types, it cannot be called so
@pytest.mark.parametrize("huge", [10**400, 1e308, -1e308])
def test_huge_numbers_are_none(huge):
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    one.see(huge, good_reading(5), 0.0)
    one.see(0.2, [huge, huge], 0.0)
    one.see(0.25, good_reading(6), huge)
    assert abs(one.target(huge)) <= LARGEST_ANGLE
    assert max(map(len, one.faults)) < 140


def test_a_silent_camera_stops_the_bat():
    one = agent()
    shown(one, [good_reading(n) for n in range(3)])
    silent = 0.1 + BLIND * CAMERA_PERIOD
    assert one.target(silent - 0.1) != one.target(silent)
    assert at_rest(one, silent)
    assert [line.split(":")[0] for line in one.faults] == ["camera"]


def test_frames_that_were_left_out_are_as_readings_of_nothing():
    """Every third frame dropped, as by a computer that is too slow, or seen as not a number."""
    one, other = agent(), agent()
    for frame in range(25):
        now, seen = frame * CAMERA_PERIOD, frame % 3 != 2
        if seen:
            one.see(now, good_reading(frame), 0.01 * frame)
        other.see(now, good_reading(frame) if seen else np.full(2, np.nan), 0.01 * frame)
    assert one.belief.readings == other.belief.readings
    assert not [line for line in one.faults if line.startswith("time")]
    at_end = [each.belief.cloud.weights @ each.belief.cloud.states for each in (one, other)]
    spread = other.belief.cloud.states.std(0)
    assert (np.abs(at_end[0] - at_end[1])[:2] < 2.0 * spread[:2]).all()


def test_an_object_that_lies_on_the_bat_is_said_to_rest():
    """A disc on the level bat of the paper's world, kept in motion by nothing but noise."""
    world = paper_world(np.random.default_rng(1), 2**14)
    settings = FilterSettings(draws=20_000, early=10_000, particles=5000)
    one = Agent(Level(), settings, world, np.random.default_rng(2))
    state = np.array([[5.0, 0.45, 0.0, 0.0, 0.0, 0.0]])
    kinds, counts = np.zeros(1, np.int64), np.zeros((1, 3), np.int64)
    draw = np.random.default_rng(3)
    for frame in range(300):
        reading = clouds.readings(state, kinds, world)[0] + 0.02 * draw.standard_normal(2)
        one.see(frame * CAMERA_PERIOD, reading, 0.0)
        clouds.move(state, kinds, (0.0, 0.0), CAMERA_PERIOD, world, counts)
    assert any("at rest" in line for line in one.faults)


def test_readings_of_no_place_on_the_table_are_those_of_a_lost_object():
    one = agent()
    shown(one, [np.array([1.04, 1.08])] * 12)
    assert one.belief.restarts >= 1
    assert np.isfinite(one.belief.cloud.weights).all()


def test_nothing_is_commanded_before_anything_is_seen():
    one = agent()
    one.see(0.0, np.full(2, np.nan), 0.0)
    assert one.belief is None
    assert at_rest(one, 0.0)


def test_targets_stay_in_the_range_of_the_bat():
    one = agent()
    one.path = BatPath(np.array([0.0, 1.0]), np.array([0.0, 3.0]))
    assert max(one.target(t) for t in np.arange(0.0, 2.0, 0.02)) == LARGEST_ANGLE


def test_an_object_that_jumps_about_is_lost_and_the_bat_rests():
    one, draw = agent(), np.random.default_rng(4)
    jumps = [np.array([0.0, 0.1]) + draw.uniform(-0.8, 0.8) for _ in range(200)]
    shown(one, jumps)
    assert one.belief.restarts >= LOST_OFTEN
    assert any(f"lost {LOST_OFTEN} times" in line for line in one.faults)
    assert at_rest(one, 200 * CAMERA_PERIOD)
