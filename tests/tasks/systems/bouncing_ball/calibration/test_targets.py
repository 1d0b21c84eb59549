"""Sessions of one target have names that no other has."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.bouncing_ball.calibration import targets
from tests.tasks.recordings import small_sessions


def write(folder, seed, **changes):
    plan = small_sessions.plan(folder, **changes)
    small_sessions.write_session(plan, [small_sessions.noise(seed)])
    return str(folder)


def test_balls_and_surfaces_whose_names_join_to_one_are_refused(tmp_path):
    """They were calibrated together, and would have had one name in the registry."""
    first = write(tmp_path / "a", 1, ball="tennis", surface="table-wood")
    second = write(tmp_path / "b", 2, ball="tennis-table", surface="wood")
    expected = r"b: found tennis-table on wood, where \S*a has tennis on table-wood, expected"
    with pytest.raises(BadInput, match=expected):
        targets.targets([first, second], tmp_path / "out")


def test_two_sessions_of_one_id_are_refused(tmp_path):
    """Their heights of release were taken for those of one, in an odd error after a minute."""
    first = write(tmp_path / "a", 1)
    second = write(tmp_path / "b", 2, identity="a")
    with pytest.raises(BadInput, match=r"b: found the id a, which is that of \S*a too"):
        targets.targets([first, second], tmp_path / "out")
    other = write(tmp_path / "c", 3, identity="a", surface="steel")
    assert len(targets.targets([first, other], tmp_path / "out")) == 2
