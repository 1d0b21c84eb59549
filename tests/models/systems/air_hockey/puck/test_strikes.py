"""A strike follows its law, turns with the table and propagates uncertainty by its Jacobian."""

import numpy as np

from ricochet.models.systems.air_hockey.puck import contact_frames, strikes
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes

TABLE = Table()
MODES = hockey_modes.made(mallet=(0.05, 0.03), delay=0.009)
SPREAD = np.diag([0.002, 0.003, 0.02, 0.03, 0.07, 0.07]) ** 2


def test_a_head_on_strike_follows_the_law_and_turns_with_the_table():
    mean = np.array([0.0, 0.0, -0.2, 0.0, 0.0, 0.0])
    angles = np.linspace(-1.3, 1.3, 5)
    normal = np.stack((np.cos(angles), np.sin(angles)), -1)
    turn = contact_frames.frames(normal).swapaxes(-1, -2)
    velocity = (turn @ np.array([-0.2, 0.0])[:, None])[..., 0]
    struck = strikes.strike(
        MODES, np.concatenate((np.zeros((5, 2)), velocity, np.zeros((5, 2))), -1), normal, normal
    )
    np.testing.assert_allclose(struck.mean, (1.45 + 0.45 * 0.2) * normal, atol=1e-12)
    plain = strikes.strike(MODES, mean, np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    turned = turn @ plain.covariance @ turn.swapaxes(-1, -2)
    np.testing.assert_allclose(struck.covariance, turned, atol=1e-12)


def test_the_covariance_after_a_strike_follows_its_jacobian():
    """The mallet stays, the puck moves: central differences of the whole state."""
    mean = np.array([0.1, -0.2, 0.1, 0.3, 0.05, -0.02])
    velocity, angle = np.array([1.2, 0.5]), 0.4
    mallet = mean[:2] - TABLE.contact_radius * np.array([np.cos(angle), np.sin(angle)])

    def after(state: np.ndarray) -> np.ndarray:
        normal = (state[:2] - mallet) / np.linalg.norm(state[:2] - mallet)
        return strikes.struck(MODES, state, np.zeros((6, 6)), velocity, normal, table=TABLE)[0]

    moved = np.stack([(after(mean + d) - after(mean - d)) / 2e-6 for d in 1e-6 * np.eye(6)], -1)
    normal = np.array([np.cos(angle), np.sin(angle)])
    found = strikes.struck(MODES, mean, SPREAD, velocity, normal, table=TABLE)[1]
    noise = strikes.struck(MODES, mean, np.zeros((6, 6)), velocity, normal, table=TABLE)[1]
    np.testing.assert_allclose(found, moved @ SPREAD @ moved.T + noise, atol=1e-9)


def test_a_mirrored_strike_is_mirrored():
    draw, mirror = np.random.default_rng(0), np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    mean, velocity = draw.normal(size=(20, 6)), draw.normal(size=(20, 2))
    angle = draw.uniform(-1.3, 1.3, 20)
    normal = np.column_stack((np.cos(angle), np.sin(angle)))
    spread = np.broadcast_to(SPREAD, (20, 6, 6))
    flip = np.array((1.0, -1.0))
    one = strikes.struck(MODES, mean, spread, velocity, normal, table=TABLE)
    other = strikes.struck(
        MODES, mean @ mirror, spread, velocity * flip, normal * flip, table=TABLE
    )
    np.testing.assert_allclose(other[0], one[0] @ mirror, atol=1e-12)
    np.testing.assert_allclose(other[1], mirror @ one[1] @ mirror, atol=1e-12)
