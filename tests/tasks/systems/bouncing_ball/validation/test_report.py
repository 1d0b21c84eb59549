"""What is reported of a ball's validation: labelled metrics, refusals, one line."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.registry.verdicts import Verdict
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.validation import gate, report, results, trials
from ricochet.tasks.systems.bouncing_ball.validation.results import TrackingTrials, TwinResult
from ricochet.tasks.validation import page
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.outcomes import Paired

NAME, REFUSAL = "tennis-table", "y: found 0.4, expected -0.35 to 0.35"
RUN = OpenRun("run", "0", False)
TRACKED = TrackingTrials(
    {"candidate": (True,)}, {"candidate": 0.02}, {"candidate": 0.018}, {"candidate": (REFUSAL,)}
)


THREE = {"three_bounces_restitution_mean", "three_bounces_restitution_sd"}


def package(contact=None):
    arrays = {
        "samples": np.random.default_rng(0).normal((0.72, 3.0), (1e-3, 0.2), (50, 2)),
        "mean": np.array([0.72, 3.0]),
        "covariance": np.diag([1e-6, 0.04]),
    }
    names = ("restitution", "log10_concentration")
    parameters = tuple(SimpleNamespace(name=name) for name in names)
    made = Package("grid", NAME, parameters, arrays, {}, {}, "0" * 32, "0" * 40, {})
    return made if contact is None else contact_package.with_contacts(made, contact)


def contenders(**versions):
    versions = {"candidate": "2"} | versions
    return Contenders(NAME, versions, {role: package() for role in versions})


def test_the_restitution_of_whole_takes_is_reported_where_there_is_one() -> None:
    pairs = torch.tensor([[0.73, 3.0], [0.75, 3.0]], dtype=torch.float64)
    both = {"candidate": package(contact_draws.of_pairs(pairs)), "champion": package()}
    played = Contenders(NAME, {"candidate": "2", "champion": "1"}, both)
    result = TwinResult(
        NAME, "2", "1", "simulated", (0,), Paired((True,), (False,)), (), Paired((), ())
    )
    tracked = TrackingTrials(result.success.to_json(), {}, {}, {"candidate": (), "champion": ()})
    made = report.report(played, None, TwinResult(**(vars(result) | {"tracking": tracked})))
    assert made.measured["candidate"]["restitution_mean"] == pytest.approx(0.74)
    assert made.measured["candidate"]["three_bounces_restitution_mean"] == pytest.approx(0.72)
    assert made.measured["candidate"]["three_bounces_restitution_sd"] == pytest.approx(1e-3)
    assert not THREE & set(made.measured["champion"])
    assert made.stated.startswith("restitution 0.74 ± 0.01, ")
    assert made.stated.endswith(", by whole takes, at 2 m/s")


def test_what_was_refused_in_a_toss_goes_into_the_run(tmp_path) -> None:
    played = contenders()
    result = trials.result_of(played, "simulated", (0,), TRACKED, tmp_path)
    assert json.loads((tmp_path / "refused.json").read_text()) == {"candidate": [REFUSAL]}
    made = report.report(played, None, result)
    assert made.measured["candidate"]["refused"] == 1.0
    assert made.summary["refused"] == {"candidate": [REFUSAL]}


def test_every_metric_has_a_label_and_every_parameter_its_deviation() -> None:
    played = contenders(champion="1")
    result = TwinResult(
        NAME, "2", "1", "simulated", (0,), Paired((True,), (False,)), (), Paired((), ())
    )
    tracked = TrackingTrials(
        result.success.to_json(),
        *({"candidate": 0.1, "champion": 0.2} for _ in range(2)),
        {"candidate": (), "champion": (REFUSAL,)},
    )
    made = report.report(played, None, TwinResult(**(vars(result) | {"tracking": tracked})))
    for role in ("candidate", "champion"):
        assert set(made.measured[role]) == set(report.LABELS) - THREE - {"cup_inside_90"}
    assert made.measured["candidate"]["restitution_sd"] == pytest.approx(1e-3)
    assert made.measured["champion"]["energy"] == 0.2
    assert made.stated == "restitution 0.72 ± 0.001, log10_concentration 3 ± 0.2"


def test_the_page_of_a_real_validation_names_the_rig_and_needs_no_cup() -> None:
    draw = np.random.default_rng(1)
    outcomes = [tuple(bool(x) for x in draw.random(60) < 0.7) for _ in range(2)]
    result = TwinResult(
        NAME, "2", "1", "real", tuple(range(60)), Paired(*outcomes), (), Paired((), ())
    )
    verdict = Verdict(gate.judge_trials(result))
    assert verdict.passed
    made = report.report(contenders(champion="1"), None, result)
    assert made.draw().axes
    assert "60 tosses and 0 cups on the real rig" in page.describe(RUN, made, verdict, children={})


def test_a_line_says_where_no_cup_was_tried() -> None:
    both = {"success": {"candidate": 0.5}, "inside_90": {"candidate": 0.975}}
    assert report.line(both) == "touched 0.50 of the tosses, 0.97 of the cups as predicted"
    assert report.line(both | {"inside_90": {}}) == "touched 0.50 of the tosses, no cup tried"


def test_how_tosses_were_tracked_is_not_stored_with_the_trials() -> None:
    result = trials.paired({"candidate": (True,)})
    assert result == Paired((True,), None)
    assert "tracking" not in results.to_json(
        TwinResult(NAME, "2", None, "real", (0,), result, (), Paired((), None), tracking=TRACKED)
    )
