"""How the mallet hangs: against MuJoCo, and against itself cut in pieces."""

import numpy as np

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.arm import mallet_offset
from ricochet.models.systems.air_hockey.arm.mallet_offset import REST, MalletState
from ricochet.models.systems.air_hockey.interface import JOINTS, PERIOD
from ricochet.models.systems.air_hockey.simulator import CALM
from tests.models.systems.air_hockey import simple_episodes
from tests.oracles.iiwa_mirror import MIRROR


def followed(commands: np.ndarray, swing: MalletState = REST) -> MalletState:
    return mallet_offset.follow(swing, commands[:, 0], commands[:, 1], period=PERIOD)


def test_the_mallet_hangs_as_in_the_simulator() -> None:
    """Within 0.15 mm where it swings by 1.4 mm."""
    world = simulator.build()
    commands = simple_episodes.straight(np.array((0.8, 0.2)), run_up=0.24, after=0.04)
    episode, _ = simulator.reset(
        world, puck=np.array((0.5, 0.4, 0.0, 0.0)), disturbance=CALM, draw=np.random.default_rng(0)
    )
    largest = 0.0
    for count, command in enumerate(commands, start=1):
        seen = simulator.step(episode, command)
        tip = iiwa.tip(seen[JOINTS])[:2] + np.array(world.table.robot_base[:2])
        hangs = episode.trace[-1][6:8] - tip
        np.testing.assert_allclose(followed(commands[:count]).offset, hangs, atol=1.5e-4)
        largest = max(largest, float(np.hypot(*hangs)))
    assert largest > 1.2e-3


def test_a_motion_cut_in_pieces_is_the_same_motion() -> None:
    commands = simple_episodes.straight(np.array((0.5, -0.2)), run_up=0.3, after=0.1)
    whole = followed(commands)
    parts = followed(commands[7:], followed(commands[:7]))
    np.testing.assert_allclose(parts.offset, whole.offset, atol=1e-12)


def test_at_rest_it_comes_back_under_the_tip() -> None:
    """After a second, 13 time constants."""
    still = np.stack((iiwa.HOME, np.zeros(7)))[None].repeat(50, axis=0)
    begun = mallet_offset.deflected(np.array((3e-3, -2e-3)))
    np.testing.assert_allclose(begun.offset, (3e-3, -2e-3))
    left = followed(still, begun)
    assert np.abs(left.offset).max() < 1e-8


def test_a_mirrored_motion_swings_to_the_other_side() -> None:
    commands = simple_episodes.straight(np.array((0.5, 0.2)), run_up=0.3, after=0.0)
    here, there = followed(commands), followed(commands * MIRROR)
    np.testing.assert_allclose(there.offset, here.offset * (1.0, -1.0), atol=1e-12)
