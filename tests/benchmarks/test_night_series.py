"""Trends over nights: found where there is one, and not where restarts alone change the level."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import night_series
from benchmarks.night_series import Night


def nights(*, slope, jump=0.0, count=60, seed=1, **more):
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        start = number // 30
        memory = 1e9 + slope * number + jump * start + 1e6 * draw.normal()
        rest = {"processes": 9, "descriptors": 200, "memory": int(memory), "up": 10**8}
        sizes = {name: 1000 * number for name in night_series.GROWING}
        sizes |= {name: int(each * number) for name, each in more.items()}
        kill = "machine" if number == 29 else ""
        rows.append(Night(number, start, "COMPLETED", kill, 10.0, **rest, **sizes))
    return rows


@pytest.mark.parametrize("slope", [0.0, 2e5])
def test_a_trend_is_found_whatever_the_level_after_a_restart(slope):
    found, half = night_series.trend(nights(slope=slope, jump=3e8), "memory")
    assert abs(found - slope) < 2.0 * half  # four deviations
    assert 1e4 < half < 1e5
    assert night_series.trend(nights(slope=slope), "processes") == (
        pytest.approx(0.0, abs=1e-9),
        pytest.approx(0.0, abs=1e-9),
    )


def test_what_may_grow_too_much_is_named_and_what_stands_still_is_not():
    assert night_series.growing(nights(slope=1e6)) == ["memory"]
    assert not any(night_series.growing(nights(slope=0.0, seed=seed)) for seed in range(20))
    assert night_series.growing(nights(slope=0.0, logs=3e4, databases=1e6)) == ["databases", "logs"]
    few = nights(slope=0.0, count=12)
    assert night_series.growing(few) == list(night_series.MOST)  # nothing is shown by so few


def test_a_night_that_failed_by_itself_is_named():
    found = nights(slope=0.0)
    assert night_series.failed(found) == []
    found[7] = replace(found[7], state="FAILED")
    found[29] = replace(found[29], state="CRASHED")  # killed
    assert night_series.failed(found) == [7]
    found[29] = replace(found[29], state="FAILED")  # which no kill explains
    assert night_series.failed(found) == [7, 29]


@pytest.mark.parametrize("kept", [0.0, 0.7, 1.0])
def test_an_interval_covers_a_trend_whatever_one_error_keeps_of_the_one_before(kept):
    draw, slope, covered = np.random.default_rng(0), 1e5, 0
    for _ in range(100):
        rows = nights(slope=0.0)
        errors = draw.normal(0.0, 1e6, len(rows))
        for night in range(1, len(rows)):
            errors[night] += kept * errors[night - 1]
        memory = 1e9 + slope * np.arange(len(rows)) + errors
        rows = [replace(row, memory=int(each)) for row, each in zip(rows, memory, strict=True)]
        found, half = night_series.trend(rows, "memory")
        covered += abs(found - slope) <= half
    assert covered >= 82  # of 91 to 96; errors taken to be independent cover 59 and 24


def test_the_warm_up_of_each_start_is_left_out_and_lines_name_kills(tmp_path):
    rows = nights(slope=0.0)
    left = {night.number for night in rows} - {n.number for n in night_series.steady(rows)}
    assert left == {*range(10), *range(30, 40)}
    for night in rows:
        night_series.append(tmp_path / "nights.jsonl", night)
    assert night_series.read(tmp_path / "nights.jsonl") == rows
    assert night_series.lines(rows)[0] == "60 nights, 1 of them with a kill: 60 COMPLETED"


@pytest.mark.slow
def test_the_picture_is_drawn(tmp_path):
    night_series.draw(nights(slope=1e5), tmp_path / "nights.png")
    assert (tmp_path / "nights.png").stat().st_size > 10_000
