"""One rig, one user: two processes, and the holder killed."""

import signal
import subprocess
import sys

import pytest

from ricochet.hardware import locks
from ricochet.tasks.registry import promotion, promotion_log
from ricochet.tasks.registry.verdicts import Check, Verdict
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests.tasks.recordings import small_sessions
from tests.tasks.recordings.test_recorder import record

HOLDER = (
    "import sys, time; from ricochet.hardware import locks\n"
    "with locks.hold(locks.RigLock(*sys.argv[1:])): print('held', flush=True); time.sleep(60)"
)


def held(rig):
    command = [sys.executable, "-c", HOLDER, rig.name, rig.scope]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_a_killed_holder_frees_the_lock(tmp_path):
    rig = locks.RigLock("rig", str(tmp_path))
    holder = held(rig)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(locks.BusyError), locks.hold(rig):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with locks.hold(rig):
            pass
    finally:
        holder.kill()
        holder.communicate()


def test_a_rig_that_another_process_holds_records_nothing_until_that_is_killed(tmp_path):
    rig = small_sessions.NoiseRig()
    rig.exclusive = True
    holder = held(locks.RigLock(rig.rig.name, str(tmp_path)))
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(locks.BusyError, match="in use by another process"):
            record(tmp_path / "a", rig, lock_scope=str(tmp_path))
        assert rig.takes == 0
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert not (tmp_path / "a").exists()
        record(tmp_path / "b", rig, lock_scope=str(tmp_path))
        assert rig.takes == 3
    finally:
        holder.kill()
        holder.communicate()


def test_two_promotions_at_once_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    passed = Verdict((Check("all", True, "well", "well"),))
    with promotion.lock(), pytest.raises(locks.BusyError):
        promotion.promote(
            None,
            Registered("b", "1"),
            kind=POSTERIOR,
            verdict=passed,
            against=None,
            validation="",
            reason="",
        )
    assert not promotion_log.place().exists()
