"""The numbers of the study of drawers: roots over sessions, ratios, claims that go either way."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from ricochet.tasks.systems.drawers.studies import jobs, summary, table_one
from ricochet.tasks.systems.drawers.trials import Measured

ROWS = ("mean", "loudness", "pitch", "both", "cubic", "pcr", "pcr_log", "ours")
WAYS = ("vision", "coast", "mid_stroke", "paper", "ours")


def done(seed: int, *, ours: float = 0.02, pcr: float = 0.08, paper: float = 0.1) -> Measured:
    draw = np.random.default_rng(seed)
    jitter = float(draw.uniform(0.9, 1.1))
    speed = dict.fromkeys(ROWS, 0.1 * jitter) | {"ours": ours * jitter, "pcr": pcr * jitter}
    dark = dict.fromkeys(WAYS, 0.15 * jitter) | {"ours": ours * jitter, "paper": paper * jitter}
    lit = dict.fromkeys(WAYS, 0.002 * jitter) | {"paper": 0.004 * jitter}
    return Measured(
        speed=speed,
        speed_held=0.9,
        sign={"difference": 0.55, "hmm": 0.55, "ours": 0.9},
        position={"light_on": lit, "light_off": dark, "total": dark},
        dark_held=0.88,
        sound={"loudness": 0.5 * jitter, "pitch": 0.1 * jitter, "first_component": 0.7 * jitter},
        place_heard={"at_limits": 0.01, "elsewhere": 0.03},
    )


def test_errors_of_sessions_are_averaged_as_squares() -> None:
    two = [replace(done(0), speed={"pcr": 0.03, "ours": 0.03}) for _ in range(2)]
    two[1].speed["ours"] = 0.04
    found = summary._root([each.speed["ours"] for each in two])
    assert found["value"] == pytest.approx(np.sqrt(0.5 * (0.03**2 + 0.04**2)), abs=1e-4)
    assert found["interval"] == [0.03, 0.04]


def test_a_drawer_that_is_worse_does_not_hide_behind_another() -> None:
    row = summary.sweep_row({"snr": 5.0}, {"a": [done(0, ours=0.03)], "b": [done(1, ours=0.2)]})
    assert row["drawers"]["a"]["value"] == pytest.approx(0.2)
    assert row["drawers"]["b"]["value"] > 1.3 > row["ours_over_mid_stroke"]["value"]


def test_a_session_that_ends_at_no_limit_counts_for_none() -> None:
    none = replace(done(0), place_heard={"at_limits": None, "elsewhere": 0.04})
    found = summary.drawer(
        [none, replace(done(1), place_heard={"at_limits": 0.02, "elsewhere": 0.03})]
    )
    assert found["place_heard"]["at_limits"] == {"value": 0.02, "interval": None}
    assert found["place_heard"]["elsewhere"]["value"] == pytest.approx(np.sqrt(12.5e-4), abs=1e-4)
    assert "at_limits" not in summary.drawer([none])["place_heard"]


def test_ratios_are_over_the_best_of_the_papers_five() -> None:
    found = summary.drawer([done(seed) for seed in range(8)])
    assert found["ratios"]["speed_over_pcr"]["value"] == pytest.approx(0.25, abs=1e-3)
    assert found["ratios"]["dark_over_mid_stroke"]["value"] == pytest.approx(0.02 / 0.15, abs=1e-3)
    assert found["ratios"]["light_over_vision"]["value"] == 1.0
    worse = summary.drawer([done(seed, pcr=0.2) for seed in range(8)])
    assert "speed_over_loudness" in worse["ratios"]
    json.dumps(found)


def test_claims_go_either_way_and_are_open_where_nothing_is_decided() -> None:
    def holds(some: list[Measured], word: str) -> bool | None:
        (found,) = [each for each in summary.claims({"a": some}) if word in each["sentence"]]
        return found["holds"]

    many = [done(seed) for seed in range(8)]
    assert holds(many, "components predict") is True
    assert holds([done(seed, pcr=0.2) for seed in range(8)], "components predict") is False
    assert holds([done(0)], "components predict") is None
    assert holds(many, "seen last") is True
    assert holds([done(seed, paper=0.2) for seed in range(8)], "last velocity") is False
    assert holds(many, "is flat") is False


def test_a_claim_that_holds_in_all_may_not_hold_in_one_drawer() -> None:
    parts = {
        "a": [done(seed) for seed in range(8)],
        "b": [done(seed, paper=0.16) for seed in range(8)],
    }
    (found,) = [one for one in summary.claims(parts) if "seen last" in one["sentence"]]
    assert found["holds"] is True and found["drawers"]["a"]["holds"] is True
    assert found["drawers"]["b"]["holds"] is False
    low, high = found["mean"]["interval"]
    assert low < found["mean"]["value"] < high


def test_sessions_of_a_sweep_are_drawn_anew_within_their_drawer() -> None:
    """Two drawers that differ, whose sessions do not: the interval has no width."""
    same = {"a": [done(0, ours=0.03)] * 2, "b": [done(0, ours=0.09)] * 2}
    found = summary.sweep_row({}, same)["ours_over_mid_stroke"]
    assert found["interval"] == [found["value"]] * 2


def test_the_worst_session_s_coverage_is_in_the_result() -> None:
    found = summary.drawer([replace(done(k), dark_held=held) for k, held in enumerate((0.9, 0.7))])
    assert found["dark_coverage_90"]["least"] == 0.7
    assert found["dark_coverage_90"]["value"] == pytest.approx(0.8)


def test_each_session_is_left_out_once_and_every_setting_is_swept() -> None:
    found = table_one.planned(table_one.FULL, 0)
    assert {job.out for job in found["cabinet-top"]} == set(range(8)) and len(found) == 4
    swept = table_one.planned_sweep(table_one.FULL, 0)
    assert {place for place, _ in swept} == set(range(len(table_one.SWEEP)))
    assert len({json.dumps(asdict(job), sort_keys=True) for _, job in swept}) == len(swept)


@pytest.mark.proof
def test_a_session_is_learnt_without_and_tried() -> None:
    """Two short sessions are few: in the dark it may stay in the middle, but not do worse."""
    job = jobs.Job("kitchen-large", 2, 3, 30.0, 12.0, 0)
    found = jobs.do(job)
    assert jobs.decode(json.loads(json.dumps(jobs.encode(found)))) == found
    assert found.speed["ours"] < 0.9 * min(found.speed[name] for name in summary.PAPER)
    assert found.position["light_on"]["ours"] <= 1.05 * found.position["light_on"]["vision"]
    dark = found.position["light_off"]
    assert dark["ours"] < 1.05 * dark["mid_stroke"] and found.dark_held > 0.6
    other = jobs.do(replace(job, setting={"person": "calm"}))
    assert other.speed != found.speed
