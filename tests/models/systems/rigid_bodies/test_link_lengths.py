"""The pendulum of two lengths: textbook equations, differences, and what lengths scale."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.rigid_bodies import link_lengths

LENGTHS = torch.tensor([[1.5, 2.0], [0.8, 3.0]], dtype=torch.float64)
REST = torch.tensor([np.pi / 2, 0.0, 0.0, 0.0], dtype=torch.float64)
STEP: dict[str, Any] = {"steps": 100, "duration": 0.01}


def textbook(lengths: np.ndarray, seconds: float) -> np.ndarray:
    """Equal masses at the ends of links, absolute angles a and b from straight down."""
    one, two = lengths

    def rates(_: float, state: np.ndarray) -> np.ndarray:
        a, b, u, v = state
        c, s = np.cos(a - b), np.sin(a - b)
        mass = np.array([[2.0 * one, two * c], [one * c, two]])
        pull = np.array(
            [-two * v**2 * s - 2.0 * GRAVITY * np.sin(a), one * u**2 * s - GRAVITY * np.sin(b)]
        )
        return np.array([u, v, *np.linalg.solve(mass, pull)])

    found = solve_ivp(rates, (0.0, seconds), [np.pi / 2, np.pi / 2, 0.0, 0.0], rtol=1e-10)
    a, b, u, v = found.y[:, -1]
    return np.array([a, b - a, u, v - u])


@pytest.mark.proof
def test_small_steps_come_to_the_textbook_s_motion() -> None:
    """First order: four times as many steps, a quarter of the error."""
    errors = []
    for finer in (50, 200):
        found = link_lengths.move(LENGTHS, REST, steps=100 * finer, duration=0.01 / finer).states
        away = found[:, -1].numpy() - np.stack([textbook(each, 1.0) for each in LENGTHS.numpy()])
        errors.append(np.abs(away).max())
    assert errors[1] < 5e-3
    np.testing.assert_allclose(errors[0] / errors[1], 4.0, rtol=0.1)


def test_four_times_the_lengths_take_twice_the_time() -> None:
    short = link_lengths.move(LENGTHS, REST, **STEP).states
    long = link_lengths.move(4.0 * LENGTHS, REST, steps=100, duration=0.02).states
    torch.testing.assert_close(long[..., :2], short[..., :2])
    torch.testing.assert_close(2.0 * long[..., 2:], short[..., 2:])


def test_derivatives_are_differences() -> None:
    motion, step = link_lengths.move(LENGTHS, REST, **STEP), 1e-6
    weights = torch.randn(motion.states.shape, generator=torch.Generator().manual_seed(0)).double()
    slopes = motion.jacobian()
    by_start, by_length = motion.gradient(weights)
    for place in range(2):
        moved = LENGTHS.clone()
        moved[:, place] += step
        change = (link_lengths.move(moved, REST, **STEP).states - motion.states) / step
        torch.testing.assert_close(slopes.by_parameter[..., place], change, rtol=1e-3, atol=1e-3)
        expected = (weights * slopes.by_parameter[..., place]).sum((1, 2))
        torch.testing.assert_close(by_length[:, place], expected)
    expected = (weights[..., None] * slopes.by_start).sum((1, 2))
    torch.testing.assert_close(by_start, expected)
