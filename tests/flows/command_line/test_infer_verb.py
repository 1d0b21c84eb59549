"""What `infer --register` says of the version that it registered."""

from pathlib import Path
from typing import Any, cast

import pytest

from ricochet.flows.command_line import infer_verb
from ricochet.flows.command_line.verb import Call
from ricochet.tasks.registry import versions


@pytest.mark.parametrize(
    ("candidate", "alias"), [("1", ", alias candidate"), ("2", " (candidate is version 2)")]
)
def test_an_earlier_version_that_was_found_again_is_not_said_to_be_the_candidate(
    monkeypatch: pytest.MonkeyPatch, candidate: str, alias: str
) -> None:
    monkeypatch.setattr(versions, "candidates", lambda names: dict.fromkeys(names, candidate))
    lines: list[str] = []
    call = Call(cast(Any, None), cast(Any, {}), Path(), 0, True, lines.append)
    infer_verb._report_registered(call, "pendulum-lab", "1")
    assert lines == [f"registered as pendulum-lab version 1{alias}"]
