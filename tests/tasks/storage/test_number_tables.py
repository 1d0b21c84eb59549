"""Files of commas: numbers as they are written, and one line of what is wrong."""

from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import number_tables


def written(folder: Path, content: str | bytes) -> Path:
    file = folder / "table.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_names_and_numbers_are_read_with_and_without_a_mark_of_bytes(tmp_path: Path) -> None:
    plain, marked = "time, place\n0,1.5\n\n0.1,-2e3\n", "\ufefftime, place\n0,1.5\n0.1,-2e3\n"
    for content in (plain, marked):
        rows = number_tables.read(written(tmp_path, content), "time,place")
        assert rows.names == ("time", "place") and rows.first == 2
        np.testing.assert_array_equal(number_tables.numbers(rows, 2), [[0.0, 1.5], [0.1, -2000.0]])


def test_a_first_row_of_numbers_names_nothing(tmp_path: Path) -> None:
    rows = number_tables.read(written(tmp_path, "1,2\n3,4\n"), "two columns")
    assert rows.names == () and rows.first == 1 and rows.shown == "2 columns without names"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "found nothing, expected a,b"),
        (b"\xff\xfe\x00", "found no text, expected text with a,b"),
        ("a,b\n1,2\n3\n", "row 3: found 1 cells, expected 2"),
        ("a,b\n1,2\n3,x\n", "row 3: found 'x', expected a finite number"),
        ("a,b\n1,nan\n", "row 2: found 'nan', expected a finite number"),
    ],
)
def test_what_is_wrong_is_said_by_its_row(tmp_path: Path, content: str | bytes, words: str) -> None:
    with pytest.raises(BadInput, match=r"table\.csv") as refused:
        number_tables.numbers(number_tables.read(written(tmp_path, content), "a,b"), 2)
    assert words in str(refused.value)


def test_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, "a\n1\n2\n3\n")
    monkeypatch.setattr(number_tables, "MOST", 2)
    with pytest.raises(BadInput, match="found more than 2 rows, expected at most 2"):
        number_tables.read(file, "a")
    monkeypatch.setattr(number_tables, "LARGEST", 5)
    with pytest.raises(BadInput, match="8 bytes"):
        number_tables.read(file, "a")
    with pytest.raises(BadInput, match="a folder"):
        number_tables.read(tmp_path, "a")
