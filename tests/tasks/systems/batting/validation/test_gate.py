"""What the gate says: sound evidence passes, what is sharp and wrong does not."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.batting.validation import gate, report, results
from ricochet.tasks.systems.batting.validation.gate import BattingEvidence, Share
from ricochet.tasks.systems.batting.validation.results import BattingResult, BoardTrial

SOUND = BattingEvidence(0.1, 1.05, Share(90, 100), Share(36, 40), (0.2,) * 38 + (1.5, 2.0), 0.02)


def trials(passes: list[int]) -> tuple[BoardTrial, ...]:
    return tuple(BoardTrial((0, 0, 0, count, *([count + 1] * 5)), 30, 2) for count in passes)


def result(ours: list[int], b: list[int], champion: list[int] | None = None) -> BattingResult:
    played = {"candidate": trials(ours), "reference": trials(b)}
    if champion is not None:
        played["champion"] = trials(champion)
    version = None if champion is None else "1"
    return BattingResult("batting-board", "2", version, 0, 60.0, played)


def refused(checks) -> set[str]:
    return {check.name for check in checks if not check.passed}


def test_sound_evidence_passes() -> None:
    assert refused(gate.judge_evidence(SOUND)) == set()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"apart": 0.6}, "posterior"),
        ({"ratio": 1.4}, "posterior"),
        ({"apart": float("nan")}, "posterior"),
        ({"impacts": Share(75, 100)}, "impacts at 90 %"),
        ({"filter": Share(25, 40)}, "filter at 90 %"),
        ({"errors": (1.5,) * 20 + (0.1,) * 20}, "lost"),
    ],
)
def test_each_fault_is_refused_by_its_name(changes, name: str) -> None:
    assert refused(gate.judge_evidence(replace(SOUND, **changes))) == {name}


def test_regions_that_are_surely_too_wide_are_refused() -> None:
    """Of 100, 99 may come of a share of 0.95 (0.945 to 1.000)."""
    judged = [gate.judge_evidence(replace(SOUND, impacts=Share(n, 100))) for n in (99, 100)]
    assert [refused(each) for each in judged] == [set(), {"impacts at 90 %"}]


def test_sound_coverage_is_refused_as_rarely_as_stated() -> None:
    """Of 400 sets of 100 impacts at 0.9 at most 0.02 and three of its errors are refused."""
    draw = np.random.default_rng(0)
    held = draw.binomial(100, 0.9, 400)
    wrong = [
        bool(refused(gate.judge_evidence(replace(SOUND, impacts=Share(int(k), 100))))) for k in held
    ]
    assert np.mean(wrong) <= 0.02 + 3.0 * np.sqrt(0.02 * 0.98 / 400)


def test_more_passes_than_row_b_are_asked_for() -> None:
    better = result([4, 5, 3, 6, 4, 5, 3, 4], [1, 0, 2, 1, 0, 1, 1, 0])
    assert refused(gate.judge_trials(better, SOUND)) == set()
    alike = result([1, 2, 1, 0, 3, 1, 0, 1], [1, 0, 2, 1, 2, 1, 1, 0])
    assert refused(gate.judge_trials(alike, SOUND)) == {"row B"}


def test_a_candidate_that_is_worse_than_the_champion_is_refused() -> None:
    ours, b = [3, 2, 3, 4, 3, 2, 3, 3], [0] * 8
    worse = result(ours, b, [6, 7, 8, 6, 7, 6, 8, 7])
    assert refused(gate.judge_trials(worse, SOUND)) == {"passes against champion"}
    assert refused(gate.judge_trials(result(ours, b, [2, 3, 3, 4, 2, 3, 3, 2]), SOUND)) == set()


def test_results_come_back_from_their_json() -> None:
    made = result([4, 5, 3, 6, 4], [1, 0, 2, 1, 0], [3, 3, 3, 3, 3])
    assert results.from_json(results.to_json(made), "here") == made
    with pytest.raises(BadInput, match="here"):
        results.from_json({**results.to_json(made), "trials": {"candidate": [[[1], 2]]}}, "here")
    with pytest.raises(BadInput, match="played unequally often"):
        result([1, 2], [1, 2, 3])


def test_a_report_has_the_same_numbers_for_both_roles() -> None:
    made = result([4, 5, 3, 6, 4], [1, 0, 2, 1, 0], [3, 3, 3, 3, 3])
    found = report.report(None, SOUND, made)
    assert set(found.measured) == {"candidate", "champion"}
    assert found.measured["candidate"]["passes"] == pytest.approx(4.4 * 200.0 / 60.0)
    assert set(found.measured["candidate"]) == set(found.labels)
    assert "row B 2.7" in report.line(found.summary)
    assert found.draw().axes[0].get_ylabel() == "passes in 200 s"
