"""Tables of impacts: rows that cannot be are rejected, tables that are wrong as a whole refused."""

from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import number_tables
from ricochet.tasks.systems.batting import impact_files
from ricochet.tasks.systems.batting.impact_files import COLUMNS
from tests.models.systems.batting.tables import table
from tests.tasks.systems.batting.impact_tables import Spoil, cells, rewritten, spoilt, written

THOUSAND: Spoil = lambda x: 1e3 * x  # noqa: E731
VELOCITIES = ("surface_vx", "surface_vy", "vx", "vy", "vx_after", "vy_after")


def refused(file: Path) -> str:
    with pytest.raises(BadInput) as error:
        impact_files.read(file)
    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{file}: found ") and ", expected " in line
    return line


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = impact_files.read(written(tmp_path))
    np.testing.assert_allclose(found.impacts.contacts, table(0, 120).contacts, rtol=1e-6, atol=1e-8)
    assert len(found) == 120 and found.rejected == () and found.misfit == ()
    assert found.rows.tolist() == list(range(2, 122))


def test_columns_may_stand_in_any_order_beside_others(tmp_path: Path) -> None:
    file = written(tmp_path)
    lines = [line.split(",") for line in file.read_text().splitlines()]
    order = np.random.default_rng(0).permutation(len(COLUMNS))
    named = [" Note", *(lines[0][k].upper() for k in order)]
    rows = [["fine, says he", *(line[k] for k in order)] for line in lines[1:]]
    quoted = [",".join([f'"{row[0]}"', *row[1:]]) for row in rows]
    other = tmp_path / "other.csv"
    other.write_text("\ufeff" + "\r\n".join([",".join(named), *quoted]))
    found, same = impact_files.read(other), impact_files.read(file)
    np.testing.assert_array_equal(found.impacts.contacts, same.impacts.contacts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"contact_x": THOUSAND, "contact_y": THOUSAND}, "m from centres of mass"),
        (dict.fromkeys(VELOCITIES, THOUSAND), "speeds of"),
        (
            dict.fromkeys((*VELOCITIES, "contact_x", "contact_y"), THOUSAND)
            | {"inertia": lambda x: 1e6 * x},
            "radii of gyration of",
        ),
        ({"mass": THOUSAND}, "m from centres of mass"),
        ({"inertia": THOUSAND}, "m from centres of mass"),
        ({"spin": THOUSAND, "spin_after": THOUSAND}, "times the measured changes of spin"),
        ({"inertia": np.negative}, "the inertia is not positive"),
        ({"mass": lambda x: 0.0 * x}, "the mass is not positive: 0"),
        ({"normal_x": lambda x: 2.0 * x, "normal_y": lambda x: 2.0 * x}, "not of length 1: 2"),
        ({"normal_x": np.negative, "normal_y": np.negative}, "does not approach the surface"),
        ({"vx_after": lambda x: np.nan * x}, "vx_after is no finite number: 'nan'"),
    ],
)
def test_a_table_that_is_wrong_as_a_whole_is_refused(
    tmp_path: Path, changes: dict[str, Spoil], words: str
) -> None:
    assert words in refused(spoilt(tmp_path, changes))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "found nothing"),
        (",".join(COLUMNS), "0 rows below the names of columns"),
        (",".join(COLUMNS[:-2]) + "\n1", "no column vy_after, spin_after among"),
        ("1,2,3\n4,5,6", "no column mass"),
        (",".join((*COLUMNS, "mass")) + "\n1", "the column mass twice"),
        (",".join(COLUMNS) + "\n" + ",".join(["heavy"] * 14), "mass is no finite number: 'heavy'"),
        (",".join(COLUMNS) + "\n1,2", "2 cells: expected 14"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "impacts.csv"
    file.write_text(content)
    assert words in refused(file)


def test_what_is_no_text_no_file_too_short_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "impacts.csv"
    assert "No such file" in refused(file)
    assert "a folder" in refused(tmp_path)
    file.write_bytes(b"\xff\xfe\x00")
    assert "no text, expected text with the columns" in refused(file)
    assert "9 usable impacts in 9 rows" in refused(written(tmp_path, 9))
    monkeypatch.setattr(impact_files, "MOST", 50)
    assert "found 60 rows" in refused(written(tmp_path, 60))
    monkeypatch.setattr(number_tables, "LARGEST", 1000)
    assert "10631 bytes, expected at most 1000 bytes" in refused(file)


def test_rows_that_cannot_be_impacts_are_rejected_each_with_its_reason(tmp_path: Path) -> None:
    file = written(tmp_path)
    values, at = cells(file), COLUMNS.index
    values[0, at("inertia")] *= -1.0
    values[1, at("vy")] = np.nan
    values[2, at("normal_x")] += 0.5
    values[3, at("vx") : at("vx") + 3], values[3, -3:] = (
        values[3, -3:].copy(),
        values[3, at("vx") : at("vx") + 3].copy(),
    )
    values[4, at("spin_after")] += 40.0
    values[5, at("mass")] = 0.0
    values[6, at("contact_x")] *= 1e3
    found = impact_files.read(rewritten(file, values))
    reasons = {each.row: each.reason for each in found.rejected}
    assert sorted(reasons) == [2, 3, 4, 5, 6, 7, 8]
    expected = {2: "the inertia", 3: "vy is no", 4: "the normal", 5: "does not approach"}
    expected |= {6: "the change of spin", 7: "the mass"}
    assert all(words in reasons[row] for row, words in expected.items())
    assert len(found) == 120 and len(found.rows) == 113 and found.misfit == ()
    assert found.balance.residual_share < 1e-6


def test_a_balance_that_fails_for_all_rejects_none_for_it(tmp_path: Path) -> None:
    found = impact_files.read(spoilt(tmp_path, {"inertia": lambda x: 3.0 * x}))
    assert len(found.rows) == 120 and found.balance.residual_share > 0.5
    (line,) = found.misfit
    assert line.startswith("Newton's balance fails: 67% of the changes of spin")


def test_copies_of_a_row_count_once(tmp_path: Path) -> None:
    file = written(tmp_path, 30)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines, *lines[1:6]]) + "\n")
    table = impact_files.read(file)
    assert len(table.impacts) == 30
    assert [(each.row, each.reason) for each in table.rejected] == [
        (32 + n, f"the same as a row before: row {2 + n}") for n in range(5)
    ]


@pytest.mark.parametrize("digits", [".7g", ".9g"])
def test_copies_with_fewer_digits_count_once(tmp_path: Path, digits: str) -> None:
    file = written(tmp_path, 60)
    names, *lines = file.read_text().splitlines()
    exact = [line.split(",") for line in lines]
    rough = [",".join(format(float(cell), digits) for cell in line) for line in exact]
    file.write_text("\n".join([names, *lines, *rough]) + "\n")
    table = impact_files.read(file)
    assert len(table.impacts) == 60 and len(table.rejected) == 60


@pytest.mark.parametrize("columns", [("normal_x", "normal_y"), ("mass", "inertia")])
def test_copies_that_say_the_same_count_once(tmp_path: Path, columns: tuple[str, ...]) -> None:
    file = written(tmp_path, 60)
    values = cells(file)
    copies = values.copy()
    copies[:, [COLUMNS.index(name) for name in columns]] *= 1.0009
    assert len(impact_files.read(rewritten(file, np.concatenate([values, copies]))).impacts) == 60


def test_rows_that_differ_in_one_number_count_each_beside_some_that_are_far_off(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, 60)
    values = cells(file)
    values[:10] *= 1e9
    near = values[10:40].copy()
    near[:, COLUMNS.index("vx_after")] += 0.01
    found = impact_files.read(rewritten(file, np.concatenate([values, near])))
    assert not [each for each in found.rejected if "same" in each.reason]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_another_separator_is_named(tmp_path: Path, separator: str) -> None:
    file = written(tmp_path, 30)
    file.write_text(file.read_text().replace(",", separator))
    assert f"separated by {separator!r}, expected by commas" in refused(file)
