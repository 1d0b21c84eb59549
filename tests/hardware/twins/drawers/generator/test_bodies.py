"""Modes: the closed form of one, and that they add up."""

import numpy as np
import pytest

from ricochet.hardware.twins.drawers.generator import bodies
from ricochet.hardware.twins.drawers.generator.bodies import SOURCES, Modes

RATE = 16_000.0


def one_mode(frequency: float, decay: float, shift: float = 0.0) -> Modes:
    gains = np.zeros((1, len(SOURCES)))
    gains[0, 0] = 1.0
    return Modes(np.array([frequency]), np.array([shift]), np.array([decay]), gains)


def knock(frames: int) -> np.ndarray:
    driven = np.zeros((len(SOURCES), frames))
    driven[0, 0] = 1.0
    return driven


@pytest.mark.parametrize(("shift", "opening"), [(0.0, 0.0), (0.1, 1.0), (-0.2, 0.5)])
def test_a_knock_rings_as_a_damped_cosine(shift: float, opening: float) -> None:
    frames = 1600
    heard = bodies.sound(
        one_mode(700.0, 0.02, shift), knock(frames), np.full(frames, opening), RATE, 1.01
    )
    times = np.arange(frames) / RATE
    frequency = 700.0 * 1.01 * (1.0 + shift * opening)
    expected = np.exp(-times / 0.02) * np.cos(2 * np.pi * frequency * times)
    assert heard == pytest.approx(expected, abs=1e-9)


def test_bodies_are_linear_in_their_forces() -> None:
    draw = np.random.default_rng(1)
    body = bodies.modes(5, (200.0, 3000.0), 0.01, draw, shift=0.1)
    opening = np.linspace(0.0, 1.0, 3000)
    one, two = draw.standard_normal((2, len(SOURCES), 3000))
    both = bodies.sound(body, 2.0 * one + two, opening, RATE)
    apart = 2.0 * bodies.sound(body, one, opening, RATE) + bodies.sound(body, two, opening, RATE)
    assert both == pytest.approx(apart, abs=1e-9)


def test_modes_lie_in_their_band_and_low_ones_radiate_less() -> None:
    body = bodies.modes(400, (100.0, 5000.0), 0.01, np.random.default_rng(2))
    assert body.frequencies.min() >= 100.0 and body.frequencies.max() <= 5000.0
    low, high = body.frequencies < 300.0, body.frequencies > 2000.0
    sizes = np.abs(body.gains).mean(1)
    assert sizes[low].mean() < 0.3 * sizes[high].mean()
