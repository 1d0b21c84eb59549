"""Rows count what was wrong without a word, and leave refused sessions out of the coverage."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.systems.bouncing_ball.studies import reality_rows
from ricochet.tasks.systems.bouncing_ball.studies.reality_rows import Judged, Outcome


def answer(level: float) -> Judged:
    return Judged(np.array([level, 0.2]), np.array([level, 0.0]), 0.5)


def test_rows_count_what_was_wrong_without_a_word() -> None:
    row = reality_rows.row(
        [
            Outcome(answer(0.5), ()),
            Outcome(answer(0.9999), ()),
            Outcome(answer(0.9999), ("x",)),
            Outcome(answer(0.9999), (), weak=True),
        ]
    )
    assert row["silent_and_wrong"] == 0.25 and row["warned"] == 0.5 and row["refused"] == 0.0
    assert row["coverage_90"] == {"restitution": 0.25, "log10_concentration": 1.0}
    assert row["said"] == ["x"] and row["predictive_p_values"] == [0.5] * 4


def test_a_refusal_is_a_warning_and_no_answer() -> None:
    refused = Outcome(None, ("channels 1 and 2 look swapped",))
    row = reality_rows.row([refused, Outcome(answer(0.5), ())])
    assert row["refused"] == row["warned"] == 0.5 and row["silent_and_wrong"] == 0.0
    assert row["coverage_90"] == {"restitution": 1.0, "log10_concentration": 1.0}
    assert reality_rows.row([refused])["coverage_90"] is None


def test_the_answer_of_three_bounces_is_counted_beside_the_other() -> None:
    outcome = Outcome(answer(0.5), (), three_bounces=answer(0.9999))
    row = reality_rows.row([outcome])
    assert row["silent_and_wrong"] == 0.0 and row["three_bounces"]["silent_and_wrong"] == 1.0
    said = Outcome(answer(0.5), ("x",), three_bounces=answer(0.9999))
    assert reality_rows.row([said])["three_bounces"]["silent_and_wrong"] == 0.0


def test_the_level_of_normal_draws_is_that_of_the_normal_law() -> None:
    draws = np.random.default_rng(0).standard_normal((100_000, 2))
    found = reality_rows.judge(draws, np.array([1.0, -2.0]), p_value=1.0)
    # shares of 100,000 draws: standard error 0.0012 at most, and of both tails together
    np.testing.assert_allclose(found.level, 1.0 - 2.0 * stats.norm.sf([1.0, 2.0]), atol=0.007)
    np.testing.assert_allclose(found.error, [-1.0, 2.0], atol=0.03)
    assert not found.wrong
    assert reality_rows.judge(draws, np.array([5.0, 0.0]), p_value=1.0).wrong


@pytest.mark.parametrize("scale", [0.5, -3.0])
def test_level_and_error_do_not_depend_on_units(scale: float) -> None:
    draws = np.random.default_rng(1).standard_normal((1000, 2))
    truth = np.array([0.4, -0.7])
    plain = reality_rows.judge(draws, truth, p_value=1.0)
    scaled = reality_rows.judge(1.0 + scale * draws, 1.0 + scale * truth, p_value=1.0)
    np.testing.assert_allclose(scaled.level, plain.level)
    np.testing.assert_allclose(scaled.error, np.sign(scale) * plain.error)


@dataclass(frozen=True)
class Kept:
    """A job whose answer is only in the journal."""

    number: int


def never(job: Kept) -> Outcome:
    raise AssertionError(f"{job} is in the journal")


def test_a_session_in_the_journal_is_not_answered_again(tmp_path: Path) -> None:
    journal = reality_rows.journal(tmp_path / "sessions.jsonl")
    noted = [
        Outcome(answer(0.5), ("x", "y"), weak=True, three_bounces=answer(0.7)),
        Outcome(None, ("channel 1 is flat",)),
    ]
    jobs = [Kept(number) for number in range(len(noted))]
    for job, outcome in zip(jobs, noted, strict=True):
        journal.add(job, outcome)
    found = run_all(never, jobs, journal=journal, workers=1)
    assert reality_rows.row(found) == reality_rows.row(noted)
    assert [(each.said, each.weak) for each in found] == [(each.said, each.weak) for each in noted]
