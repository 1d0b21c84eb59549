"""What the gate says of a drawer: sound packages pass, sharp, vague and worse ones do not."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.figures import style
from ricochet.tasks.systems.drawers.figures import validation as figures
from ricochet.tasks.systems.drawers.validation import gate, report, results
from ricochet.tasks.systems.drawers.validation.gate import DrawerEvidence
from ricochet.tasks.systems.drawers.validation.results import DrawerResult, Tried

GOOD = Tried("a", 0.9, 0.05, 0.9, 0.03, 0.1, 0.9, 0.9, 0.6, 0.0)
STATED = {"speed_coverage_90": 0.9, "dark_coverage_90": 0.92, "dark_error": 0.03}
SOUND = DrawerEvidence(STATED, STATED, 2, 0.02)


def takes(count: int = 8, **changes: float) -> tuple[Tried, ...]:
    """Takes alike but for a little noise."""
    draw = np.random.default_rng(0)
    alike = replace(GOOD, **changes)
    return tuple(
        replace(
            alike,
            take=f"take-{n}",
            speed_held=alike.speed_held + 0.02 * float(draw.uniform(-1.0, 1.0)),
            dark_error=alike.dark_error + 0.003 * float(draw.uniform(-1.0, 1.0)),
        )
        for n in range(count)
    )


def result(ours: tuple[Tried, ...], champion: tuple[Tried, ...] | None = None) -> DrawerResult:
    trials = {"candidate": ours} | ({} if champion is None else {"champion": champion})
    version = None if champion is None else "1"
    return DrawerResult("drawer-desk", "2", version, "simulated", 0, trials)


def refused(checks: tuple[gate.Check, ...]) -> set[str]:
    return {check.name for check in checks if not check.passed}


def test_of_a_short_stroke_there_is_less_to_gain() -> None:
    short = result(takes(near=1.0, middle_near=0.95))
    assert refused(gate.judge_trials(short, SOUND)) == set()
    assert refused(gate.judge_trials(result(takes(near=0.95, middle_near=0.95)), SOUND)) == {
        "hand against the middle"
    }


def test_sound_packages_pass() -> None:
    assert refused(gate.judge_evidence(SOUND)) == set()
    assert refused(gate.judge_trials(result(takes()), SOUND)) == set()
    judged = gate.judge_trials(result(takes(), takes()), SOUND)
    assert refused(judged) == set()
    json.dumps([asdict(each) for each in (*judged, *gate.judge_evidence(SOUND))])


@pytest.mark.parametrize("name", list(STATED))
def test_figures_that_are_not_found_again_are_refused(name: str) -> None:
    other = replace(SOUND, measured=STATED | {name: 1.1 * STATED[name]})
    assert refused(gate.judge_evidence(other)) == {"figures"}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"speed_held": 0.7}, "speed at 90 %"),
        ({"dark_held": 0.75}, "dark at 90 %"),
        ({"dark_held": 1.0}, "dark at 90 %"),
        ({"dark_error": 0.12}, "middle of the stroke"),
        ({"touching": 0.03}, "touching"),
        ({"near": 0.7, "middle_near": 0.4}, "hand"),
        ({"near": 0.8, "middle_near": 0.7}, "hand against the middle"),
    ],
)
def test_each_fault_is_refused_by_its_name(changes: dict[str, float], name: str) -> None:
    assert refused(gate.judge_trials(result(takes(**changes)), SOUND)) == {name}


def test_few_takes_show_nothing() -> None:
    assert "takes" in refused(gate.judge_trials(result(takes(5)), SOUND))


@pytest.mark.parametrize("shares", [(0.2, 0.95, 0.4, 0.95, 0.7, 0.95, 0.3, 0.95), (0.8, 0.84) * 4])
def test_coverage_that_scatters_is_not_excused(shares: tuple[float, ...]) -> None:
    made = [replace(each, dark_held=x) for each, x in zip(takes(8), shares, strict=True)]
    assert "dark at 90 %" in refused(gate.judge_trials(result(tuple(made)), SOUND))


def test_six_takes_can_show_a_candidate_that_is_worse() -> None:
    worse = result(takes(6, dark_error=0.06), takes(6, dark_error=0.03))
    assert "dark error against champion" in refused(gate.judge_trials(worse, SOUND))


@pytest.mark.parametrize("name", list(STATED))
def test_a_figure_that_is_no_number_is_refused(name: str) -> None:
    for side in ("stated", "measured"):
        other = replace(SOUND, **{side: STATED | {name: float("nan")}})
        assert refused(gate.judge_evidence(other)) == {"figures"}


def test_what_is_farther_off_than_the_champion_is_refused() -> None:
    other = result(takes(dark_error=0.05), takes(dark_error=0.03))
    assert refused(gate.judge_trials(other, SOUND)) == {"dark error against champion"}


def test_sound_coverage_is_refused_as_rarely_as_stated() -> None:
    """Shares of takes about 0.9: at most 0.02 of 2000 sets, to three of its errors."""
    draw = np.random.default_rng(1)
    shares = draw.normal(0.9, 0.05, (2000, 8))
    missed = [gate.mean_interval(each, chance=0.04)[1] < 0.9 for each in shares]
    assert np.mean(missed) <= 0.02 + 3.0 * np.sqrt(0.02 * 0.98 / 2000)


def test_trials_are_read_as_they_were_written() -> None:
    made = result(takes(), takes(dark_error=0.05))
    assert results.from_json(results.to_json(made), "here") == made


@pytest.mark.parametrize(
    ("key", "value"),
    [("schema", "other"), ("trials", {"candidate": [{"take": "a"}]}), ("seed", "x")],
)
def test_trials_that_cannot_be_are_refused(key: str, value: object) -> None:
    with pytest.raises(BadInput):
        results.from_json(results.to_json(result(takes())) | {key: value}, "here")


def test_roles_on_other_takes_are_refused() -> None:
    with pytest.raises(BadInput, match="other takes"):
        result(takes(8), takes(7))


def test_a_report_sums_up_every_number_and_draws() -> None:
    made = report.report(None, SOUND, result(takes(), takes()))  # type: ignore[arg-type]
    assert set(report.LABELS) == set(made.measured["candidate"])
    assert made.measured["candidate"]["dark_error"] == pytest.approx(0.03, abs=0.003)
    assert "off by 0.029 m" in report.line({"trials": made.measured})
    pixels = style.to_pixels(figures.takes(result(takes(), takes())))
    assert pixels.std() > 5.0
