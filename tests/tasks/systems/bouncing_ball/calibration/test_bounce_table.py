"""The table of bounces: a ball of known energy, gaps, and what is read back from the text."""

import csv
import io

import numpy as np
import pytest

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop, duration, impact
from ricochet.tasks.systems.bouncing_ball.calibration import bounce_table


def dropped(restitution: float, drag: float, *, bounces: int = 6, speed: float = 3.0) -> Drop:
    """A ball that met the table at 3 m/s, from the equations of its flights."""
    times, k = [0.1], np.array(drag)
    for _ in range(bounces - 1):
        away = np.array(restitution * speed)
        times.append(times[-1] + float(duration(away, k)))
        speed = float(impact(away, k))
    return Drop(np.array(times), np.full(bounces, 1e-4))


@pytest.mark.parametrize("drag", [0.0, 0.13])
def test_every_bounce_keeps_the_square_of_restitution(drag: float) -> None:
    rows = bounce_table.rows([dropped(0.8, drag)], drag)
    assert [row.energy_kept for row in rows[1:-1]] == pytest.approx([0.64] * 4, rel=1e-6)
    assert rows[0].speed_after_m_per_s == pytest.approx(2.4, rel=1e-6)
    assert rows[0].energy_kept is None and rows[0].speed_before_m_per_s is None
    assert rows[-1].energy_kept is None and rows[-1].height_after_m is None


def test_without_air_heights_follow_from_the_speeds() -> None:
    for row in bounce_table.rows([dropped(0.8, 0.0)], 0.0)[:-1]:
        expected = row.speed_after_m_per_s**2 / (2.0 * GRAVITY)
        assert row.height_after_m == pytest.approx(expected, rel=1e-5)


def test_beside_a_missed_bounce_nothing_is_stated() -> None:
    whole = dropped(0.8, 0.0)
    drop = Drop(np.delete(whole.times, 2), np.delete(whole.time_sd, 2), missing=(1,))
    rows = bounce_table.rows([drop], 0.0)
    assert rows[1].height_after_m is None and rows[2].speed_before_m_per_s is None
    assert rows[3].energy_kept == pytest.approx(0.64, rel=1e-6)


def test_the_text_has_units_a_row_a_bounce_and_empty_fields() -> None:
    drops = [dropped(0.8, 0.0), dropped(0.7, 0.0, bounces=4)]
    found = bounce_table.rows(drops, 0.0)
    read = list(csv.DictReader(io.StringIO(bounce_table.text(found))))
    assert len(read) == 10 and tuple(read[0]) == bounce_table.COLUMNS
    assert [row["drop"] for row in read] == ["1"] * 6 + ["2"] * 4
    assert read[0]["speed_before_m_per_s"] == "" and read[1]["energy_kept"] == "0.640000"
    assert [float(row["time_s"]) for row in read[:6]] == pytest.approx(drops[0].times.tolist())


@pytest.mark.parametrize(
    "content",
    ["a\n1,2,x,,,,\n", "a\n\n", "a\n1,2,3,4,5,6,7,8\n", "a\n" + "9" * 5000 + ",1,1,,,,\n"],
)
def test_what_is_no_table_is_a_value_error(content: str) -> None:
    with pytest.raises(ValueError):
        bounce_table.read(content)


def test_a_table_of_very_many_rows_is_refused_before_it_is_read(monkeypatch) -> None:
    """A million rows took a page 1.7 GB."""
    monkeypatch.setattr(bounce_table, "MOST", 10)
    assert len(bounce_table.read("a\n" + "1,1,1,,,,\n" * 9)) == 9
    with pytest.raises(ValueError, match="11 rows of 102 characters, expected at most 10"):
        bounce_table.read("a\n" + "1,1,1,,,,\n" * 10)


@pytest.mark.parametrize("row", ["1," * 100 + "1", "٣" * 1000, "1,1,1,,,," * 200])
def test_a_table_whose_rows_are_no_bounces_is_refused_before_it_is_taken_apart(row: str) -> None:
    """One row of millions of cells took a gigabyte."""
    with pytest.raises(ValueError, match=r"expected (7 columns|at most 100000)"):
        bounce_table.read(f"a\n{row}\n")
