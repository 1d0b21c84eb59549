"""Restitution from times alone: recovered, honest, robust, and frank about what does not fit."""

import csv
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.calibration import times_only
from ricochet.models.systems.bouncing_ball.calibration.times_only import BareCalibration


def chain(
    restitution: float, *, bounces: int = 20, kappa: float = 3e3, seed: int = 1
) -> np.ndarray:
    """Times of one drop detected with an error of 0.02 ms, from an arbitrary start of the clock."""
    draw = torch.Generator().manual_seed(seed)
    some = torch.tensor([restitution], dtype=torch.float64)
    times = simulator.simulate(
        some, torch.full_like(some, kappa), bounces=bounces, drop_height=0.4, draw=draw
    ).times[0]
    return (times + 2e-5 * torch.randn(bounces, generator=draw, dtype=torch.float64)).numpy() + 3.0


def drifting(bounces: int = 25) -> np.ndarray:
    """A ball that loses more at high speed: the ratio goes from 0.90 to 0.96."""
    ratios = np.linspace(0.90, 0.96, bounces - 2)
    intervals = 0.5 * np.r_[1.0, np.cumprod(ratios)]
    return np.r_[0.0, np.cumsum(intervals)]


@cache
def calibrated() -> BareCalibration:
    return times_only.listen_times([chain(0.84)])


def test_restitution_is_recovered_from_one_drop() -> None:
    assert abs(calibrated().mean - 0.84) < 3.0 * calibrated().sd
    assert 1e-5 < calibrated().sd < 0.01
    assert calibrated().region_90[0] < calibrated().mean < calibrated().region_90[1]
    assert calibrated().findings == ()
    np.testing.assert_allclose(calibrated().ratios[0][:5], 0.84, atol=0.02)


@pytest.mark.slow
def test_the_clock_does_not_matter_and_the_answer_is_the_same_twice() -> None:
    later = times_only.listen_times([chain(0.84) + 100.0])
    assert abs(later.mean - calibrated().mean) < 1e-6
    again = times_only.listen_times([chain(0.84)])
    assert (again.mean, again.sd) == (calibrated().mean, calibrated().sd)


def test_three_bounces_say_less_than_twenty() -> None:
    few = times_only.listen_times([chain(0.84)[:3]])
    assert few.sd > 2.0 * calibrated().sd
    assert abs(few.mean - 0.84) < 3.0 * few.sd


@pytest.mark.slow
def test_several_drops_narrow_the_answer() -> None:
    drops = [chain(0.7, bounces=6, seed=seed) for seed in (2, 3, 4)]
    alone = times_only.listen_times(drops[:1])
    together = times_only.listen_times(drops)
    assert together.sd < alone.sd
    assert abs(together.mean - 0.7) < 3.0 * together.sd
    assert len(together.ratios) == 3


@pytest.mark.slow
def test_a_drifting_ratio_is_said_aloud_and_widens_the_answer() -> None:
    found = times_only.listen_times([drifting()])
    assert [finding.name for finding in found.findings] == ["drift"]
    assert found.findings[0].p_value < 0.01
    # weighted line over the bounces that carry weight: at least 0.02 wide, uniform sd 0.02 / 3.46
    assert found.sd > 0.0055
    assert 0.90 < found.mean < 0.96


@pytest.mark.slow
def test_two_different_balls_in_one_recording_are_said_aloud() -> None:
    found = times_only.listen_times([chain(0.84), chain(0.88, seed=5)])
    assert "disagreement" in [finding.name for finding in found.findings]
    assert found.sd > 0.01


@pytest.mark.parametrize("times", [[0.0, 1.0], [0.0, 0.5, 0.4], [0.0, np.nan, 1.0]])
def test_chains_that_are_none_are_refused(times: list[float]) -> None:
    with pytest.raises(ValueError, match=r"chains\[0\]"):
        times_only.listen_times([np.array(times)])


def test_an_empty_recording_is_refused() -> None:
    with pytest.raises(ValueError, match="none"):
        times_only.listen_times([])


def test_a_table_of_bounce_times_made_by_ear_gives_its_authors_restitution() -> None:
    root = Path(__file__).parents[5]
    folder = Path(os.environ.get("RICOCHET_REAL_DATA", root.parent / "shared" / "data"))
    table = folder / "bounce_audio" / "eeps_pingpong" / "30 bounces.csv"
    if not table.exists():
        pytest.skip("the recordings of real balls are not here (RICOCHET_REAL_DATA)")
    with table.open() as lines:
        times = np.array([float(row["time"]) for row in csv.DictReader(lines)]) / 1000.0
    found = times_only.listen_times([times[:28]], 3e-4)  # whole milliseconds: 0.29 ms
    # a table of whole milliseconds; its author's mean of the ratios is 0.9457
    assert abs(found.mean - 0.9457) < 0.006
    assert found.sd < 0.006


@pytest.mark.slow
def test_regions_of_ninety_per_cent_hold_the_truth_as_often() -> None:
    draw = torch.Generator().manual_seed(5)
    held, count = 0, 60
    for index in range(count):
        uniform = torch.rand(2, generator=draw).tolist()
        truth, kappa = 0.6 + 0.35 * uniform[0], 10.0 ** (1.0 + 4.0 * uniform[1])
        times = chain(truth, bounces=(3, 6, 12, 20)[index % 4], kappa=kappa, seed=index)
        ends = np.flatnonzero(np.diff(times) < 2e-3)
        times = times[: max(3, ends[0] + 1)] if len(ends) else times
        found = times_only.listen_times([times])
        held += found.region_90[0] <= truth <= found.region_90[1]
    # binomial standard error sqrt(0.9 * 0.1 / 60) = 0.0387; three of them
    assert abs(held / count - 0.9) < 0.116
