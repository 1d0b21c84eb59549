"""The program that captures impacts on the twin board writes what `infer impacts` reads."""

from pathlib import Path

import numpy as np
import pytest

from ricochet.tasks.systems.batting import capture_impacts, impact_files


@pytest.mark.proof
def test_it_writes_a_table_that_is_read_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture_impacts.main([str(tmp_path), "--impacts", "12", "--seed", "3"])
    file = tmp_path / "impacts.csv"
    assert capsys.readouterr().out.strip() == str(file)
    table = impact_files.read(file)
    assert (len(table), table.rejected, table.misfit) == (12, (), ())
    assert table.balance.residual_share < 0.1  # the camera's errors
    capture_impacts.main([str(tmp_path), "--impacts", "12", "--seed", "3", "--noise", "0"])
    exact = impact_files.read(file)  # of the same impacts: the seed is the same
    assert exact.balance.residual_share < 0.01
    np.testing.assert_allclose(exact.impacts.before, table.impacts.before, atol=0.1)


@pytest.mark.parametrize(
    "words",
    [["--impacts", "0"], ["--impacts", "-3"], ["--noise", "-1"], ["--noise", "nan"], []],
)
def test_other_words_are_refused(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = [str(tmp_path / "out")] if words else []
    with pytest.raises(SystemExit) as refused:
        capture_impacts.main([*folder, *words])
    assert refused.value.code == 2 and not (tmp_path / "out").exists()
    assert "expected" in capsys.readouterr().err or not words
