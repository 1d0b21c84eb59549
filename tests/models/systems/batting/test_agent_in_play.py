"""The controller sees an object through cameras that lose, swap or hold what they see."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ricochet.models.systems.batting import clouds, trial
from ricochet.models.systems.batting.agent import BLIND, Agent
from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_RATE
from ricochet.models.systems.batting.world import World, paper_world
from tests.models.systems.batting.swinging import Swinging


def played(
    seconds: float,
    corrupt: Callable[[int, np.ndarray], np.ndarray | None],
    speed: float,
    busy: Sequence[float] = (),
    scale: float = 1.0,
) -> tuple[Agent, list[float], list[float]]:
    """Let an agent see an object through what corrupts readings; None: no frame came.

    Args:
        busy: How long the agent computes at each reading, s, by its clock.

    Returns:
        The agent, how far off it is and how fast its bat turns in each frame.
    """
    start = trial.random_start(5, 2, seconds, 0.02)
    world, state, kind = (
        _scaled(start.world, scale),
        start.state[None].copy(),
        np.array([start.kind]),
    )
    state[0, 3:5] = speed * np.array([0.6, 0.8])
    settings = FilterSettings(draws=30_000, early=15_000, particles=8000)
    one = Agent(
        Swinging(), settings, paper_world(np.random.default_rng(6), 2**14), np.random.default_rng(7)
    )
    one.clock, taken = lambda: 0.0, iter(busy)
    counts, angle, errors, rates = np.zeros((1, 3), np.int64), 0.0, [], []
    for frame, noise in enumerate(start.screen):
        now = frame * CAMERA_PERIOD
        reading = corrupt(frame, clouds.readings(state, kind, world)[0] + 0.02 * noise)
        if reading is not None:
            cloud = one.see(now, reading, angle)
            one._busy = next(taken, 0.0)
            if cloud is not None:
                errors.append(float(np.hypot(*(cloud.weights @ cloud.states - state[0])[:2])))
        rates.append((one.target(now + CAMERA_PERIOD) - angle) / CAMERA_PERIOD)
        clouds.move(state, kind, (angle, rates[-1]), CAMERA_PERIOD, world, counts)
        angle += rates[-1] * CAMERA_PERIOD
    return one, errors, rates


def _scaled(world: World, scale: float) -> World:
    """The same shapes, larger or smaller."""
    shapes = world.shapes
    lengths = ("cosines", "sines", "radius", "bend")
    changed = {name: scale * getattr(shapes, name) for name in lengths if hasattr(shapes, name)}
    changed["gyration_squared"] = scale**2 * shapes.gyration_squared
    return world._replace(shapes=shapes._replace(**changed))


@pytest.mark.proof
def test_an_object_as_fast_as_the_bat_makes_it_is_found_again_after_a_silence():
    one, errors, _ = played(9.0, lambda frame, seen: None if 60 <= frame < 72 else seen, 15.0)
    assert [line.split(":")[0] for line in one.faults] == ["camera", "time"]
    assert np.median(errors[-40:]) < 1.0


@pytest.mark.slow
def test_an_object_is_followed_by_a_controller_that_time_does_not_wait_for():
    """Frames that pass while it computes are lost: 1.6 s at the first flight, 0.06 s otherwise."""
    busy = [0.06] * 9 + [1.6] + [0.06] * 500
    free = np.concatenate([[0.0], np.cumsum(np.ceil(np.array(busy) / CAMERA_PERIOD))])
    one, errors, _ = played(12.0, lambda frame, seen: seen if frame in free else None, 1.0, busy)
    assert one.faults == [] and one.belief.restarts == 0
    assert np.median(errors[-40:]) < 1.0


@pytest.mark.proof
@pytest.mark.parametrize("scale", [0.6, 1.6])
def test_a_shape_outside_the_set_is_said_or_followed(scale: float) -> None:
    """Objects of another size: readings that no shape explains are said, or the error is small."""
    one, errors, rates = played(20.0, lambda frame, seen: seen, 1.0, scale=scale)
    said = any(line.startswith(("object", "screen")) for line in one.faults)
    assert said or np.median(errors[-100:]) < 0.5
    assert np.abs(rates).max() <= LARGEST_RATE + 1e-9


@pytest.mark.slow
def test_ends_that_are_swapped_are_not_swung_by():
    """From 3 s on; the object may be so far away that its ends are less than 0.1 m apart."""
    one, _, rates = played(8.0, lambda frame, seen: seen[::-1] if frame >= 60 else seen, 1.0)
    assert any("the lower first" in line for line in one.faults)
    assert not np.any(rates[80:])


@pytest.mark.slow
def test_ends_that_are_swapped_from_the_start_are_not_swung_by():
    one, _, rates = played(8.0, lambda frame, seen: seen[::-1], 1.0)
    assert any("the lower first" in line for line in one.faults)
    assert not np.any(rates[20:])


@pytest.mark.slow
def test_a_camera_that_is_stuck_is_said_and_the_bat_rests():
    held = []

    def stuck(frame, seen):
        held.append(seen)
        return held[min(frame, 40)]

    one, _, rates = played(6.0, stuck, 1.0)
    assert any("times in a row" in line for line in one.faults)
    assert not np.any(rates[40 + BLIND + 8 :])


@pytest.mark.slow
def test_in_a_trial_it_says_nothing_and_localises():
    one, errors, rates = played(10.0, lambda frame, seen: seen, 1.0)
    assert one.faults == [] and np.any(rates)
    assert np.median(errors[100:]) < 1.0
