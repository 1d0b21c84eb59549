"""Forces of rails: a place is a place at any speed, roughness falls with it, slips come slow."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.hardware.twins.drawers.generator import rails
from ricochet.hardware.twins.drawers.generator.rails import GRID, Rail

RATE, LENGTH = 16_000.0, 0.3
SMOOTH = Rail(roughness=0.0, joints=0)


def gliding(speed: float, seconds: float) -> np.ndarray:
    """Positions of an even motion."""
    return 0.02 + speed * np.arange(round(seconds * RATE)) / RATE


def forces(rail: Rail, position: np.ndarray, seed: int = 1, **how: bool) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return np.stack(
        rails.forces(rail, rails.surface(rail, LENGTH, draw), position, RATE, draw, **how)
    )


def test_half_the_speed_reads_the_same_heights_in_twice_the_time() -> None:
    rail = Rail(patch=2e-4)  # smooth enough that no frame misses a height
    fast, slow = gliding(0.2, 1.0), gliding(0.1, 2.0)
    quick, calm = forces(rail, fast)[0], forces(rail, slow)[0]
    inner = slice(200, -200)
    assert quick[inner] == pytest.approx(calm[::2][: len(quick)][inner], abs=0.02 * quick.std())


def test_going_back_reads_the_same_heights_backwards() -> None:
    there = gliding(0.2, 1.0)
    rail = Rail(patch=2e-4)
    both = forces(rail, np.concatenate([there, there[::-1]]))[0]
    half = len(there)
    assert both[200 : half - 200] == pytest.approx(both[half:][::-1][200 : half - 200], abs=0.02)


def test_a_rail_that_is_not_read_by_position_is_new_on_the_way_back() -> None:
    there = gliding(0.2, 0.6)
    both = forces(Rail(), np.concatenate([there, there[::-1]]), by_position=False)[0]
    half = len(there)
    assert abs(np.corrcoef(both[:half], both[half:][::-1])[0, 1]) < 0.5


def test_roughness_has_its_size_and_its_exponent() -> None:
    rail = Rail(roughness=2.0, hurst=0.6, joints=0, patch=1e-6)
    heights = rails.surface(rail, 2.0, np.random.default_rng(3)).heights
    assert heights.std() == pytest.approx(2.0, rel=0.3)
    wave = 2 * np.pi * np.fft.rfftfreq(len(heights), GRID)
    power = np.abs(np.fft.rfft(heights * np.hanning(len(heights)))) ** 2
    used = (wave > 2e3) & (wave < 1e5)
    slope = np.polyfit(np.log(wave[used]), np.log(power[used]), 1)[0]
    # The logarithm of a power scatters by 1.28; over 30,000 bins the slope is known to 0.02.
    assert slope == pytest.approx(-2.2, abs=0.1)


def test_a_smooth_rail_is_silent() -> None:
    assert not forces(SMOOTH, gliding(0.2, 1.0)).any()


def test_slips_come_once_a_slip_length_where_it_is_slow_and_never_where_it_is_fast() -> None:
    rail = replace(SMOOTH, slip=1.0, slip_length=5e-4, slip_speed=0.1)
    slow, fast = forces(rail, gliding(0.05, 4.0))[1], forces(rail, gliding(0.2, 1.0))[1]
    # 0.2 m hold 400 slips; the number of gamma(2) lengths scatters by its root over sqrt(2): 14.
    assert np.count_nonzero(slow) == pytest.approx(400, abs=3 * 14)
    assert not fast.any()


def test_a_roller_turns_once_a_circumference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rails, "ROLL_SLIP", 0.0)
    rail = replace(SMOOTH, waviness=1.0, radius=0.005)
    force = forces(rail, gliding(0.1, 2.0))[0]
    turn = round(2 * np.pi * 0.005 / 0.1 * RATE)
    assert force[turn:] == pytest.approx(force[:-turn], abs=0.05 * force.std())
