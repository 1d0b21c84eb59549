"""One rig, one user; the kernel gives the lock back when its holder is killed."""

import signal
import subprocess
import sys

import pytest

from hardware import locks

HOLDER = (
    "import sys, time; from pathlib import Path; from hardware import locks\n"
    "with locks.hold(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
)


def test_a_second_holder_in_this_process_is_refused(tmp_path):
    path = locks.rig_lock("rig", tmp_path)
    with locks.hold(path), pytest.raises(locks.BusyError, match="in use"), locks.hold(path):
        pass
    with locks.hold(path):
        pass


def test_a_killed_holder_frees_the_lock(tmp_path):
    path = locks.rig_lock("rig", tmp_path)
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(locks.BusyError), locks.hold(path):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with locks.hold(path):
            pass
    finally:
        holder.kill()
        holder.wait()


def test_a_folder_can_be_locked(tmp_path):
    with locks.hold(tmp_path), pytest.raises(locks.BusyError), locks.hold(tmp_path):
        pass


def test_the_name_of_a_rig_stays_inside_the_folder(tmp_path):
    assert locks.rig_lock("../../etc/x y", tmp_path).parent == tmp_path
