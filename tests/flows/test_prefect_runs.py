"""Flow runs are named by what they do, and those whose process was killed are closed by doctor."""

import contextlib
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from string import Formatter
from types import SimpleNamespace
from unittest.mock import Mock

import httpx
import pytest

from tests.checkouts import ROOT, python_path

FLOWS = {
    "calibrate": "ricochet.flows.calibrate:calibrate",
    "capture": "ricochet.flows.capture:capture",
    "import": "ricochet.flows.import_recordings:import_recordings",
    "nightly": "ricochet.flows.nightly:nightly",
    "simulate": "ricochet.flows.simulate:simulate",
    "train": "ricochet.flows.train:train",
    "validate": "ricochet.flows.validate:validate",
}
BUSY = """
import os, sys, time
from prefect import flow, task
from ricochet.flows.prefect_options import FLOW, ONCE

@task(name="wait", task_run_name="wait for {name}", **ONCE)
def wait(name):
    print("waiting", flush=True)
    time.sleep(600)

@flow(name="busy", flow_run_name="busy {name}", **FLOW)
def busy(name):
    wait(name)

busy(sys.argv[1])
"""
SETTLE = """
import json
from prefect.client.orchestration import get_client
from ricochet.flows import prefect_runs
first, second = prefect_runs.settle(), prefect_runs.settle()
with get_client(sync_client=True) as client:
    flows = {run.name: run.state.type.value for run in client.read_flow_runs()}
print(json.dumps([[vars(each) for each in first], [vars(each) for each in second], flows]))
"""


BLOCKED = """
import json, os
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.states import Pending, Running
from ricochet.flows import open_runs, prefect_runs
from ricochet.tasks.storage import process_ids

@flow(name="blocked")
def blocked():
    pass

host, number, start, *_ = process_ids.name_of(os.getpid()).split()
options = {"collision_strategy": "CANCEL_NEW"}
with get_client(sync_client=True) as client:
    made = client.create_deployment(
        client.create_flow(blocked), "blocked", concurrency_limit=1, concurrency_options=options
    )
    def begin(name):
        run = client.create_flow_run_from_deployment(made, name=name)
        return run, client.set_flow_run_state(run.id, Pending()).state.type.value
    dead, first = begin("dead")
    client.set_flow_run_state(dead.id, Running())
    client.update_flow_run_labels(
        dead.id, {open_runs.LABEL: f"{host} {number} {int(start) - 1}"}
    )
    _, before = begin("while it is open")
    lines = [each.line for each in prefect_runs.settle() if "flow run dead:" in each.line]
    _, after = begin("when it is closed")
    print(json.dumps([first, before, after, len(lines)]))
"""
NEVER_BEGUN = """
import json, os, sys
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitUpdate
from prefect.states import Pending
from ricochet.flows import open_runs, prefect_runs
from ricochet.tasks.storage import process_ids

@flow(name="pending")
def pending():
    pass

host, number, start, *_ = process_ids.name_of(os.getpid()).split()
WORKERS = {
    "dead worker": f"{host} {number} {int(start) - 1}",
    "living worker": f"{host} {number} {start}",
    "other machine": f"elsewhere {number} {start}",
    "carried": f"{host} {number} {int(start) - 1}",
    "nobody": None,
}
def look(client):
    runs = {run.name: run.state.type.value for run in client.read_flow_runs()}
    slots = client.read_deployment(made).global_concurrency_limit.active_slots
    return [{name: runs[name] for name in WORKERS}, slots]

with get_client(sync_client=True) as client:
    flow_id = client.create_flow(pending)
    made = client.create_deployment(flow_id, "pending", concurrency_limit=10)
    for name, worker in WORKERS.items():
        run = client.create_flow_run_from_deployment(made, name=name, state=Pending())
        if worker:
            client.update_flow_run_labels(run.id, {open_runs.WORKER: worker})
        if name == "carried":
            os.environ[prefect_runs.CARRIED] = str(run.id)
            child = __import__("subprocess").Popen(["sleep", "600"])
    try:
        limit = client.read_deployment(made).global_concurrency_limit.name
        client.update_global_concurrency_limit(limit, GlobalConcurrencyLimitUpdate(active_slots=7))
        first = [each.line for each in prefect_runs.settle()]
        found = look(client)
        prefect_runs.PATIENCE = 0.0
        prefect_runs.settle()
        found += look(client)
    finally:
        child.kill()
        child.wait()
    print(json.dumps([[line for line in first if "pending" in line or "worker" in line], *found]))
"""
STRANGE = """
import json, os
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.states import Pending, Running
from ricochet.flows import open_runs, prefect_runs
from ricochet.tasks.storage import process_ids

@flow(name="strange")
def strange():
    pass

deep = {}
for _ in range(500):
    deep = {"a": deep}
host, number, start, *_ = process_ids.name_of(os.getpid()).split()
with get_client(sync_client=True) as client:
    flow_id = client.create_flow(strange)
    made = client.create_deployment(flow_id, "strange", concurrency_limit=3)
    limit = client.read_deployment(made).global_concurrency_limit
    change = {"name": "..", "active_slots": 2}
    client.request("PATCH", f"/v2/concurrency_limits/{limit.id}", json=change)
    dead = client.create_flow_run(strange, name="strange", state=Running())
    client.update_flow_run_labels(
        dead.id, {open_runs.LABEL: f"{host} {number} {int(start) - 1}"}
    )
    state = {"type": "RUNNING", "message": "", "state_details": {}}
    body = {"flow_id": str(flow_id), "name": "deep", "state": state, "parameters": {"a": deep}}
    try:
        client.request("POST", "/flow_runs/", json=body)
    except Exception as error:
        print(type(error).__name__)
    try:
        lines = [each.line for each in prefect_runs.settle()]
        taken = client.read_deployment(made).global_concurrency_limit.active_slots
        print(json.dumps([lines, taken, client.read_flow_run(dead.id).state.type.value]))
    finally:
        client.delete_flow(flow_id)  # or no list of this server can be read
"""

ENDED_MEANWHILE = """
import json, os
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.states import Completed, Pending, Running
from ricochet.flows import open_runs, prefect_runs
from ricochet.tasks.storage import process_ids

@flow(name="meanwhile")
def meanwhile():
    pass

host, number, start, *_ = process_ids.name_of(os.getpid()).split()
gone = f"{host} {number} {int(start) - 1}"
with get_client(sync_client=True) as client:
    made = client.create_deployment(client.create_flow(meanwhile), "meanwhile")
    ended = client.create_flow_run(meanwhile, name="ended", state=Running())
    begun = client.create_flow_run_from_deployment(made, name="begun", state=Pending())
    client.update_flow_run_labels(ended.id, {open_runs.LABEL: gone})
    client.update_flow_run_labels(begun.id, {open_runs.WORKER: gone})
    listed = [run for run in open_runs.read(client)[0] if run.name in ("ended", "begun")]
    client.set_flow_run_state(ended.id, Completed(), force=True)
    client.set_flow_run_state(begun.id, Running(), force=True)
    client.update_flow_run_labels(begun.id, {open_runs.LABEL: f"{host} {number} {start}"})
    found = [prefect_runs._settled_or_said(client, run) for run in listed]
    states = {run.name: client.read_flow_run(run.id).state.type.value for run in listed}
    client.set_flow_run_state(begun.id, Completed(), force=True)
    print(json.dumps([found, states]))
"""


def started(program, *words, api, home):
    settings = {"PREFECT_API_URL": api, "PREFECT_HOME": str(home), "PYTHONPATH": python_path()}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *words],
        cwd=ROOT,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_run_whose_process_was_killed_is_closed_and_a_living_one_is_left(prefect_api, tmp_path):
    with (
        started(BUSY, "dead", api=prefect_api, home=tmp_path) as dead,
        started(BUSY, "living", api=prefect_api, home=tmp_path) as living,
    ):
        try:
            assert dead.stdout.readline() == living.stdout.readline() == "waiting\n"
            dead.send_signal(signal.SIGKILL)
            dead.wait()
            with started(SETTLE, api=prefect_api, home=tmp_path) as settling:
                first, second, flows = json.loads(settling.communicate()[0].splitlines()[-1])
        finally:
            living.kill()
            dead.kill()
    line = "flow run busy dead: left RUNNING by a process that is gone, closed"
    mine = [each for each in first if "busy" in each["line"]]
    assert mine == [{"line": line, "mended": True}]
    assert not [each for each in second if "busy" in each["line"]]
    assert flows["busy dead"] == "CRASHED" and flows["busy living"] == "RUNNING"


@pytest.mark.slow
def test_a_dead_run_makes_prefect_cancel_the_next_until_it_is_closed(prefect_api, tmp_path):
    with started(BLOCKED, api=prefect_api, home=tmp_path) as asking:
        said = asking.communicate()[0].splitlines()[-1]
    assert json.loads(said) == ["PENDING", "CANCELLED", "PENDING", 1]


@pytest.mark.slow
def test_a_run_that_never_began_is_closed_where_nobody_can_have_it_and_slots_are_set_right(
    prefect_api, tmp_path
):
    """Of a worker that is dead at once; of one that lives, or of none, when it had time enough."""
    with started(NEVER_BEGUN, api=prefect_api, home=tmp_path) as asking:
        said = asking.communicate()[0].splitlines()[-1]
    lines, first, slots, later, slots_later = json.loads(said)
    assert lines == [
        "flow run dead worker: left PENDING without a process, closed",
        "deployment pending: 6 slots taken by 4 runs, set right",
    ]
    open_ones = {"living worker", "other machine", "carried", "nobody"}
    assert first == {"dead worker": "CRASHED"} | dict.fromkeys(open_ones, "PENDING")
    left = {"other machine", "carried"}
    crashed = dict.fromkeys({*first} - left, "CRASHED")
    assert later == crashed | dict.fromkeys(left, "PENDING")
    assert (slots, slots_later) == (4, 2)


@pytest.mark.slow
def test_a_run_that_ended_or_began_since_it_was_listed_stays_as_it_is(prefect_api, tmp_path):
    with started(ENDED_MEANWHILE, api=prefect_api, home=tmp_path) as asking:
        said = asking.communicate()[0].splitlines()[-1]
    assert json.loads(said) == [[[], []], {"ended": "COMPLETED", "begun": "RUNNING"}]


@pytest.mark.slow
def test_a_run_that_the_server_cannot_show_and_a_limit_of_any_name_stop_nothing(
    prefect_api, tmp_path
):
    """They ended the settling of all runs, and `doctor`."""
    with started(STRANGE, api=prefect_api, home=tmp_path) as asking:
        said = asking.communicate()[0].splitlines()[-1]
    lines, taken, state = json.loads(said)
    mine = [line for line in lines if "strange" in line or "cannot show" in line]
    assert mine == [
        "flow run strange: left RUNNING by a process that is gone, closed",
        "open flow runs: 1 of them the server cannot show",
        "deployment strange: 2 slots taken by 0 runs, set right",
    ]
    assert (taken, state) == (0, "CRASHED")


@pytest.mark.parametrize("name", FLOWS)
def test_every_flow_names_its_runs_and_notes_its_process(name):
    from prefect.flows import load_flow_from_entrypoint

    from ricochet.flows.prefect_runs import note_process

    module, _, function = FLOWS[name].partition(":")
    flow = load_flow_from_entrypoint(f"{module}.{function}")
    assert flow.name == name
    assert flow.flow_run_name is not None
    assert note_process in flow.on_running_hooks


def test_a_run_notes_its_process_where_its_port_is_not_handed_over(monkeypatch):
    """It went on without a note, and was never closed when it was killed."""
    from ricochet.flows import prefect_runs

    labels = []

    def refuse(*_addresses):
        raise TimeoutError

    client = SimpleNamespace(update_flow_run_labels=lambda run, given: labels.append((run, given)))
    monkeypatch.setattr(prefect_runs, "get_client", lambda **_: contextlib.nullcontext(client))
    monkeypatch.setattr(prefect_runs.known_servers, "hold_ports", refuse)
    with pytest.raises(TimeoutError):
        prefect_runs.note_process(None, SimpleNamespace(id="a run"), None)
    own = prefect_runs.process_ids.name_of(os.getpid())
    assert labels == [("a run", {prefect_runs.LABEL: own})]


def test_a_calibration_is_named_by_its_sessions(monkeypatch):
    from prefect.runtime import flow_run

    from ricochet.flows.prefect_runs import name_by_sessions

    monkeypatch.setattr(flow_run, "flow_name", "calibrate", raising=False)
    for sessions, expected in (
        (None, "calibrate all sessions"),
        (["data/golf-concrete/"], "calibrate golf-concrete"),
        ([f"data/{each}" for each in "abcde"], "calibrate a, b, c and 2 more"),
    ):
        monkeypatch.setattr(flow_run, "parameters", {"sessions": sessions}, raising=False)
        assert name_by_sessions() == expected


@pytest.mark.parametrize("error", [ValueError, RecursionError, httpx.InvalidURL])
def test_a_run_that_cannot_be_settled_is_said_and_ends_nothing(monkeypatch, error):
    """A task that cannot be read, or a pool whose name no address can hold."""

    from ricochet.flows import prefect_runs

    def fail(_client, _run):
        raise error("odd")

    monkeypatch.setattr(prefect_runs, "_settled", fail)
    (finding,) = prefect_runs._settled_or_said(None, SimpleNamespace(name="a run"))
    assert finding.line.startswith("flow run a run: cannot be closed") and not finding.mended


def test_a_worker_of_a_container_of_this_host_name_may_have_taken_a_run(monkeypatch):
    """It was taken for one of this machine's, which are known."""
    from ricochet.flows import prefect_runs

    name = prefect_runs.process_ids.name_of(os.getpid())
    place = name.split()[1].partition("@")[2]
    client, run = Mock(), SimpleNamespace(pool="compute")
    for where, elsewhere in ((place, False), ("boot,7,unknown", True)):
        worker = SimpleNamespace(status="ONLINE", name=name.replace(place, where))
        client.read_workers_for_work_pool.return_value = [worker]
        assert prefect_runs._workers_elsewhere(client, run) == elsewhere


def test_without_a_server_or_its_database_there_is_nothing_to_settle(monkeypatch, tmp_path):
    from ricochet.flows import prefect_runs
    from ricochet.flows.servers import temporary_server

    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    assert prefect_runs.settle() == []
    address = "http://127.0.0.1:1/api"  # a temporary server that none of this would need
    monkeypatch.setenv("PREFECT_API_URL", address)
    monkeypatch.setattr(temporary_server, "_offered", [address])
    assert prefect_runs.settle() == []


def all_tasks():
    import importlib

    from prefect import Task

    for entrypoint in FLOWS.values():
        module = importlib.import_module(entrypoint.partition(":")[0])
        found = [each for each in vars(module).values() if isinstance(each, Task)]
        yield from [*found, *vars(getattr(module, "TASKS", SimpleNamespace())).values()]


def test_every_task_names_its_runs_by_what_it_is_given():
    names = {}
    for each in all_tasks():
        given = set(inspect.signature(each.fn).parameters)
        names[each.name] = template = each.task_run_name
        fields = [field for _, field, _, _ in Formatter().parse(template or "") if field]
        assert {re.split(r"[.\[]", field)[0] for field in fields} <= given, each.name
    assert names.pop("take") is None  # named by its step where it is called
    assert len(names) >= 12 and all(names.values())
