"""What follows a calibration: a command that can be run, with the settings that were stated."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ricochet.flows.command_line import recording_verbs
from ricochet.flows.command_line.verb import Call
from ricochet.tasks.storage.provenance import workplace

INSIDE = str(workplace() / "data" / "golf-1")


def call(*overrides: str, ball: str | None = None, page: bool = False) -> Call:
    given = SimpleNamespace(params=None, overrides=list(overrides), ball=ball, page=page)
    return cast(Call, Call(cast(Any, given), cast(Any, {}), Path(), 0, True, print))


def after(
    sessions: list[str], result: dict[str, Any], made: Call, candidate: str | None = None
) -> str:
    entry = {"result": {"registered": None} | result}
    candidates = {"golf-wood": candidate} if candidate else {}
    return recording_verbs._after(sessions, {"golf-wood": entry}, made, candidates)


REGISTERED = {"registered": {"name": "golf-wood", "version": "1"}}


@pytest.mark.parametrize(
    ("session", "result", "expected"),
    [
        (INSIDE, REGISTERED, "ricochet validate golf-wood"),
        ("o1/golf 1", REGISTERED, "mkdir -p data && cp -r 'o1/golf 1' data/ && ricochet validate"),
        ("o1/g", {}, "ricochet calibrate o1/g   (to register it)"),
        ("o1/g", {"withheld": "half"}, "ricochet calibrate o1/g --anyway   (if it is to be"),
        ("a.wav", {"unknown": ["c"]}, "ricochet calibrate a.wav --ball NAME"),
    ],
)
def test_what_follows_can_be_run(session: str, result: dict[str, Any], expected: str) -> None:
    assert after([session], result, call()).startswith(expected)


def test_what_is_not_the_candidate_is_not_validated() -> None:
    """An earlier result was found again, whose successor would have been tried."""
    assert after([INSIDE], REGISTERED, call(), "1") == "ricochet validate golf-wood"
    stated = call("calibrate.survey_sd=0.02")
    expected = "ricochet promote golf-wood 1 --set calibrate.survey_sd=0.02   ("
    assert after([INSIDE], REGISTERED, stated, "6").startswith(expected)
    assert after(["o1/a"], REGISTERED, call(), "6").startswith(
        "mkdir -p data && cp -r o1/a data/ &&"
    )


def test_settings_that_were_stated_are_kept() -> None:
    stated = call("calibrate.survey_sd=0.02")
    option = "--set calibrate.survey_sd=0.02"
    assert after([INSIDE], REGISTERED, stated) == f"ricochet validate golf-wood {option}"
    assert f"golf-1 {option}   (to register it)" in after([INSIDE], {}, stated)


def test_a_name_from_a_server_makes_no_line_of_its_own(capsys) -> None:
    call().report_next("ricochet show 'a\nnext: rm -r \x1b[2J'")
    assert capsys.readouterr().out == "next: ricochet show 'a next: rm -r \\x1b[2J'\n"
