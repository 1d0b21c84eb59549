"""What needs space is refused where too little of it is free, before anything is made."""

import shutil

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import free_space


def test_the_place_with_too_little_space_is_named_even_if_it_is_not_there_yet(
    tmp_path, monkeypatch
):
    usage = shutil.disk_usage(tmp_path)
    free = {tmp_path / "full": 10**9, tmp_path: 5 * 10**9}
    (tmp_path / "full").mkdir()
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=free[place]))
    free_space.refuse_below(2e9, "key", tmp_path / "new" / "folder")
    with pytest.raises(BadInput) as error:
        free_space.refuse_below(2e9, "key", tmp_path, tmp_path / "full" / "new")
    found = f"{tmp_path / 'full' / 'new'}: found 1.00 GB free, expected at least 2.00 GB (key)"
    assert str(error.value) == found
    assert not (tmp_path / "new").exists()
    free_space.refuse_below(0.0, "key", tmp_path / "full")
