"""Reading a package takes no more memory than is promised, and a hostile one is refused."""

from pathlib import Path

import pytest

from benchmarks.registry import reading


@pytest.mark.proof
def test_reading_takes_at_most_three_times_a_package_beside_it(tmp_path: Path) -> None:
    folders = reading.write_cases(tmp_path)
    assert len(folders) == 16
    for name, folder in folders.items():
        reader = name.partition(",")[0]
        found = reading.read(reader, tmp_path / reader, folder)
        assert found.within, f"{name}: {found}"
        sound = name in ("grid", "draws", "grid, largest", "draws, largest")
        assert (found.answer == "read") is sound or name == "grid, JSON as wide as may be", found
