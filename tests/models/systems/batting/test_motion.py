"""Motion: beside a simulation in tiny steps; no penetration, no energy from nothing; symmetries."""

import numpy as np
import pytest

from ricochet.models.systems.batting import clouds, motion
from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.shapes import SHAPES
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_ANGLE, LARGEST_RATE
from ricochet.models.systems.batting.world import World
from tests.models.systems.batting import scenes
from tests.oracles import batting_steps

LEVEL = (0.0, 0.0)
DULL = Law(restitution=0.3, tangential_restitution=0.1)


def turns(seed: int, fastest: float, frames: int) -> list[tuple[float, float]]:
    """A bat that turns at random within its range, its rate kept for five frames."""
    draw, angle, found = np.random.default_rng(seed), 0.0, []
    for frame in range(frames):
        if frame % 5 == 0:
            wanted = draw.uniform(-fastest, fastest)
        end = float(np.clip(angle + wanted * CAMERA_PERIOD, -LARGEST_ANGLE, LARGEST_ANGLE))
        found.append((angle, (end - angle) / CAMERA_PERIOD))
        angle = end
    return found


def moved(
    states: np.ndarray, kinds: np.ndarray, bat: tuple[float, float], time: float, world: World
) -> tuple[np.ndarray, np.ndarray]:
    """States and counts after a time, in one call."""
    after, counts = states.copy(), scenes.counts(len(kinds), np.arange(len(kinds)))
    clouds.move(after, kinds, bat, time, world, counts)
    return after, counts


@pytest.mark.parametrize("bat", [(0.0, 0.0), (-0.3, 0.4), (0.4, -0.5), (0.1, 2.0)])
def test_first_impacts_are_those_of_a_simulation_in_tiny_steps(bat: tuple[float, float]) -> None:
    world, seconds = scenes.quiet(), 1.5 if abs(bat[1]) < 1.0 else 0.2
    cloud = scenes.objects(40, 21, bat[0])
    states, kinds = cloud.states.copy(), cloud.kinds
    states[:, 3:5] *= 3.0
    if abs(bat[1]) >= 1.0:
        states[:, 1] = 0.55 + 0.1 * states[:, 0] + 0.05 * np.arange(40) / 40  # right above the bat
        clear = scenes.gaps(states, kinds, bat[0], world).min(1) > 0.0
        states, kinds = states[clear], kinds[clear]
    after, counts = moved(states, kinds, bat, seconds, world)
    struck = 0
    for i in range(len(states)):
        expected, impacts = batting_steps.move(states[i], kinds[i], bat, seconds, world)
        if impacts > 2:
            continue
        assert counts[i, 1] == impacts
        np.testing.assert_allclose(after[i], expected, atol=1e-7)
        struck += impacts > 0
    assert struck >= 10


# Between frames too: each frame is also played in part, as far as a share of it.
@pytest.mark.parametrize(
    ("law", "fastest"), [(Law(), LARGEST_RATE), (Law(), 0.3), (DULL, LARGEST_RATE), (DULL, 0.1)]
)
def test_nothing_ever_reaches_into_walls_or_bat(law: Law, fastest: float) -> None:
    world = scenes.noisy()._replace(law=law)
    cloud = scenes.objects(300, 1)
    states, counts = cloud.states, scenes.counts(300, np.arange(300))
    for angle, rate in turns(7, fastest, 200):
        for share in (0.3, 0.77, 1.0):
            after, counted = states.copy(), counts.copy()
            time = share * CAMERA_PERIOD
            clouds.move(after, cloud.kinds, (angle, rate), time, world, counted)
            least = scenes.gaps(after, cloud.kinds, angle + rate * time, world).min()
            assert least > -1e-6
        states, counts = after, counted
    assert (counts[:, 1] > 0).all() and np.isfinite(states).all()


@pytest.mark.parametrize("law", [Law(), Law(1.0, 1.0, 0.3), Law(1.0, -0.5, 5.0)])
@pytest.mark.parametrize("angle", [0.0, 0.3, -0.3, LARGEST_ANGLE, -LARGEST_ANGLE])
def test_no_object_gains_energy_from_a_bat_at_rest(angle: float, law: Law) -> None:
    world = scenes.quiet()._replace(law=law._replace(impulse_noise=0.0))
    cloud = scenes.objects(100, 5, angle)
    states, counts = cloud.states, scenes.counts(100)
    before = scenes.energies(states, cloud.kinds, world)
    for _ in range(400):
        clouds.move(states, cloud.kinds, (angle, 0.0), CAMERA_PERIOD, world, counts)
        after = scenes.energies(states, cloud.kinds, world)
        assert (after - before).max() < 1e-7
        before = after
    assert (counts[:, 2] > 0).all()


@pytest.mark.parametrize("angle", [-0.52, 0.0, 0.3])
def test_objects_of_dull_impacts_come_to_rest_with_hardly_any_energy_from_hops(
    angle: float,
) -> None:
    """Once rolling or sliding they hop by 1e-8 m, in corners 5e-7 m: 6e-6 J/kg a frame was seen."""
    world = scenes.quiet()._replace(law=DULL._replace(impulse_noise=0.0))
    cloud = scenes.objects(6, 5, angle)
    states, counts = cloud.states, scenes.counts(6)
    first = before = scenes.energies(states, cloud.kinds, world)
    gained = np.zeros(6)
    for _ in range(300):
        clouds.move(states, cloud.kinds, (angle, 0.0), CAMERA_PERIOD, world, counts)
        after = scenes.energies(states, cloud.kinds, world)
        assert (after - before).max() < 1e-5
        gained += np.maximum(after - before, 0.0)
        before = after
    assert gained.max() < 3e-5 and (after < first).all()
    assert (counts[:, 1] > 100).all()


def test_dull_objects_in_the_corner_meet_few_impacts_and_sink_by_less_than_a_micrometre() -> None:
    """With hops of 1e-8 m alone 9500 a frame were met."""
    world, angle = scenes.quiet()._replace(law=DULL._replace(impulse_noise=0.0)), -0.3
    cloud = scenes.objects(20, 3, angle)
    states, counts, most = cloud.states, scenes.counts(20), 0
    for _ in range(180):
        before, after = counts[:, 1].copy(), states.copy()
        clouds.move(after, cloud.kinds, (angle, 0.0), 0.4 * CAMERA_PERIOD, world, counts.copy())
        clouds.move(states, cloud.kinds, (angle, 0.0), CAMERA_PERIOD, world, counts)
        for each in (after, states):
            assert scenes.gaps(each, cloud.kinds, angle, world).min() > -1e-6
        most = max(most, int((counts[:, 1] - before).max()))
    assert 2 * motion.RESTING < most < 4000


def test_flight_alone_is_a_parabola_and_even_turning() -> None:
    world = scenes.quiet()
    state = np.array([5.0, 5.0, 0.3, 0.4, 0.8, -1.1])
    closest = motion.advance(state, 6, LEVEL, 1.0, world, np.zeros(3, np.int64), False)[1]
    expected = [5.4, 5.0 + 0.8 - 0.5, 0.3 - 1.1, 0.4, -0.2, -1.1]
    np.testing.assert_allclose(state, expected, atol=1e-14)
    chord = np.array([[5.0, 5.0], [5.4, 5.3]]) - [7.0, 3.0]
    shares = np.linspace(0.0, 1.0, 10_001)[:, None]
    distances = ((chord[0] + shares * (chord[1] - chord[0])) ** 2).sum(1)
    assert closest == pytest.approx(distances.min(), abs=1e-6)


def test_least_distances_are_those_of_short_steps() -> None:
    """The chord of 0.05 s is within g t^2 / 8 = 0.32 mm of the parabola."""
    world = scenes.quiet()
    cloud = scenes.objects(300, 8)
    goal = np.array([world.table.goal_x, world.table.goal_y])
    states, fine = cloud.states.copy(), cloud.states.copy()
    counts, fine_counts = scenes.counts(300), scenes.counts(300)
    for _ in range(40):
        closest = np.sqrt(clouds.move(states, cloud.kinds, LEVEL, 0.05, world, counts))
        nearest = np.full(300, np.inf)
        for _ in range(50):
            clouds.move(fine, cloud.kinds, LEVEL, 1e-3, world, fine_counts)
            nearest = np.minimum(nearest, np.hypot(*(fine[:, :2] - goal).T))
        # Points of a path sampled each millisecond at most 8 m/s fast.
        assert (closest < nearest + 4e-4).all() and (closest > nearest - 4e-3).all()


@pytest.mark.parametrize("split", [0.5, 0.13])
def test_a_duration_in_two_parts_is_the_whole(split: float) -> None:
    cloud = scenes.objects(300, 9, -0.3)
    world, bat, seconds = scenes.noisy(), (-0.3, 0.35), 1.2
    whole, counts = moved(cloud.states, cloud.kinds, bat, seconds, world)
    parts, halves = cloud.states.copy(), scenes.counts(300, np.arange(300))
    clouds.move(parts, cloud.kinds, bat, split * seconds, world, halves)
    later = (bat[0] + bat[1] * split * seconds, bat[1])
    clouds.move(parts, cloud.kinds, later, (1.0 - split) * seconds, world, halves)
    few = counts[:, 1] <= 2
    assert few.sum() > 250 and (counts[few, 1] > 0).sum() > 60
    np.testing.assert_array_equal(halves[few], counts[few])
    np.testing.assert_allclose(parts[few], whole[few], atol=1e-7)


def test_a_table_seen_in_a_mirror_moves_in_the_mirror() -> None:
    """A level bat looks alike from both ends; so do shapes that are even about their axis."""
    world = scenes.quiet()
    cloud = scenes.objects(400, 10)
    even = (np.abs(world.shapes.sines[cloud.kinds]) < 1e-12).all(1)
    states, kinds = cloud.states[even], cloud.kinds[even]

    def mirrored(rows: np.ndarray) -> np.ndarray:
        x, y, phi, vx, vy, spin = rows.T
        return np.stack([world.table.width - x, y, np.pi - phi, -vx, vy, -spin], axis=1)

    after, counts = moved(states, kinds, LEVEL, 3.0, world)
    other, same = moved(mirrored(states), kinds, LEVEL, 3.0, world)
    few = counts[:, 1] <= 3
    assert (counts[few, 1] > 0).sum() > 100
    np.testing.assert_array_equal(same[few], counts[few])
    np.testing.assert_allclose(other[few], mirrored(after[few]), atol=1e-6)


def test_the_same_place_in_the_noise_gives_the_same_motion_and_another_does_not() -> None:
    cloud = scenes.objects(100, 11)
    finals = []
    for first in (0, 0, 500):
        states, counts = cloud.states.copy(), scenes.counts(100, first)
        clouds.move(states, cloud.kinds, LEVEL, 3.0, scenes.noisy(), counts)
        np.testing.assert_array_equal(counts[:, 0], first + counts[:, 1])
        finals.append(states)
    struck = counts[:, 1] > 0
    np.testing.assert_array_equal(finals[0], finals[1])
    assert struck.sum() > 50
    assert (np.abs(finals[2] - finals[0]).max(1) > 0.0)[struck].all()


def test_the_store_of_noise_begins_again_after_its_end() -> None:
    cloud = scenes.objects(50, 12)
    world = scenes.noisy()._replace(noise=scenes.noisy().noise[:7])
    one, two = cloud.states.copy(), cloud.states.copy()
    clouds.move(one, cloud.kinds, LEVEL, 4.0, world, scenes.counts(50, 3))
    clouds.move(two, cloud.kinds, LEVEL, 4.0, world, scenes.counts(50, 3 + 7 * 11))
    np.testing.assert_array_equal(one, two)


def test_an_impact_with_the_bat_ends_a_motion_that_stops_there() -> None:
    cloud = scenes.objects(200, 13)
    stopped = 0
    for state, kind in zip(cloud.states, cloud.kinds, strict=True):
        rest, counts = state.copy(), np.zeros(3, np.int64)
        passed, _ = motion.advance(rest, kind, (0.0, 0.2), 2.0, scenes.quiet(), counts, True)
        assert counts[2] == (passed < 2.0)
        again = state.copy()
        motion.advance(again, kind, (0.0, 0.2), passed, scenes.quiet(), np.zeros(3, int), False)
        if passed < 2.0:
            stopped += 1
            gap = scenes.gaps(rest[None], np.array([kind]), 0.2 * passed, scenes.quiet())[0, 3]
            assert abs(gap) < 1e-8
        np.testing.assert_allclose(again[:3], rest[:3], atol=1e-7)
    assert stopped > 50


def test_motion_within_some_events_is_the_same_or_stops_before_its_time() -> None:
    state = np.array([5.0, SHAPES["disc"][0][0], 0.2, 0.0, 0.0, 0.0])
    found = []
    for most in (50, motion.MOST_EVENTS):
        moved, counts = state.copy(), np.zeros(3, np.int64)
        way = (CAMERA_PERIOD, scenes.quiet(), counts, (False, most))
        found.append((*motion.advance_within(moved, 0, LEVEL, *way), counts[1], moved))
    (early, _, events, few, _), (late, _, needed, many, moved) = found
    assert early < CAMERA_PERIOD and events == 50 and few <= 50
    assert late == CAMERA_PERIOD and many < needed < 1000
    again, counts = state.copy(), np.zeros(3, np.int64)
    motion.advance(again, 0, LEVEL, CAMERA_PERIOD, scenes.quiet(), counts, False)
    np.testing.assert_array_equal(again, moved)


def test_a_disc_at_rest_on_a_level_bat_stays_there() -> None:
    kinds, counts = np.zeros(1, np.int64), scenes.counts(1)
    states = np.array([[5.0, SHAPES["disc"][0][0], 0.2, 0.0, 0.0, 0.0]])
    for _ in range(200):
        clouds.move(states, kinds, LEVEL, CAMERA_PERIOD, scenes.quiet(), counts)
    np.testing.assert_allclose(states[0, :3], [5.0, 0.45, 0.2], atol=1e-7)
    # It falls by at most 1e-8 m between impacts: sqrt(2 g 1e-8) = 1.4e-4 m/s.
    np.testing.assert_allclose(states[0, 3:], 0.0, atol=2e-4)


@pytest.mark.parametrize("rate", [0.1, 0.3, 2.0])
@pytest.mark.parametrize("kind", range(len(SHAPES)))
def test_an_object_that_a_rising_bat_jams_under_the_right_wall_gets_away(
    kind: int, rate: float
) -> None:
    """In each frame it meets finitely many impacts, all time passes, and it moves as it can.

    The bat's surface is at most 10 rate fast. Rebounds between it and the wall add up: speeds of
    2 to 4 times that were seen.
    """
    world, kinds, angle = scenes.noisy(), np.array([kind]), -LARGEST_ANGLE
    states = np.array([[0.0, 0.0, 0.2, 0.0, 0.0, 0.0]])
    states[0, 0] = world.table.width - scenes.support(world.shapes, kinds, np.array([-0.2]))[0]
    states[0, 0] -= 1e-6
    states[0, 1] -= scenes.gaps(states, kinds, angle, world)[0, 3] / np.cos(angle) - 1e-6
    counts = scenes.counts(1)
    frames = round(2.0 * LARGEST_ANGLE / rate / CAMERA_PERIOD)
    for frame in range(frames + 20):
        turning = rate if frame < frames else 0.0
        before, impacts = states[0].copy(), counts[0, 1]
        clouds.move(states, kinds, (angle, turning), CAMERA_PERIOD, world, counts)
        angle += turning * CAMERA_PERIOD
        assert scenes.gaps(states, kinds, angle, world).min() > -1e-6
        assert counts[0, 1] - impacts < motion.MOST_EVENTS // 5
        assert np.hypot(*states[0, 3:5]) < 5.0 * world.table.width * rate + 5.0
        assert (states[0] != before).any()
    assert states[0, 0] < 9.0 or states[0, 1] > 6.0


def test_a_call_with_nothing_near_equals_the_search_for_events() -> None:
    """The bound that skips the search never skips an impact, and gives the same flight."""
    world, bat = scenes.quiet(), (0.1, -0.4)
    cloud = scenes.objects(600, 14, 0.1)
    skipped = 0
    for state, kind in zip(cloud.states, cloud.kinds, strict=True):
        if not motion.far_from_all(state, kind, bat, 0.5, world):
            continue
        skipped += 1
        times = np.linspace(0.0, 0.5, 11)
        path = np.repeat(state[None], 11, axis=0)
        path[:, :3] += state[3:] * times[:, None]
        path[:, 1] -= 0.5 * world.table.gravity * times**2
        for row, time in zip(path, times, strict=True):
            gap = scenes.gaps(row[None], np.array([kind]), bat[0] + bat[1] * time, world)
            assert gap.min() > 0.0
    assert skipped > 100
