"""A film counts once however it is written; two swings are two, though they agree within noise."""

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import signal

from ricochet.models.systems.rigid_bodies import double_pendulum, marked_motion, repeated_motions

RATE, NOISE = 400.0, 7e-4
TRUTH = (0.35, 1e-3, 0.1, 0.002, 1e-4, 0.145, 0.35, 7e-4, 0.028, 0.0, 2e-4)
RELEASE = (1.5, 1.0, 0.0, 0.0)
FIRST = np.array([1.0, 0.0])
LOW_PASS = signal.butter(4, 30.0, fs=RATE, output="sos")


def released(turned: np.ndarray, frames: int = 1200) -> np.ndarray:
    """Return angles of double pendulums that were let go where they were turned to, exactly."""
    starts = torch.tensor(RELEASE).double() + torch.from_numpy(np.pad(turned, ((0, 0), (0, 2))))
    theta = torch.tensor(TRUTH).double()
    found = double_pendulum.roll_out(theta, starts, steps=frames, duration=1 / RATE, substeps=2)
    return found.numpy()[:, :, :2].reshape(len(turned), frames, 2)


def damped(rate: float, frames: int, begin: float = 0.5) -> np.ndarray:
    time = np.arange(frames) / rate
    return (begin * np.exp(-0.05 * time) * np.cos(5.4 * time))[:, None]


def one(first: np.ndarray, second: np.ndarray, rates: tuple[float, float] = (RATE, RATE)) -> bool:
    return list(repeated_motions.pairs([first, second], rates)) == [(0, 1)]


@pytest.fixture(scope="module")
def film() -> np.ndarray:
    exact = released(np.zeros((1, 2)))[0]
    return exact + NOISE * np.random.default_rng(0).normal(size=exact.shape)


COPIES = {
    "itself": lambda film: film,
    "smoothed over 5 frames": lambda film: signal.savgol_filter(film, 5, 2, axis=0),
    "over 7": lambda film: signal.savgol_filter(film, 7, 3, axis=0),
    "over 11": lambda film: signal.savgol_filter(film, 11, 3, axis=0),
    "running mean of 3": lambda film: (film[2:] + film[1:-1] + film[:-2]) / 3.0,
    "without what is fast": lambda film: signal.sosfiltfilt(LOW_PASS, film, axis=0),
    "turned": lambda film: film + FIRST * 2.0 * np.pi,
    "offset": lambda film: film + FIRST * 0.002,
    "mirrored": lambda film: -film,
    "half a frame later": lambda film: (film[1:] + film[:-1]) / 2.0,
    "six decimals": lambda film: film.round(6),
    "cut and smoothed": lambda film: signal.savgol_filter(film[333:1000], 7, 3, axis=0),
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_a_copy_is_the_film(film: np.ndarray, copy) -> None:
    assert one(film, copy(film))
    assert one(copy(film), film)


def test_two_copies_are_one_film_without_it(film: np.ndarray) -> None:
    low = signal.sosfiltfilt(LOW_PASS, film, axis=0)
    assert one(low, signal.savgol_filter(film, 7, 3, axis=0) + FIRST * 0.001)


def test_a_film_at_another_rate_is_the_film(film: np.ndarray) -> None:
    assert one(film, film[::2], (RATE, RATE / 2.0))
    assert one(film[1::2], film, (RATE / 2.0, RATE))
    assert one(film, film[:900:3], (RATE, RATE / 3.0))
    assert not one(film, film[::2])


def test_a_film_without_noise_is_what_it_is_smoothed() -> None:
    exact = released(np.zeros((1, 2)))[0]
    assert one(exact, signal.savgol_filter(exact, 7, 3, axis=0))
    assert not one(damped(100.0, 1000), -damped(100.0, 1000))  # released at either side


def test_units_and_order_change_nothing(film: np.ndarray) -> None:
    smooth = signal.savgol_filter(film, 7, 3, axis=0)
    other = released(np.full((1, 2), 0.001))[0]
    for factor in (1e-3, 1e3):
        assert one(factor * film[:, ::-1], factor * smooth[:, ::-1])
        assert not one(factor * film, factor * other)


def test_swings_from_nearly_one_start_are_two() -> None:
    """Within half a degree, or from the same start: their noise is their own."""
    draw = np.random.default_rng(1)
    for spread in (np.deg2rad(0.5), np.deg2rad(0.05), 0.0):
        exact = released(spread * draw.normal(size=(4, 2)), 800)
        films = exact + NOISE * draw.normal(size=exact.shape)
        for frames in (200, 400, 800):
            short = list(films[:, :frames])
            assert list(repeated_motions.pairs(short, [RATE] * 4)) == []


@pytest.mark.parametrize(
    ("rate", "frames"), [(30.0, 200), (100.0, 130), (100.0, 400), (400.0, 316)]
)
@pytest.mark.parametrize("better", [1.0, 1e-3])
def test_repeats_that_agree_within_their_noise_are_two(
    rate: float, frames: int, better: float
) -> None:
    """Of one release that always is the same, seen twice, the second time by a better camera."""
    draw, exact = np.random.default_rng(2), damped(rate, frames)
    for _ in range(40):
        noises = NOISE * draw.normal(size=(2, *exact.shape))
        assert not one(exact + noises[0], exact + better * noises[1], (rate, rate))


@pytest.mark.parametrize("hum", [5e-4, 1e-3, 2e-3])
def test_repeats_with_hum_of_their_own_phase_are_two(hum: float) -> None:
    """Far above their other noise, and faster than what is compared."""
    draw, exact = np.random.default_rng(3), damped(RATE, 1600)
    time = np.arange(1600)[:, None] / RATE
    for _ in range(10):
        films = [
            exact
            + 1e-4 * draw.normal(size=exact.shape)
            + hum * np.sin(2.0 * np.pi * (50.0 * time + draw.random()))
            for _ in range(2)
        ]
        assert not one(*films)


def test_what_is_still_short_or_out_of_scale_is_no_copy(film: np.ndarray) -> None:
    assert not one(np.zeros((500, 2)), np.zeros((500, 2)))
    assert not one(film[:100], film[:100])
    huge = film.copy()
    huge[300] = 1e300
    assert not one(film, huge)


def test_a_joint_that_stands_still_is_no_obstacle(film: np.ndarray) -> None:
    fixed = np.column_stack((film, np.full(len(film), 0.3)))
    assert one(fixed, signal.savgol_filter(fixed, 7, 3, axis=0))


@pytest.fixture(scope="module")
def films() -> list[np.ndarray]:
    """All angles of the fifteen films of Asseman et al. 2018."""
    root = Path(__file__).resolve().parents[4]
    data = Path(os.environ.get("RICOCHET_REAL_DATA", root.parent / "shared" / "data"))
    files = sorted((data / "double_pendulum" / "ibm_chaotic").glob("*.csv"))
    if not files:
        pytest.skip("the films of the pendulum are not here (RICOCHET_REAL_DATA)")
    tables = [np.loadtxt(file, delimiter=",") for file in files]
    return [marked_motion.angles(*np.split(table, 3, axis=1)) for table in tables]


@pytest.mark.slow
@pytest.mark.parametrize("part", [slice(0, 200), slice(0, 800), slice(-1000, None), slice(None)])
def test_no_two_real_swings_are_one_and_each_smoothed_is(
    films: list[np.ndarray], part: slice
) -> None:
    parts = [film[part] for film in films]
    assert list(repeated_motions.pairs(parts, [RATE] * len(parts))) == []
    for film in parts:
        assert one(film, signal.savgol_filter(film, 7, 3, axis=0))


def test_every_pair_of_several_copies_is_named(film: np.ndarray) -> None:
    found = list(repeated_motions.pairs([film, -film, film[100:]], [RATE] * 3))
    assert found == list(combinations(range(3), 2))
