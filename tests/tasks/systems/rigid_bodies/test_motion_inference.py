"""What inference from recorded motion refuses, and which numbers of it are recorded."""

import re

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference.stein_newton import NothingMovesError
from ricochet.tasks.systems.rigid_bodies import motion_inference, publish


def test_limits_within_which_nothing_moves_are_bad_input_and_other_errors_are_not() -> None:
    said = "cart.yaml: found a motion at 1 of 9 places, expected at 4"
    refused = pytest.raises(BadInput, match=re.escape(said))
    with refused, motion_inference.refused_limits("cart.yaml"):
        raise NothingMovesError("a motion at 1 of 9 places, expected at 4")
    with pytest.raises(ValueError, match="shapes"), motion_inference.refused_limits("run.csv"):
        raise ValueError("shapes")


def test_errors_of_joints_are_metrics_by_names_that_metrics_may_have() -> None:
    ahead = {"error": {"0.25": {"slide": 0.1, "arm/hinge #2": 0.2}}, "coverage_90": {"0.25": 0.9}}
    assert publish._ahead({"prediction_together": ahead}) == {
        "coverage_90_0.25": 0.9,
        "error_slide_0.25": 0.1,
        "error_arm/hinge _2_0.25": 0.2,
    }
    assert publish._ahead({"prediction_together": None}) == {}
