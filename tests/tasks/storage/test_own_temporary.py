"""What libraries keep in temporary files is out of others' reach, and goes in the end."""

import fcntl
import getpass
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import own_temporary as module
from ricochet.tasks.storage.own_temporary import own_temporary
from tests.flows.harness import wait_for

TRAINS = """
import torch
weights = torch.nn.Linear(2, 1)
torch.optim.Adam(weights.parameters()).step()
"""
RUNNER = """
import asyncio
from prefect.runner import Runner
async def run():
    async with Runner(name="a"), Runner(name="b"):
        pass
asyncio.run(run())
"""
STARTS = """
from mlflow.server.assistant import session
session.reap_stale_sandbox_homes()
"""
APART = [pytest.param(False, marks=pytest.mark.proof), True]
"""Whether a program has a folder of its own: that it needs it is shown by hand."""
STORE = """
import sys
from mlflow.tracking import MlflowClient
MlflowClient(tracking_uri="sqlite:///" + sys.argv[1]).search_experiments()
"""


def hostile(folder: Path, target: Path) -> Path:
    """Make a folder as `/tmp` is, in which another user has taken the names that are known."""
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / f"torchinductor_{getpass.getuser()}").touch()
    (shared / "runner_storage").touch()
    (shared / "mlflow-assistant-sessions").mkdir()
    (shared / "mlflow-assistant-sessions" / "sandbox-home").symlink_to(target)
    return shared


def run(program: str, shared: Path, *words: str, apart: bool) -> int:
    """Run a program of a library whose temporary files lie in a folder; return its status."""
    whole = program
    if apart:
        inner = "\n".join(f"    {line}" for line in program.strip().splitlines())
        start = "from ricochet.tasks.storage.own_temporary import own_temporary\n"
        whole = f"{start}with own_temporary():\n{inner}\n"
    own = {**os.environ, "TMPDIR": str(shared)}
    own.pop("TORCHINDUCTOR_CACHE_DIR", None)
    command = [sys.executable, "-c", whole, *words]
    return subprocess.run(command, env=own, capture_output=True, check=False).returncode


@pytest.mark.slow
@pytest.mark.parametrize("apart", APART)
@pytest.mark.parametrize("program", [TRAINS, RUNNER], ids=["torch", "prefect"])
def test_names_that_another_user_took_stop_nothing(
    tmp_path: Path, prefect_api: str, monkeypatch: pytest.MonkeyPatch, program: str, apart: bool
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect_api)
    shared = hostile(tmp_path, tmp_path)
    before = sorted(shared.iterdir())
    assert (run(program, shared, apart=apart) == 0) == apart
    assert not apart or sorted(shared.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("apart", APART)
def test_a_server_removes_nothing_through_a_link_of_another_user(
    tmp_path: Path, apart: bool
) -> None:
    """MLflow's removes what is older than a day there, whatever the link leads to."""
    state = tmp_path / "state"
    (state / "artifacts").mkdir(parents=True)
    os.utime(state / "artifacts", (0, 0))
    assert run(STARTS, hostile(tmp_path, state), apart=apart) == 0
    assert (state / "artifacts").exists() == apart


@pytest.mark.slow
def test_a_store_waits_for_no_lock_of_another_user(tmp_path: Path) -> None:
    shared = hostile(tmp_path, tmp_path)
    before = sorted(shared.iterdir())
    assert run(STORE, shared, str(tmp_path / "mlflow.db"), apart=True) == 0
    assert sorted(shared.iterdir()) == before


def test_the_folder_is_this_users_alone_and_goes_with_the_block() -> None:
    before = os.environ["TMPDIR"], tempfile.gettempdir()
    with own_temporary() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        with tempfile.NamedTemporaryFile() as file:
            assert Path(file.name).parent == folder == Path(os.environ["TMPDIR"])
        (folder / "left").touch()
    assert not folder.exists() and (os.environ["TMPDIR"], tempfile.gettempdir()) == before


def test_one_that_others_could_move_away_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(BadInput, match="all may rename"), own_temporary():
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_killed_ones_left_goes_a_day_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of a process that lives stays, and so does a link, or a folder of another name."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed, living, other = 2**22 + 1, os.getpid(), 2**22 + 2
    names = [f"ricochet-{killed}-old_name", f"ricochet-{killed}-name_new"]
    names += [f"ricochet-{living}-old_name", "ricochet-tests-a", f"ricochet-{killed}-experiments"]
    for name in names:
        (tmp_path / name / "inner").mkdir(parents=True)
        os.utime(tmp_path / name, (0, 0) if not name.endswith("new") else None)
    (tmp_path / f"ricochet-{other}-the_link").symlink_to(tmp_path / names[2])
    with own_temporary():
        pass
    left = sorted(each.name for each in tmp_path.iterdir())
    assert left == sorted({*names[1:], f"ricochet-{other}-the_link"})
    assert (tmp_path / names[2] / "inner").exists()


def test_the_folder_of_a_killed_process_is_removed_by_its_guard_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ricochet-7-a", "ricochet-77-a", "else"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / name))
        module.remove_of(7)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["else", "ricochet-77-a"]


def test_no_program_that_cleans_up_takes_one_that_is_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another user would take its name, and those who still use it would load what lies there."""
    monkeypatch.setattr(module, "TICK", 0.05)
    with own_temporary() as folder:
        os.utime(folder, (0, 0))
        wait_for(lambda: time.time() - folder.stat().st_mtime < 60.0, seconds=30.0)
        handle = os.open(folder, os.O_RDONLY)
        with pytest.raises(BlockingIOError):  # as systemd-tmpfiles asks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(handle)
