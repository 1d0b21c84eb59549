"""Restitution from times alone: recovered, honest, robust, and frank about what does not fit."""

import csv
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from ricochet.models.sound import alike_onsets, onsets
from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball import air, simulator
from ricochet.models.systems.bouncing_ball.calibration import drop_choice, times_only
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import NoBallError
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.calibration.times_only import BareCalibration
from ricochet.models.systems.bouncing_ball.chains import family


def chain(restitution, *, bounces=20, kappa=3e4, seed=1, jitter=2e-5) -> Drop:
    """Times of one drop, from an arbitrary start of the clock."""
    draw = torch.Generator().manual_seed(seed)
    some = torch.tensor([restitution], dtype=torch.float64)
    times = simulator.simulate(
        some, torch.full_like(some, kappa), bounces=bounces, drop_height=0.4, draw=draw
    ).times[0]
    error = jitter * torch.randn(bounces, generator=draw, dtype=torch.float64)
    return Drop((times + error).numpy() + 3.0, np.full(bounces, jitter))


def onsets_of(*drops, clutter=(), power=1.2) -> Onsets:
    """Onsets of drops, loud as a power of the speed, and of clutter as loud as the first bounce."""
    times = np.concatenate([*(drop.times for drop in drops), clutter])
    loud = [np.append(np.diff(drop.times), np.diff(drop.times)[-1]) ** power for drop in drops]
    loudness = np.concatenate([*loud, np.full(len(clutter), 0.5)])
    order = np.argsort(times)
    count = len(times)
    sd, strength = np.full(count, 2e-5), np.full(count, 300.0)
    return Onsets(times[order], strength, sd, loudness[order], float(times.max()) + 0.5)


@cache
def calibrated() -> BareCalibration:
    return times_only.calibrate_drops([chain(0.84)])


@pytest.mark.slow
def test_restitution_is_recovered_from_one_drop():
    at = calibrated().at_first_bounce
    assert abs(at.mean - 0.84) < 3.0 * at.sd
    assert 1e-5 < at.sd < 0.02
    assert at.region_90[0] < at.mean < at.region_90[1]
    assert at.speed == pytest.approx(np.sqrt(2.0 * 9.80665 * 0.4), rel=0.03)
    assert calibrated().findings == ()
    assert len(calibrated().samples) == times_only.SAMPLES
    assert calibrated().samples.mean() == pytest.approx(at.mean, abs=2e-4)


def test_the_band_spans_the_speeds_and_is_narrow_where_most_bounces_were():
    band = calibrated().band
    widths = [each.region_90[1] - each.region_90[0] for each in band]
    assert band[-1].speed == pytest.approx(calibrated().at_first_bounce.speed)
    assert band[0].speed < 0.3
    assert min(widths) < widths[-1]
    assert sum(calibrated().members.values()) == pytest.approx(1.0)


def test_three_bounces_say_less_than_twenty():
    whole = chain(0.84)
    few = times_only.calibrate_drops([Drop(whole.times[:3], whole.time_sd[:3])]).at_first_bounce
    assert few.sd > 1.5 * calibrated().at_first_bounce.sd
    assert abs(few.mean - 0.84) < 3.0 * few.sd


@pytest.mark.slow
def test_a_fast_ball_s_first_bounces_may_mean_air_and_all_of_them_do_not():
    whole = chain(0.84)
    first = Drop(whole.times[:4], whole.time_sd[:4])
    said, at = times_only.calibrate_drops([first]), calibrated().at_first_bounce
    assert [finding.name for finding in said.findings] == ["air"]
    assert said.at_first_bounce.sd > times_only.VAGUE > at.sd


@pytest.mark.slow
def test_a_recording_of_a_ball_is_answered_without_a_finding():
    found = times_only.calibrate_recording(onsets_of(chain(0.84)))
    assert found.findings == ()
    assert found.evidence[0].log_odds > drop_choice.SURE
    assert found.at_first_bounce.mean == pytest.approx(
        calibrated().at_first_bounce.mean, abs=calibrated().at_first_bounce.sd
    )


@pytest.mark.slow
def test_two_drops_of_a_ball_are_taken_together():
    first, second = chain(0.8, bounces=10), chain(0.8, bounces=10, seed=4)
    later = Drop(second.times + 6.0, second.time_sd)
    found = times_only.calibrate_recording(onsets_of(first, later))
    assert [len(drop.times) for drop in found.drops] == [10, 10]
    assert found.findings == ()


@pytest.mark.slow
def test_another_ball_in_the_recording_is_left_out_and_reported():
    first, second = chain(0.84, bounces=16), chain(0.7, bounces=9, seed=5)
    later = Drop(second.times + 8.0, second.time_sd)
    found = times_only.calibrate_recording(onsets_of(first, later))
    assert [len(drop.times) for drop in found.drops] == [16]
    assert [finding.name for finding in found.findings] == ["disagreement"]


def test_four_bounces_are_answered_as_weak_with_a_wide_interval():
    short = chain(0.75, bounces=4)
    found = times_only.calibrate_recording(onsets_of(short))
    assert "weak" in [finding.name for finding in found.findings]
    low, high = found.at_first_bounce.region_90
    assert low < 0.75 < high
    assert high - low > 0.02


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_clicks_at_random_are_no_ball(seed):
    draw = np.random.default_rng(seed)
    times = np.sort(draw.uniform(0.3, 8.0, 40))
    loud = np.exp(0.4 * draw.standard_normal(40))
    noise = Onsets(times, np.full(40, 300.0), np.full(40, 2e-5), loud, 8.5)
    with pytest.raises(NoBallError, match="40 onsets"):
        times_only.calibrate_recording(noise)


def test_a_ball_played_backwards_is_no_ball():
    given = onsets_of(chain(0.84))
    backwards = Onsets(
        given.duration - given.times[::-1],
        given.strengths[::-1],
        given.time_sd[::-1],
        given.loudness[::-1],
        given.duration,
    )
    with pytest.raises(NoBallError):
        times_only.calibrate_recording(backwards)


@pytest.mark.slow
def test_forty_bounces_of_a_ball_that_hardly_loses_are_answered():
    times = 0.5 + np.append(0.0, np.cumsum(0.5 * 0.985 ** np.arange(39)))
    found = times_only.calibrate_recording(onsets_of(Drop(times, np.full(40, 2e-5))))
    assert len(found.drops[0].times) == 40
    assert found.at_first_bounce.mean == pytest.approx(0.985, abs=0.005)


@pytest.mark.slow
def test_an_arch_along_the_bounces_is_reported_and_widens_the_answer():
    number = np.arange(24)
    ratios = 0.90 + 0.04 * np.sin(np.pi * number / 23.0)
    times = np.append(0.0, np.cumsum(0.5 * np.append(1.0, np.cumprod(ratios))))
    arch = times_only.calibrate_drops([Drop(times, np.full(len(times), 1e-5))])
    assert "drift" in [finding.name for finding in arch.findings]
    assert arch.at_first_bounce.sd > 0.005


def test_two_balls_given_as_one_are_reported():
    found = times_only.calibrate_drops([chain(0.84), chain(0.88, seed=5)])
    assert "disagreement" in [finding.name for finding in found.findings]
    assert found.at_first_bounce.sd > 0.01


def test_a_table_of_bounce_times_gives_its_authors_restitution():
    root = Path(__file__).parents[5]
    folder = Path(os.environ.get("RICOCHET_REAL_DATA", root.parent / "shared" / "data"))
    table = folder / "bounce_audio" / "eeps_pingpong" / "30 bounces.csv"
    if not table.exists():
        pytest.skip("the recordings of real balls are not here (RICOCHET_REAL_DATA)")
    with table.open() as lines:
        times = np.array([float(row["time"]) for row in csv.DictReader(lines)]) / 1000.0
    found = times_only.calibrate_drops([Drop(times[:28], np.full(28, 3e-4))])
    # a table of whole milliseconds, 0.29 ms each; its author's mean of the ratios is 0.9457
    assert abs(found.at_first_bounce.mean - 0.9457) < 0.006
    assert found.at_first_bounce.sd < 0.01


@pytest.mark.slow
def test_drag_alone_explains_a_real_ping_pong_ball_by_its_terminal_speed():
    samples, rate = _real_clip()
    found = times_only.calibrate_recording(onsets.detect(samples, rate))
    assert {finding.name for finding in found.findings} <= {"air"}  # its sd is at the limit
    median, low, high = found.terminal_speed
    size = air.COMMON_BALLS["ping-pong"]
    expected = air.terminal_speed(air.drag(size))
    assert low < expected < high
    assert median == pytest.approx(expected, abs=1.0)
    assert found.at_first_bounce.mean == pytest.approx(0.9457, abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 4, 5])
def test_the_first_bounces_of_a_real_ball_are_answered_with_a_wide_interval(count):
    samples, rate = _real_clip()
    times = onsets.detect(samples, rate).times
    end = round((times[count - 1] + 0.4 * (times[count] - times[count - 1])) * rate)
    heard = onsets.detect(samples[:, :end], rate)
    alike = alike_onsets.detect(samples[:, :end], rate, heard)
    found = times_only.calibrate_recording(heard, alike)
    assert [finding.name for finding in found.findings] == ["weak"]
    low, high = found.at_first_bounce.region_90
    assert low < 0.9457 < high
    assert high - low > 0.05


@pytest.mark.slow
def test_the_size_of_a_real_ball_narrows_its_restitution():
    samples, rate = _real_clip()
    heard = onsets.detect(samples, rate)
    size = air.COMMON_BALLS["ping-pong"]
    drag = family.drag_prior(size, 20.0)
    unknown, known = (times_only.calibrate_recording(heard, (), *each) for each in ((), (drag,)))
    assert known.at_reference.sd < 0.5 * unknown.at_reference.sd
    apart = abs(known.at_reference.mean - unknown.at_reference.mean)
    assert apart < 3.0 * unknown.at_reference.sd
    assert known.terminal_speed[0] == pytest.approx(air.terminal_speed(air.drag(size)), rel=0.1)


def test_what_is_said_of_air_depends_on_whether_the_size_is_known():
    whole = chain(0.84)
    first = [Drop(whole.times[:4], whole.time_sd[:4])]
    drag = family.drag_prior(air.COMMON_BALLS["tennis"], 20.0)
    unknown, known = (times_only.calibrate_drops(first, *each) for each in ((), (drag,)))
    said = [finding.sentence for finding in unknown.findings if finding.name == "air"]
    assert len(said) == 1 and "--ball" in said[0]
    assert not any("--ball" in finding.sentence for finding in known.findings)
    assert known.at_first_bounce.sd < unknown.at_first_bounce.sd


def test_a_bounce_that_is_missing_is_named_where_the_answer_is_vague():
    whole = chain(0.84)
    kept = np.delete(np.arange(6), 2)
    drop = Drop(whole.times[kept], whole.time_sd[kept], (1,))
    (said,) = [
        finding.sentence
        for finding in times_only.calibrate_drops([drop]).findings
        if finding.name == "air"
    ]
    begin, end = drop.times[1:3]
    assert f"a bounce is missing or cut out between {begin:.2f} and {end:.2f} s" in said


def test_a_clip_that_was_slowed_down_is_not_believed():
    """Its ball would keep more of its speed than any ball does, in the air of a ping-pong ball."""
    slow = chain(0.93)
    times, sd = 4.0 * (slow.times - slow.times[0]), 4.0 * slow.time_sd
    drag = family.drag_prior(air.COMMON_BALLS["ping-pong"], 20.0)
    found = times_only.calibrate_drops([Drop(times, sd)], drag)
    assert found.at_first_bounce.mean > times_only.MOST
    (said,) = [finding for finding in found.findings if finding.name == "lossless"]
    assert "slowed down" in said.sentence and said.p_value < 0.5
    kept = times_only.calibrate_drops([slow], drag)
    assert "lossless" not in [finding.name for finding in kept.findings]


def _real_clip():
    root = Path(__file__).parents[5]
    folder = Path(os.environ.get("RICOCHET_REAL_DATA", root.parent / "shared" / "data"))
    path = folder / "bounce_audio" / "eeps_pingpong" / "pingpong.wav"
    if not path.exists():
        pytest.skip("the recordings of real balls are not here (RICOCHET_REAL_DATA)")
    samples, rate = soundfile.read(path, always_2d=True)
    return samples.T.copy(), rate
