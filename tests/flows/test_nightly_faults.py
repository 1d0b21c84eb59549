"""The night outlasts every failure of a step and of a system, and nothing but a cancellation."""

import asyncio
import concurrent.futures
import json
import logging
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from mlflow.exceptions import MlflowException
from prefect.exceptions import CancelledRun, TerminationSignal

from ricochet.flows import nightly
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import NightlyStep
from tests.flows.nights import failed_night, raising

WHOLE = ["capture", "publish", "fetch", "calibrate", "validate", "train", "validate"]
FAULTS = {
    "capture": ("capturing", "capture"),
    "publish": (None, "publish"),
    "fetch": (None, "fetch"),
    "calibrate": ("calibration", "calibrate"),
    "train energy": ("training", "train"),
}
ERRORS = {
    RuntimeError("the sensor\nis on fire"): "the sensor is on fire",
    ValueError("too few"): "too few",
    OSError(5, "Input/output error"): "OSError: [Errno 5] Input/output error",
    MlflowException("no such run"): "MlflowException: no such run",
    KeyError("a"): "KeyError: 'a'",
    RuntimeError(): "RuntimeError:",
    concurrent.futures.CancelledError(): "CancelledError:",  # of a pool of the part's own
}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("part", FAULTS)
def test_a_night_outlasts_any_failure_of_any_part_and_runs_all_others(
    tmp_path, steps, begin_late, monkeypatch, caplog, part, error
):
    begin_late(5)
    module, name = FAULTS[part]
    place = nightly if module is None else getattr(nightly, module)
    monkeypatch.setattr(place, name, raising(error))
    with caplog.at_level("ERROR", logger="prefect"):
        monkeypatch.setattr(logging.getLogger("prefect"), "propagate", True)
        result = failed_night(tmp_path)
    assert [line.strip() for line in result["failures"]] == [f"{part}: {ERRORS[error]}"]
    assert [record.getMessage() for record in caplog.records] == result["failures"]
    without = {
        "calibrate": ["capture", "publish", "fetch", "train", "validate"],
        "train energy": ["capture", "publish", "fetch", "calibrate", "validate"],
    }
    left = [step for step in WHOLE if step != part]
    assert [step[0] for step in steps] == without.get(part, left)
    assert result["state"] == ("failed" if part == "capture" else "recorded")
    reasons = result["reason"] or ""
    assert (ERRORS[error] in reasons) == (part in ("publish", "fetch"))


@pytest.mark.parametrize("part", FAULTS)
@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt, SystemExit, asyncio.CancelledError, CancelledRun, TerminationSignal(15)],
)
def test_an_interruption_or_a_cancellation_ends_a_night(
    tmp_path, steps, begin_late, monkeypatch, part, error
):
    begin_late(5)
    module, name = FAULTS[part]
    place = nightly if module is None else getattr(nightly, module)
    monkeypatch.setattr(place, name, raising(error))
    with pytest.raises(error if isinstance(error, type) else type(error)):
        nightly.nightly.fn(session="tonight", out=str(tmp_path))
    assert not (tmp_path / "result.json").exists()


def with_first_step(monkeypatch, **words):
    """Put a step before all others of the first system."""
    listed = catalogue.nightly_steps
    first = replace(NightlyStep("first", lambda night: {}), **words)
    own = {catalogue.SYSTEMS[0]: (first,)}
    monkeypatch.setattr(catalogue, "nightly_steps", lambda name: own.get(name, ()) + listed(name))


CIRCLE: dict = {}
CIRCLE["itself"] = CIRCLE
FAULTY_STEPS = {
    "enabled": ({"enabled": raising(ValueError("unclear"))}, ["unclear"]),
    "failed": (
        {"run": raising(ValueError("broken")), "failed": raising(KeyError("line"))},
        ["broken", "KeyError: 'line'"],
    ),
    "failed without entries": (
        {"run": raising(ValueError("broken")), "failed": lambda line: None},
        ["broken", "TypeError: NoneType in place of entries of result.json"],
    ),
    "nothing": (
        {"run": lambda night: None},
        ["TypeError: NoneType in place of entries of result.json"],
    ),
    "a list": (
        {"run": lambda night: [("a", 1)]},
        ["TypeError: list in place of entries of result.json"],
    ),
    "an object": (
        {"run": lambda night: {"a": object()}},
        ["TypeError: Object of type object is not JSON serializable"],
    ),
    "a key": (
        {"run": lambda night: {("a", "b"): 1}},
        ["TypeError: keys must be str, int, float, bool or None, not tuple"],
    ),
    "no number": (
        {"run": lambda night: {"a": float("nan")}},
        ["Out of range float values are not JSON compliant"],
    ),
    "a circle": ({"run": lambda night: CIRCLE}, ["Circular reference detected"]),
}


@pytest.mark.parametrize("fault", FAULTY_STEPS)
def test_a_night_outlasts_a_step_that_is_faulty_itself(
    tmp_path, steps, begin_late, monkeypatch, fault
):
    begin_late(5)
    words, lines = FAULTY_STEPS[fault]
    with_first_step(monkeypatch, **words)
    result = failed_night(tmp_path)
    assert [line.partition(": nan")[0] for line in result["failures"]] == [
        f"first: {line}" for line in lines
    ]
    assert [step[0] for step in steps] == WHOLE
    assert result["state"] == "recorded"


def test_entries_are_returned_as_the_file_holds_them(tmp_path, steps, begin_late, monkeypatch):
    begin_late(5)
    with_first_step(monkeypatch, run=lambda night: {"a": (1, 2), 3: {"b": None}})
    result = nightly.nightly.fn(session="tonight", out=str(tmp_path))
    assert (result["a"], result["3"]) == ([1, 2], {"b": None})
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_a_night_outlasts_a_system_that_cannot_be_imported(
    tmp_path, steps, begin_late, monkeypatch
):
    begin_late(5)
    place = "ricochet.tasks.systems.another"
    monkeypatch.setattr(catalogue, "SYSTEMS", ("another", *catalogue.SYSTEMS))
    monkeypatch.setitem(sys.modules, f"{place}.settings", SimpleNamespace(SECTIONS={}))
    result = failed_night(tmp_path)
    missing = f"ModuleNotFoundError: No module named '{place}'"
    assert result["failures"] == [f"steps of another: {missing}"]
    assert [step[0] for step in steps] == WHOLE
