"""Databases of a lab."""

import pytest

from ricochet.tasks.registry.lab_places import MLFLOW, PREFECT
from tests import postgres


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A PostgreSQL whose password every client knows."""
    with postgres.running() as found, pytest.MonkeyPatch.context() as patch:
        file = tmp_path_factory.mktemp("secrets") / "pgpass"
        file.touch(mode=0o600)
        file.write_text(found.pgpass)
        patch.setenv("PGPASSFILE", str(file))
        yield found


@pytest.fixture
def databases(server):
    """Two empty databases by the keys of a lab's file."""
    names = {MLFLOW: "mlflow", PREFECT: "prefect"}
    for name in names.values():
        server.execute(f"CREATE DATABASE {name}")
    yield {key: server.address(name) for key, name in names.items()}
    for name in (*names.values(), "another"):
        server.execute(f"DROP DATABASE IF EXISTS {name}")
