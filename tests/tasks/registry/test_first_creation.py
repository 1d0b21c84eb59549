"""Two processes at once make one MLflow store: neither is ended by the other's migration."""

import subprocess
import sys

import pytest

from ricochet.tasks.registry import runs
from tests.checkouts import python_path

PROGRAM = """
import sys
from pathlib import Path
from ricochet.tasks.registry import runs
tracker = runs.connect(store=Path(sys.argv[1]))
runs.open_run(tracker, "first", sys.argv[2], name=sys.argv[2], tags={})
"""


@pytest.mark.proof
def test_two_processes_make_the_store_at_once(tmp_path):
    store = tmp_path / "mlflow"
    environment = {"PYTHONPATH": python_path(), "HOME": str(tmp_path)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(store), key],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for key in ("one", "two")
    ]
    said = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    tracker = runs.connect(store=store)
    assert all(runs.find_run(tracker, "first", key) is not None for key in ("one", "two"))
