"""A web page, or another user of the machine, cannot have the worker run a command.

Shown to work against a server of Prefect as its own command starts it, and to fail against ours.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from ricochet.flows.servers import kill_guard, known_servers, serving
from tests.flows.harness import groups_of, members, started, wait_for
from tests.flows.servers import attacker
from tests.flows.servers.strangers import attacking, stranger

PAGE = {"Origin": "http://page.example", "Host": "rebound.example:4200"}


@pytest.mark.proof
@pytest.mark.slow
def test_whoever_reaches_an_open_server_of_prefect_runs_commands(prefect_api, place, tmp_path):
    """The attack works where nothing stands against it, so that its failure below means much."""
    environment = {**os.environ, "PREFECT_API_URL": prefect_api, "PREFECT_HOME": str(place)}
    prefect = [sys.executable, "-m", "prefect"]
    create = [*prefect, "work-pool", "create", "compute", "--type", "process", "--overwrite"]
    subprocess.run(create, env=environment, check=True, capture_output=True, cwd=tmp_path)
    assert stranger("command", prefect_api, f"touch {place}/taken") == [201, 201, 201]
    status, _, headers = attacker.ask(f"{prefect_api}/work_pools/compute", headers=PAGE)
    assert (status, headers["access-control-allow-origin"]) == (200, "*")
    with (tmp_path / "log").open("w") as log:
        start = [*prefect, "worker", "start", "--pool", "compute"]
        worker = subprocess.Popen(start, env=environment, stdout=log, stderr=log, cwd=tmp_path)
    try:
        wait_for((place / "taken").exists, seconds=240)
    finally:
        worker.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):  # one that waits for a run to end
            worker.wait(60)
        worker.kill()
        worker.wait()


@pytest.mark.slow
def test_up_runs_flows_for_nobody_without_the_password_and_leaves_nothing_behind(place):
    """One test, since the servers take half a minute to start.

    With a SQLAlchemy past its pin flows still run, and only schedules never fire.
    """
    state = place / "state"
    with started(place, migrated=False) as running:
        answers(place, running)
        refuses_a_page(place, f"{running.prefect}/api")
        names_no_place(place, running.mlflow)
        groups = groups_of(running.process.pid)
        assert len(groups) in (4, 5)  # and a search for dead runs, at times
        wait_for((place / "ticks").exists, seconds=300)  # flows ran, and what they keep is there
        keeps_the_password(place)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
        assert not any(members(group) for group in groups)
    assert known_servers.find_running(state) is None
    paths = [path for path in state.rglob("*") if not path.is_symlink()]
    assert len(paths) > 10 and not [path for path in paths if path.stat().st_mode & 0o077]
    assert not (place / "taken").exists()


def answers(place, running):
    """Both servers do, and are known to verbs and by what `up` has written."""
    addresses = {"mlflow": running.mlflow, "prefect": running.prefect}
    for path in (f"{running.mlflow}/health", f"{running.prefect}/api/health"):
        assert attacker.ask(path)[0] == 200
    found = known_servers.find_running(place / "state")
    assert {name: found[name] for name in addresses} == addresses
    said = json.loads((place / "out" / "result.json").read_text())
    assert said == {"schema": "ricochet.up/1", **addresses}


def refuses_a_page(place, api):
    """Another user and a page start no flow; whoever has the password is answered."""
    command = f"touch {place}/taken"
    assert stranger("command", api, command) == [401, 401, 401]
    assert attacker.command(api, command, headers=PAGE) == [401, 401, 401]
    for path in ("/admin/settings", "/csrf-token?client=a", "/openapi.json", "/docs"):
        assert attacker.ask(f"{api}{path}")[0] == 401
    preflight = {**PAGE, "Access-Control-Request-Method": "POST"}
    preflight |= {"Access-Control-Request-Headers": "authorization"}
    status, _, headers = attacker.ask(f"{api}/flows/", method="OPTIONS", headers=preflight)
    assert status == 400 and "access-control-allow-origin" not in headers
    for login, status in ((_base64(_secret(place)), 200), ("x", 401)):
        headers = {"Authorization": f"Basic {login}"}
        assert attacker.ask(f"{api}/work_pools/compute", headers=headers)[0] == status


def names_no_place(place, mlflow):
    """No experiment lies where a stranger likes, and a log is printable."""
    own = tempfile.mkdtemp(dir="/tmp")
    Path(own).chmod(0o777)
    target = str(place / "state" / "secrets" / "prefect")
    assert stranger("place", mlflow, own, target) == [403, 0]
    shutil.rmtree(own)
    assert attacker.ask(mlflow, headers={"Host": "\x1b]0;mine\x07x:5000"})[0] == 403
    log = (place / "state" / "servers" / "mlflow.log").read_text()
    assert "\\x1b]0;mine" in log and "\x1b" not in log


def keeps_the_password(place):
    """Neither another user nor a file but its own has it."""
    token = _secret(place).partition(":")[2]
    seen = stranger("spy", "", str(place), given=token)
    assert seen == [] or os.geteuid() != 0
    left = [path for path in place.rglob("*") if path.is_file() and path.name != "prefect"]
    assert not [path for path in left if token.encode() in path.read_bytes()]


def _secret(place):
    return (place / "state" / "secrets" / "prefect").read_text().strip()


def _base64(text):
    return base64.b64encode(text.encode()).decode()


PREFECTS_OWN = """
from prefect.server.api.server import SubprocessASGIServer
server = SubprocessASGIServer()
server.port = server.find_available_port()
print(server.port, server._run_uvicorn_command().wait())
"""
VERB = """
from ricochet.flows.servers import up
up.prepare_environment()
from prefect.client.orchestration import get_client
with get_client(sync_client=True) as client:
    assert client.read_flows() == []
    print(client.api_url, flush=True)
    input()
"""


def watched(program, folder):
    """Run a program while a stranger takes the ports that its children name; yield both."""
    settled = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    settled |= {"RICOCHET_ARTIFACTS": str(folder), "PREFECT_HOME": str(folder)}
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", program]
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=settled)


@pytest.mark.proof
def test_whoever_watches_takes_the_port_of_a_server_that_prefect_starts(tmp_path):
    with (
        watched(PREFECTS_OWN, tmp_path) as program,
        attacking("watch", str(program.pid)) as thief,
    ):
        port, status = program.communicate(timeout=300)[0].split()
        _, taken = json.loads(thief.communicate()[0])
    assert port in taken and status != "0"


@pytest.mark.proof
def test_the_temporary_server_of_a_verb_answers_that_verb_alone_and_its_port_is_never_free(
    tmp_path,
):
    with watched(VERB, tmp_path) as verb, attacking("watch", str(verb.pid)) as thief:
        api = verb.stdout.readline().strip().rstrip("/")
        try:
            assert api.startswith("http://127.0.0.1:")
            port = api.split(":")[2].removesuffix("/api")
            second = ["::1"]  # where nobody asks, for the verb names the first
            assert stranger("take", port) in ([], second)
            assert stranger("command", api, "true") == [401, 401, 401]
            assert attacker.ask(f"{api}/health")[0] == 200
            family = psutil.Process(verb.pid).children()
            (server,) = (each for each in family if serving.__name__ in each.cmdline())
            server.kill()
            psutil.wait_procs([server], 60)
            assert stranger("take", port) in ([], second)
            with pytest.raises(OSError):
                attacker.ask(f"{api}/health")
        finally:
            verb.communicate("\n", timeout=120)
        named, taken = json.loads(thief.communicate()[0])
    assert verb.returncode == 0
    assert port not in named and port not in taken
    assert "127.0.0.1" in stranger("take", port)


@pytest.mark.proof
def test_a_verb_that_makes_no_flow_run_starts_no_server_and_one_that_is_killed_leaves_none(
    tmp_path,
):
    idle = VERB.partition("from prefect")[0] + "print(1, flush=True)\ninput()\n"
    with watched(idle, tmp_path) as verb:
        assert verb.stdout.readline() == "1\n"
        family = psutil.Process(verb.pid).children(recursive=True)
        assert [kill_guard.__name__ in each.cmdline() for each in family] == [True]
        verb.communicate("\n", timeout=60)
    with watched(VERB, tmp_path) as verb:
        verb.stdout.readline()
        family = psutil.Process(verb.pid).children(recursive=True)
        assert any(serving.__name__ in each.cmdline() for each in family)
        verb.kill()
    assert psutil.wait_procs(family, 60)[1] == []


OUTLIVES = """
import sys
from ricochet.flows.servers import up
up.prepare_environment()
from prefect.client.orchestration import get_client
with get_client(sync_client=True) as client:
    client.read_flows()
    print(client.api_url, flush=True)
    input()
    try:
        client.read_flows()
    except OSError as error:
        print("refused", flush=True)
    except Exception as error:
        print(type(error.__cause__ or error).__name__, flush=True)
input()
"""


@pytest.mark.proof
def test_the_ports_of_servers_that_ended_stay_taken_while_a_verb_that_uses_them_lives(place):
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(started(place))
        verb = stack.enter_context(watched(OUTLIVES, place / "state"))
        ports = [each.rpartition(":")[2] for each in (running.mlflow, running.prefect)]
        assert verb.stdout.readline().strip().rstrip("/") == f"{running.prefect}/api"
        running.process.terminate()
        assert running.process.wait(60) == 0
        assert [stranger("take", port) for port in ports] == [[], []]
        verb.stdin.write("\n")
        verb.stdin.flush()
        assert verb.stdout.readline() in ("refused\n", "ConnectError\n")
        assert [stranger("take", port) for port in ports] == [[], []]
        verb.communicate("\n", timeout=60)
        assert all(stranger("take", port) for port in ports)
