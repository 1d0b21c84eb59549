"""One rig, one user; what a kill does is in tests/crash."""

import pytest

from ricochet.hardware import locks


def test_a_second_holder_in_this_process_is_refused(tmp_path):
    path = locks.rig_lock("rig", tmp_path)
    with locks.hold(path), pytest.raises(locks.BusyError, match="in use"), locks.hold(path):
        pass
    with locks.hold(path):
        pass


def test_a_folder_can_be_locked(tmp_path):
    with locks.hold(tmp_path), pytest.raises(locks.BusyError), locks.hold(tmp_path):
        pass


def test_the_name_of_a_rig_stays_inside_the_folder(tmp_path):
    assert locks.rig_lock("../../etc/x y", tmp_path).parent == tmp_path
