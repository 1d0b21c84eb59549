"""The registry never points at a half-written or unchecked package, and promotion can be undone.

Kills between every two steps of registering, promoting and rolling back, in real processes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkouts import python_path
from tests.stores import copied

ROOT = Path(__file__).resolve().parents[2]


def kills(verb, folder):
    """Run the killings; returns the kills, and the row of the run that nothing killed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.registry_kills", verb, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": python_path(), "RICOCHET_ARTIFACTS": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *rows, last = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert all(row["killed"] for row in rows) and not last["killed"]
    return rows, last


def all_whole(row):
    return all(all(row[key]["whole"].values()) for key in ("after_kill", "after_again"))


@pytest.fixture
def folder(tmp_path, migrated_store):
    """A folder of artifacts with an empty store of runs."""
    copied(migrated_store, tmp_path / "mlflow")
    return tmp_path


@pytest.mark.proof
def test_a_kill_while_registering_leaves_no_alias_or_a_whole_package(folder):
    """Steps: upload, name, version, alias, each before and after: eight kills."""
    rows, last = kills("register", folder)
    assert len(rows) == 8
    for row in rows:
        assert all_whole(row)
        candidate = row["after_kill"]["aliases"]["candidate"]
        assert candidate == (None if row["step"] < 8 else "1")
        assert row["after_again"] == last["after_again"] == row["after_third"]
        assert row["after_again"]["versions"] == 1
        assert row["after_again"]["aliases"]["candidate"] == "1"


@pytest.mark.proof
def test_a_kill_while_promoting_leaves_whole_packages_and_again_completes_it_once(folder):
    """Steps: tag, log, previous, champion, log, each before and after: ten kills."""
    rows, last = kills("promote", folder)
    assert len(rows) == 10
    for row in rows:
        assert all_whole(row)
        aliases = row["after_kill"]["aliases"]
        assert aliases["champion"] == ("1" if row["step"] < 8 else "2")
        assert aliases["previous"] == (None if row["step"] < 6 else "1")
        done = row["after_again"]
        assert (done["aliases"]["champion"], done["aliases"]["previous"]) == ("2", "1")
        assert done["log"] == ["promote begun", "promote done"] * 2
        assert row["after_third"] == done
    assert last["after_kill"] == last["after_again"]


@pytest.mark.proof
def test_a_kill_while_rolling_back_leaves_whole_packages_and_again_restores_the_pair(folder):
    """Steps: tag, log, champion, previous taken away, log, each before and after: ten kills."""
    rows, last = kills("rollback", folder)
    assert len(rows) == 10
    for row in rows:
        assert all_whole(row)
        assert row["after_kill"]["aliases"]["champion"] == ("2" if row["step"] < 6 else "1")
        restored = row["after_again"]
        assert (restored["aliases"]["champion"], restored["aliases"]["previous"]) == ("1", None)
        assert restored["log"][-1] == "rollback done"
        assert row["after_third"] == restored
    assert last["after_kill"] == last["after_again"]
