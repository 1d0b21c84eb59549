"""A stranger in the place of Prefect's server says what became of a run: it is not believed.

Shown to work against a flow as Prefect makes one, and to fail against a flow with our options.
"""

import itertools
import uuid

import pytest

from tests.flows.servers.false_prefect import (
    BROKEN,
    GONE,
    WHOSE,
    abort,
    accept,
    answers,
    reject,
    run,
    state,
)

LIES = 3
"""Times that a stranger has a run repeated; Prefect's engine would go on for ever."""


@pytest.mark.slow
@pytest.mark.parametrize("ours", WHOSE)
def test_a_result_in_an_answer_is_returned_by_prefect_s_flows_and_not_by_ours(tmp_path, ours):
    ended = run(tmp_path, answers(reject(state("COMPLETED", data={"of": "a stranger"}))), ours)
    assert "body" not in ended.stdout, ended.stderr
    assert ("a stranger" in ended.stdout) != ours, ended.stderr
    assert not ours or "found COMPLETED for a run that is RUNNING" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("ours", WHOSE)
@pytest.mark.parametrize(
    ("body", "ends", "instead"),
    [
        ("raise ValueError", "FAILED", {"kind": "SCHEDULED", "state_details": {}}),
        ('return "own"', "COMPLETED", {"kind": "RUNNING"}),
    ],
)
def test_a_run_is_repeated_by_prefect_s_flows_and_not_by_ours(tmp_path, ours, body, ends, instead):
    lies = itertools.count()

    def set_state(asked):
        lies_now = asked["state"]["type"] == ends and next(lies) < LIES
        return reject(state(**instead)) if lies_now else accept(asked)

    ended = run(tmp_path, answers(set_state), ours, body)
    assert ended.stdout.count("body") == (1 if ours else 1 + LIES), ended.stderr
    assert not ours or f"for a run that is {ends}" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reject(state("CANCELLED")), id="cancelled"),
        pytest.param(reject(state("PAUSED")), id="paused", marks=pytest.mark.proof),
        pytest.param(abort("no\x1b[2Jway"), id="abort"),
        pytest.param(BROKEN, id="a database that is away", marks=pytest.mark.proof),
    ],
)
def test_an_end_that_is_refused_changes_no_result(tmp_path, answer):
    """What was registered was said to have failed; of a capture nothing was said at all."""
    known = answers(
        lambda asked: answer if asked["state"]["type"] == "COMPLETED" else accept(asked)
    )
    ended = run(tmp_path, known, ours=True)
    assert ended.stdout.split() == ["body", "own"] and ended.returncode == 0, ended.stderr
    assert "does not show that a run is COMPLETED" in ended.stderr and "\x1b[2J" not in ended.stderr


WHILE_RENEWED = """
    import threading, time
    while any("lease-renewal" in thread.name for thread in threading.enumerate()):
        time.sleep(0.1)
    time.sleep(0.1)
    return "own"
"""


@pytest.mark.slow
@pytest.mark.parametrize("ours", WHOSE)
def test_an_invented_lease_ends_prefect_s_flows_and_not_ours(tmp_path, ours):
    known, lease = answers(accept), {"deployment_concurrency_lease_id": str(uuid.uuid4())}
    run_with_lease = {**known[""], "state": state("PENDING", state_details=lease)}
    ended = run(tmp_path, {"/renew": GONE, **known, "": run_with_lease}, ours, WHILE_RENEWED)
    assert ended.stdout.split() == (["body", "own"] if ours else ["body"]), ended.stderr
    assert "lease renewal failed" in ended.stderr


@pytest.mark.slow
def test_a_run_that_is_accepted_returns_its_own_result(tmp_path):
    waits = itertools.count()

    def set_state(asked):
        waiting = asked["state"]["type"] == "RUNNING" and next(waits) < LIES
        return reject(state("PENDING")) if waiting else accept(asked)

    ended = run(tmp_path, answers(set_state), ours=True)
    assert ended.stdout.split() == ["body", "own"], ended.stderr
