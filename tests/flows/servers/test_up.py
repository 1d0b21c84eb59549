"""`ricochet up`: what it refuses, whose ports are held, and what a killed one leaves."""

import contextlib
import grp
import json
import os
import pwd
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from ricochet.flows import cli
from ricochet.flows.command_line import worker_verb
from ricochet.flows.servers import known_servers, pool_worker, up
from ricochet.flows.servers.lab import Lab
from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import contents
from ricochet.tasks.storage import exchange, process_ids, secret_files
from tests.flows.harness import groups_of, guard_of, members, started, wait_for


def test_a_port_in_use_is_bad_input_and_starts_nothing(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        lab = Lab(mlflow_port=taken.getsockname()[1], prefect_port=0, state=tmp_path)
        request = up.Request(lab)
        with pytest.raises(BadInput, match="address already in use"), up.servers(request):
            pytest.fail("started")
        assert not (tmp_path / up.LOGS).exists()


def test_nothing_is_started_while_a_backup_is_put_back(tmp_path):
    state = tmp_path / "state"
    request = up.Request(Lab(mlflow_port=0, prefect_port=0, state=state))
    with locks.hold(exchange.lock_of(state)):
        with pytest.raises(BadInput, match="being put back"), up.servers(request):
            pytest.fail("started")
        assert not (state / up.LOGS).exists()


def test_nothing_is_started_on_what_a_restore_left_that_was_killed_as_it_ended(tmp_path):
    """A registry without its databases would begin anew, without a word."""
    (tmp_path / contents.UNFINISHED).touch()
    request = up.Request(Lab(mlflow_port=0, prefect_port=0, state=tmp_path))
    with pytest.raises(BadInput, match="killed as it ended"), up.servers(request):
        pytest.fail("started")


def test_nothing_is_made_in_place_of_what_a_restore_that_was_killed_had_moved_aside(tmp_path):
    """An empty lab was started there, without a word."""
    state = tmp_path / "state"
    exchange.staged(state).mkdir()
    noted = {"moves": [[str(state), str(tmp_path / "before"), 0]]}
    (exchange.staged(state) / exchange.NOTED).write_text(json.dumps(noted))
    request = up.Request(Lab(mlflow_port=0, prefect_port=0, state=state))
    with pytest.raises(BadInput, match="killed before its end"), up.servers(request):
        pytest.fail("started")
    assert not state.exists()


def test_what_up_and_its_children_make_is_for_its_user_alone(tmp_path, monkeypatch):
    """Databases hold names and digests of passwords; they were readable by everybody."""

    def fail(request):
        subprocess.run(["touch", str(tmp_path / "made")], check=True)
        raise BadInput("a", "b", "c")

    monkeypatch.setattr(up, "servers", fail)
    before = os.umask(0o022)
    try:
        with pytest.raises(BadInput):
            up.up(up.Request(Lab(state=tmp_path)), report_line=print)
    finally:
        assert os.umask(before) == 0o022
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600


def test_the_state_is_made_and_taken_for_its_user_alone(tmp_path):
    (tmp_path / "there").mkdir(mode=0o755)
    for name in ("there", "new"):
        assert secret_files.taken_folder(tmp_path / name) == (tmp_path / name).resolve()
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700
    if os.geteuid() == 0:
        os.chown(tmp_path / "there", 65534, 65534)
        with pytest.raises(BadInput, match="found one of user 65534, expected one of yours"):
            secret_files.taken_folder(tmp_path / "there")


def test_a_state_that_others_could_move_away_or_that_is_everybody_s_is_refused(tmp_path):
    (tmp_path / "open" / "sub").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(BadInput, match="a folder where all may rename"):
        secret_files.taken_folder(tmp_path / "open" / "sub" / "state")
    (tmp_path / "open").chmod(0o1777)
    secret_files.taken_folder(tmp_path / "open" / "sub" / "state")
    for path in (tmp_path / "open", Path("/")):
        mode = path.stat().st_mode
        with pytest.raises(BadInput, match="a folder of all users"):
            secret_files.taken_folder(path)
        assert path.stat().st_mode == mode
    if os.geteuid() == 0:
        os.chown(tmp_path / "open", 65534, 65534)
        with pytest.raises(BadInput, match=r"one of user 65534.*a way through your own"):
            secret_files.taken_folder(tmp_path / "open" / "sub" / "state")


def test_folders_of_the_machine_are_refused_by_any_name(tmp_path, monkeypatch):
    """`/etc` was made root's alone, as `/bin` could be, which leads to `/usr/bin`."""
    usr, etc, link = tmp_path / "usr", tmp_path / "etc", tmp_path / "bin"
    (usr / "bin").mkdir(parents=True)
    etc.mkdir()
    link.symlink_to(usr / "bin")
    monkeypatch.setattr(secret_files, "SYSTEM", (etc,))
    monkeypatch.setattr(secret_files, "WITHIN", (usr,))
    for path in (etc, link):
        mode = path.stat().st_mode
        with pytest.raises(BadInput, match="a folder of all users"):
            secret_files.taken_folder(path)
        assert path.stat().st_mode == mode
    secret_files.taken_folder(etc / "lab")


def test_a_way_that_others_of_a_group_may_change_is_refused(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o775)
    group, user = shared.stat().st_gid, pwd.getpwuid(os.geteuid())
    other = pwd.struct_passwd(("other", "x", user.pw_uid + 1, group, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwall", lambda: [user])
    members = []
    monkeypatch.setattr(grp, "getgrgid", lambda each: grp.struct_group(("g", "x", each, members)))
    secret_files.refuse_shared_way(shared / "state")  # one's own group
    with pytest.raises(BadInput, match=f"where group {group} may rename"):
        members.append("of-a-directory")
        secret_files.refuse_shared_way(shared / "state")
    members.clear()
    monkeypatch.setattr(pwd, "getpwall", lambda: [user, other])
    with pytest.raises(BadInput, match=f"where group {group} may rename"):
        secret_files.refuse_shared_way(shared / "state")
    shared.chmod(0o1775)
    secret_files.refuse_shared_way(shared / "state")
    shared.chmod(0o755)
    secret_files.refuse_shared_way(shared / "state")


@pytest.mark.parametrize("what", ["outputs", "the current folder of a wheel"])
def test_no_verb_that_needs_servers_runs_where_others_may_write(tmp_path, monkeypatch, what):
    """Prefect's profile, programs that Python finds, and deployments would be theirs."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "own"))
    if what == "outputs":
        monkeypatch.setenv("RICOCHET_ARTIFACTS", str(shared))
    else:
        monkeypatch.setattr(up, "workplace", lambda: shared)
    with pytest.raises(BadInput, match="where all may rename"):
        up.prepare_environment()
    with (
        pytest.raises(BadInput, match="where all may rename"),
        up.servers(up.Request(Lab(state=tmp_path / "state", mlflow_port=0, prefect_port=0))),
    ):
        pytest.fail("started")
    assert cli.main(["worker", "rig"]) == 2


@pytest.mark.parametrize("what", ["state", "secrets", "artifact_store"])
def test_nothing_starts_where_others_could_move_what_a_lab_obeys(tmp_path, what):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    places = {"state": tmp_path / "state", what: shared / what}
    if what == "artifact_store":
        places[what] = str(places[what])
    lab = Lab(**places, mlflow_port=0, prefect_port=0)
    with (
        pytest.raises(BadInput, match="a folder where all may rename"),
        up.servers(up.Request(lab)),
    ):
        pytest.fail("started")
    assert not (tmp_path / "state" / up.LOGS).exists()


def write_ledger(folder, process, **addresses):
    facts = {"process": process, **addresses}
    (folder / "servers.json").write_text(json.dumps(facts))


def test_servers_of_a_process_that_is_gone_or_only_has_its_number_are_not_found(tmp_path):
    host, number, started, *_ = process_ids.name_of(os.getpid()).split()
    for process, found in [
        (f"{host} {number} {started}", True),
        (f"{host} {number} {int(started) - 1}", False),
        (f"{host} {2**22 + 1} {started}", False),
        (f"elsewhere {number} {started}", False),
    ]:
        write_ledger(tmp_path, process, mlflow="http://a", prefect="http://b")
        assert (known_servers.find_running(tmp_path) is not None) == found
    (tmp_path / "servers.json").write_text("{half")
    assert known_servers.find_running(tmp_path) is None


def test_servers_that_do_not_answer_yet_are_not_found(tmp_path):
    write_ledger(tmp_path, process_ids.name_of(os.getpid()))
    assert known_servers.find_running(tmp_path) is None


@pytest.fixture
def starting(tmp_path, monkeypatch):
    """Outputs of an `up` that starts; nothing that a verb sets in the environment stays."""
    monkeypatch.setattr(os, "environ", os.environ.copy())
    os.environ |= {"RICOCHET_ARTIFACTS": str(tmp_path), "PREFECT_HOME": str(tmp_path / "prefect")}
    os.environ.pop("PREFECT_API_URL", None)
    monkeypatch.setattr(up.kill_guard, "guard_children", lambda: None)
    write_ledger(tmp_path, process_ids.name_of(os.getpid()))
    return tmp_path


@pytest.mark.parametrize("verb", ["list", "show golf-concrete", "doctor", "rollback golf-concrete"])
def test_no_verb_takes_another_registry_for_that_of_servers_that_start(starting, capsys, verb):
    """That of a lab on PostgreSQL was called empty."""
    assert cli.main([*verb.split(), "--out", str(starting / "out")]) == 2
    said = capsys.readouterr()
    assert "being started" in said.err.splitlines()[-1] and said.out == ""
    assert not (starting / "mlflow").exists()


def wait_for_runs():
    worker_verb.worker(SimpleNamespace(arguments=SimpleNamespace(pool="compute")))


@pytest.mark.parametrize("ask", [up.prepare_environment, wait_for_runs], ids=["verb", "worker"])
def test_of_servers_that_end_between_two_looks_no_address_is_taken(starting, monkeypatch, ask):
    """No port was held, and the login was sent to whoever had it next."""
    found = {"mlflow": "http://127.0.0.1:1", "prefect": "http://127.0.0.1:2"}
    given = {"PREFECT_API_URL": f"{found['prefect']}/api"}
    write_ledger(starting, process_ids.name_of(os.getpid()), **found)
    monkeypatch.setattr(known_servers, "find_running", Mock(side_effect=[found, None]))
    monkeypatch.setattr(up.environments, "of_clients", lambda _: given)
    monkeypatch.setattr(pool_worker, "work", lambda *_: pytest.fail("it began"))
    os.environ["XDG_CACHE_HOME"] = str(starting / "cache")
    with pytest.raises(BadInput, match="do not hand over their ports"):
        ask()
    assert "PREFECT_API_URL" not in os.environ


def test_what_up_starts_is_given_the_addresses_and_not_refused(starting):
    os.environ["PREFECT_API_URL"] = "http://127.0.0.1:9/api"
    up.prepare_environment()
    assert os.environ["PREFECT_API_URL"] == "http://127.0.0.1:9/api"


@pytest.mark.parametrize(
    ("process", "addresses"),
    [("gone 1 2", {}), (None, {"mlflow": "http://a", "prefect": "http://b"})],
    ids=["killed", "up"],
)
def test_servers_that_answer_or_are_gone_do_not_start(tmp_path, process, addresses):
    write_ledger(tmp_path, process or process_ids.name_of(os.getpid()), **addresses)
    known_servers.refuse_starting(tmp_path)
    assert (known_servers.find_running(tmp_path) is None) == (process is not None)


def test_the_configuration_folder_holds_no_code():
    assert list((up.ROOT / "mlflow").rglob("*.py")) == []


@pytest.mark.parametrize(
    "addresses", [{"mlflow": "http://a", "prefect": "http://b"}, {}], ids=["up", "starting"]
)
def test_a_second_up_says_that_servers_are_up(tmp_path, capsys, addresses):
    write_ledger(tmp_path, process_ids.name_of(os.getpid()), **addresses)
    assert cli.main(["up", "--state", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert ("http://a" in said) == bool(addresses) == ("being started" not in said)


def test_while_servers_run_what_is_beside_them_is_done(tmp_path, monkeypatch):
    @contextlib.contextmanager
    def servers(_):
        yield {"mlflow": "", "prefect": ""}, [server], care

    server, care, said = Mock(), Mock(), []
    server.poll.side_effect = [None, None, 1]
    monkeypatch.setattr(up, "servers", servers)
    monkeypatch.setattr(up.kill_guard, "guard_children", lambda: None)
    monkeypatch.setattr(up.time, "sleep", lambda _: None)
    with pytest.raises(RuntimeError, match="a server ended by itself"):
        up.up(up.Request(Lab(state=tmp_path)), report_line=said.append)
    assert care.tick.call_count == 2 and "Ctrl-C ends all" in said[-1]


@pytest.mark.slow
def test_a_killed_up_leaves_nothing_and_what_its_guard_missed_the_next_up_ends(
    tmp_path, monkeypatch
):
    """Its children used to survive kill -9, and to hold their ports."""
    first, second, files = tmp_path / "first", tmp_path / "second", tmp_path / "files"
    first.mkdir(), second.mkdir(), files.mkdir()
    monkeypatch.setenv("TMPDIR", str(files))
    with started(first, state=tmp_path / "state") as running:
        before = groups_of(running.process.pid)
        guard_of(running.process.pid).kill()
        running.process.kill()
        running.process.wait()
    assert known_servers.find_running(tmp_path / "state") is None
    assert len(before) in (4, 5) and all(members(group) for group in before)
    with started(second, state=tmp_path / "state") as running:
        assert (second / "up.log").read_text().splitlines()[1].startswith(("ended 4 ", "ended 5 "))
        assert not any(members(group) for group in before)
        after = groups_of(running.process.pid)
        assert all(members(group) for group in after)
        running.process.kill()
        running.process.wait()
    wait_for(lambda: not any(members(group) for group in after), seconds=30)
    wait_for(lambda: len(list(files.iterdir())) == 1, seconds=30)  # a later verb removes that
