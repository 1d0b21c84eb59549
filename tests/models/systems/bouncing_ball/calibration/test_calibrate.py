"""From measured drops to a posterior and findings: recovery, planted faults, progress."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.core.progress import no_progress
from ricochet.models.systems.bouncing_ball.calibration import calibrate
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration, MeasuredDrops
from tests.oracles.planted_sessions import PING_PONG, session


def _calibrate(drops: MeasuredDrops, progress=no_progress) -> Calibration:
    draw = torch.Generator().manual_seed(1)
    return calibrate.calibrate(drops, draw=draw, progress=progress)


def _spoilt(drops: MeasuredDrops, index: int) -> MeasuredDrops:
    """Move the second bounce of a take by 40 ms, as a sound mistaken for it would."""
    times = drops.times.clone()
    times[index, 1] += 0.04
    return replace(drops, times=times)


@pytest.fixture(scope="module")
def three() -> tuple[Calibration, list[tuple[int, int]]]:
    steps: list[tuple[int, int]] = []
    found = _calibrate(session(PING_PONG, 3, 2), lambda *step: steps.append(step))
    return found, steps


@pytest.mark.proof
def test_the_ball_is_recovered_and_the_numbers_agree_with_one_another(three) -> None:
    found = three[0]
    centred = found.mean - np.array(PING_PONG)
    # chi-square of two degrees: beyond 13.8 once in a thousand
    assert centred @ np.linalg.solve(found.covariance, centred) < 13.8
    sd = np.sqrt(np.diag(found.covariance))
    assert found.samples.shape == (4000, 2)
    # 4 standard errors of 4000 draws; the grid's cells add a hundredth
    assert (np.abs(found.samples.mean(0) - found.mean) < (4 / 4000**0.5 + 0.01) * sd).all()
    inside = (found.samples > found.region_90[:, 0]) & (found.samples < found.region_90[:, 1])
    assert np.abs(inside.mean(0) - 0.9).max() < 0.03
    assert found.used == ("take-00", "take-01", "take-02") and found.set_aside == ()


def test_progress_rises_to_its_end(three) -> None:
    steps = three[1]
    done = [step for step, _ in steps]
    assert done == sorted(done) and len({total for _, total in steps}) == 1
    assert steps[-1][0] == steps[-1][1]


def test_the_posterior_narrows_by_take(three) -> None:
    sizes = [size for size, _ in three[0].narrowing]
    assert sizes == [1, 2, 3]
    sd = [density.covariance[1, 1] for _, density in three[0].narrowing]
    assert sd[-1] < sd[0]


def test_chosen_takes_keep_their_own_rows() -> None:
    drops = session(PING_PONG, 4, 3)
    kept = drops.rows(np.array([True, False, False, True]))
    assert kept.names == ("take-00", "take-03")
    assert torch.equal(kept.times, drops.times[[0, 3]])
    assert torch.equal(kept.positions, drops.positions[[0, 3]])
    np.testing.assert_array_equal(kept.later_times[1], drops.later_times[3])


def test_a_session_without_takes_is_refused() -> None:
    empty = session(PING_PONG, 2, 3).rows(np.zeros(2, dtype=bool))
    with pytest.raises(ValueError, match="no drop"):
        _calibrate(empty)


def test_a_take_that_is_not_a_number_is_refused() -> None:
    drops = session(PING_PONG, 2, 3)
    times = drops.times.clone()
    times[1, 1] = torch.nan
    with pytest.raises(ValueError, match="ratio"):
        _calibrate(replace(drops, times=times))


def _heights(found: Calibration) -> list[str]:
    return [each.sentence for each in found.findings if each.name == "height"]


@pytest.mark.proof
def test_a_session_without_a_height_takes_that_of_its_takes_and_says_nothing_odd() -> None:
    found = _calibrate(session(PING_PONG, 4, 2, height=0.5, stated=None))
    [height] = found.heights
    assert height.stated is None and height.source == "takes"
    assert height.height == pytest.approx(0.5, abs=4 * height.height_sd)
    assert found.release.height.tolist() == [height.height] * 4
    assert _heights(found) == []


@pytest.mark.proof
def test_a_height_that_is_stated_wrong_is_reported_and_not_used() -> None:
    found = _calibrate(session(PING_PONG, 4, 2, height=0.5, release_sd=5e-3))
    [sentence] = _heights(found)
    assert "not from the 0.260 m stated" in sentence
    centred = found.mean - np.array(PING_PONG)
    assert centred @ np.linalg.solve(found.covariance, centred) < 13.8


@pytest.mark.proof
def test_a_bad_take_is_set_aside_by_name_and_does_not_spoil_the_rest() -> None:
    clean = session(PING_PONG, 10, 4)
    found = _calibrate(_spoilt(clean, 6))
    assert [name for name, _ in found.set_aside] == ["take-06"]
    assert "take-06" not in found.used and len(found.used) == 9
    [finding] = [each for each in found.findings if each.name == "take"]
    assert finding.takes == ("take-06",) and "1 of 10 takes" in finding.sentence
    without = _calibrate(clean.rows(np.arange(10) != 6))
    sd = np.sqrt(np.diag(without.covariance))
    # the same nine takes, other nodes of integration
    assert (np.abs(found.mean - without.mean) < 0.2 * sd).all()


@pytest.mark.proof
def test_bad_takes_are_found_wherever_they_come_and_when_there_are_two() -> None:
    drops = _spoilt(_spoilt(session(PING_PONG, 12, 5), 0), 11)
    found = _calibrate(drops)
    assert {name for name, _ in found.set_aside} == {"take-00", "take-11"}


@pytest.mark.proof
@pytest.mark.slow
def test_a_drift_of_the_session_is_reported_and_not_averaged_away() -> None:
    theta = torch.stack([torch.linspace(0.84, 0.86, 14), torch.full((14,), 3.0)], dim=-1)
    found = _calibrate(session(theta, 14, 6))
    assert "session" in {each.name for each in found.findings}


@pytest.mark.proof
def test_two_balls_in_one_session_are_reported() -> None:
    theta = torch.tensor([[0.842, 3.0], [0.858, 3.0]]).repeat(8, 1)
    found = _calibrate(session(theta, 16, 7))
    assert "object" in {each.name for each in found.findings}


@pytest.mark.proof
def test_drifting_ratios_are_reported() -> None:
    found = _calibrate(session(PING_PONG, 8, 8, bounces=8, drift=0.01))
    assert "flight" in {each.name for each in found.findings}


@pytest.mark.proof
def test_clean_sessions_are_left_in_peace() -> None:
    alarmed = 0
    for seed in range(8):
        found = _calibrate(session(PING_PONG, 8, 300 + seed, bounces=6))
        alarmed += bool(found.findings or found.set_aside)
    # Four checks and the takes' own: about 2 % of clean sessions; 2 or more of 8 with 1 %
    assert alarmed <= 1
