"""Reading a package takes no more memory than is promised, and a hostile one is refused."""

from pathlib import Path

import pytest

from benchmarks.registry import reading

SOUND = ("grid, largest", "draws, largest", "grid, JSON as wide as may be")
HOSTILE = ("a table of 64 MiB", "draws of 64 MiB", "a header of many arrays", "wide JSON")
"""Of those that the benchmark prints: each is read by a process of its own."""


@pytest.mark.proof
def test_reading_takes_at_most_three_times_a_package_beside_it(tmp_path: Path) -> None:
    folders = reading.write_cases(tmp_path)
    for name in (*SOUND, *(f"grid, {each}" for each in HOSTILE)):
        reader = name.partition(",")[0]
        found = reading.read(reader, tmp_path / reader, folders[name])
        assert found.within, f"{name}: {found}"
        assert (found.answer == "read") is (name in SOUND), found
        assert "expected at most 67108864 bytes" not in found.answer, "refused by its size alone"
