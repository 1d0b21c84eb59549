"""A mount point is known as such, one of a folder of the same disk too."""

from pathlib import Path

import pytest

from ricochet.tasks.storage import mounts

LINES = """\
21 28 0:20 / /proc rw,nosuid shared:13 - proc proc rw
60 28 8:1 /srv/lab /srv/my\\040lab rw,relatime shared:1 - ext4 /dev/sda1 rw
"""


def test_a_folder_of_the_same_disk_that_is_mounted_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`os.path.ismount` takes it for a plain folder."""
    monkeypatch.setattr(mounts, "LINUX", tmp_path / "mountinfo")
    assert not mounts.is_mounted(Path("/srv/my lab"))
    (tmp_path / "mountinfo").write_text(LINES)
    assert mounts.is_mounted(Path("/srv/my lab"))
    assert not any(map(mounts.is_mounted, (tmp_path, Path("/srv/lab"), Path("/srv/my lab/state"))))


def test_a_plain_folder_is_none(tmp_path: Path) -> None:
    assert mounts.is_mounted(Path("/")) and not mounts.is_mounted(tmp_path)
