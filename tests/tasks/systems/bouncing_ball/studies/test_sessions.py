"""Rows of products over many drops: by hand, and repeated by seed."""

from pathlib import Path

import numpy as np
import pytest

from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.systems.bouncing_ball.studies import sessions as product_rows
from ricochet.tasks.systems.bouncing_ball.studies.sessions import Outcome, Session


def _outcome(level: float, error: tuple[float, float], paper: float = 0.5) -> Outcome:
    rank = np.array([level, 1 - level])
    sd, truth = np.array([0.01, 0.2]), np.array([0.8, 3.0])
    return Outcome(truth, level, np.array(error), sd, rank, paper)


@pytest.mark.slow
def test_a_session_s_outcome_repeats_by_its_seed() -> None:
    session = Session(5, 2, (0.85, 3.5))
    first, second = product_rows.outcome(session), product_rows.outcome(session)
    assert first.level == second.level
    np.testing.assert_array_equal(first.error, second.error)
    assert np.isnan(first.paper_level)  # without a network there is no paper's rule


def test_the_truth_is_the_ball_s_or_drawn_from_the_prior() -> None:
    assert product_rows.simulate(Session(1, 2, (0.85, 3.5))).theta[0].tolist() == [0.85, 3.5]
    truths = np.array(
        [product_rows.simulate(Session(seed, 1)).theta[0].numpy() for seed in range(200)]
    )
    # uniform on the prior: mean 4 standard errors, width / sqrt(12 x 200)
    assert abs(truths[:, 0].mean() - 0.75) < 4 * 0.4 / np.sqrt(2400)
    assert abs(truths[:, 1].mean() - 3.0) < 4 * 4.0 / np.sqrt(2400)


def test_the_drops_of_a_session_are_different_drops() -> None:
    features = product_rows.simulate(Session(2, 5, (0.85, 3.5))).features
    assert len(set(features.ratio.tolist())) == 5


def test_a_ball_s_row_by_hand() -> None:
    results = [_outcome(0.2, (0.01, 0.1)), _outcome(0.95, (-0.01, 0.5), 0.95)]
    row = product_rows.ball_row(results, 7)
    assert row["drops"] == 7 and row["repeats"] == 2
    assert row["coverage_90"] == 0.5 and row["coverage"] == pytest.approx(
        {"0.5": 0.5, "0.8": 0.5, "0.9": 0.5, "0.95": 0.5}
    )
    # rms 0.01 over 0.01; sqrt((0.01 + 0.25) / 2) = 0.3606 over 0.2
    assert row["error_over_sd"] == pytest.approx(
        {"restitution": 1.0, "log10_concentration": 1.8028}, rel=1e-4
    )
    assert row["bias"] == pytest.approx({"restitution": 0.0, "log10_concentration": 0.3})
    assert row["paper_rule_coverage_90"] == 0.5


def test_the_prior_s_row_by_hand() -> None:
    results = [_outcome((n + 0.5) / 40, (0.0, 0.0), float("nan")) for n in range(40)]
    row = product_rows.prior_row(results, 3)
    assert row["sessions"] == 40 and row["coverage_90"] == 0.9
    # two in each of twenty bins: chi-square zero
    assert row["rank_p_value"] == pytest.approx({"restitution": 1.0, "log10_concentration": 1.0})
    assert row["paper_rule_coverage_90"] is None


def test_a_session_in_the_journal_is_not_done_again(tmp_path: Path) -> None:
    journal, session = product_rows.journal(tmp_path / "sessions"), Session(1, 2, (0.85, 3.5))
    for paper_level in (0.5, float("nan")):
        noted = _outcome(0.123, (0.01, 0.1), paper_level)
        journal.add(session, noted)
        [found] = run_all(product_rows.outcome, [session], journal=journal)
        for name, value in vars(noted).items():
            np.testing.assert_array_equal(getattr(found, name), value)


@pytest.mark.slow
def test_sessions_run_apart_give_what_one_run_gives_in_their_order(tmp_path: Path) -> None:
    sessions = [Session(seed, 1, (0.85, 3.5)) for seed in (3, 1, 2)]
    journal = product_rows.journal(tmp_path / "sessions")
    apart = run_all(product_rows.outcome, sessions, journal=journal)
    for session, found in zip(sessions, apart, strict=True):
        assert found.level == product_rows.outcome(session).level
    assert len(journal.file.read_text().splitlines()) == 3
