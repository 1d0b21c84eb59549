"""What servers are given means to them what the settings of a lab say."""

import os
import subprocess
import sys

import pytest

from ricochet.flows.servers import environments
from ricochet.flows.servers.lab import Lab
from ricochet.tasks.upkeep_settings import Keep
from tests import postgres
from tests.checkouts import python_path

VACUUM = """
from prefect.settings import get_current_settings
vacuum = get_current_settings().server.services.db_vacuum
print(sorted(vacuum.enabled_vacuum_types), vacuum.retention_period.days)
"""


def prepared(folder):
    lab = Lab(state=folder / "state", login=False)
    return environments.prepare(
        lab,
        mlflow="http://127.0.0.1:1",
        prefect="http://127.0.0.1:2",
        shared=False,
        keep=Keep(flow_runs=41.0, runs=7.0, logs=3, log_size=10**6),
    )


@pytest.mark.slow
def test_postgresql_gives_up_a_question_of_mlflow_that_takes_minutes(tmp_path, monkeypatch):
    given = prepared(tmp_path).mlflow["PGOPTIONS"]
    with postgres.running() as database:
        assert database.execute("SHOW statement_timeout") == [("0",)]
        monkeypatch.setenv("PGOPTIONS", given)
        assert database.execute("SHOW statement_timeout") == [("2min",)]


def test_prefect_removes_flow_runs_after_as_many_days_as_are_set(tmp_path):
    given = prepared(tmp_path)
    path = {"PYTHONPATH": python_path(), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", VACUUM],
        env={**given.prefect, **path},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "['events', 'flow_runs', 'orphans'] 41", done.stderr
