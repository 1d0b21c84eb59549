"""Pictures of the servers' pages: which pages, and a sentence where there is no browser."""

import sys
from pathlib import Path

import pytest

from docs import screenshots


def test_pages_are_those_of_training_and_of_a_registered_name() -> None:
    found = screenshots.pages("http://m:1", "http://p:2", "golf-wood")
    assert found["mlflow-version"].startswith("http://m:1/#/models/golf-wood/versions/1?workflow")
    assert found["prefect-runs"] == "http://p:2/runs"
    assert set(screenshots.pages("http://m:1", "http://p:2", None)) == set(found) - {
        "mlflow-version"
    }


def test_without_a_browser_a_sentence_says_so_and_nothing_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["screenshots", "--out", str(tmp_path / "out")])
    screenshots.main()
    assert capsys.readouterr().out.startswith("no pictures: found no browser, expected one of")
    assert not (tmp_path / "out").exists()
