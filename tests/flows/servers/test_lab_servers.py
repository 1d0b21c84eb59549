"""A lab's servers on PostgreSQL and S3: flows run, packages are registered, controllers read."""

import json
import os

import pytest

from ricochet.flows.servers import environments, known_servers
from ricochet.tasks.registry import logins, packages, runs, versions
from ricochet.tasks.registry.champion import DAY, Champion
from ricochet.tasks.registry.sources import Server, UnreachableError
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import postgres, s3
from tests.flows.harness import started, wait_for
from tests.flows.servers import attacker
from tests.flows.servers.strangers import stranger

NAME = "ball-table"


@pytest.mark.slow
def test_a_lab_on_postgresql_runs_flows_and_hands_packages_to_who_may_read(
    place,
    package,
    tmp_path,
    monkeypatch,
):
    with postgres.running("mlflow", "prefect") as database, s3.running(place, monkeypatch) as store:
        monkeypatch.setenv("MLFLOW_S3_ENDPOINT_URL", store)
        secrets = place / "state" / "secrets"
        secrets.mkdir(parents=True)
        secrets.chmod(0o700)
        (secrets / "pgpass").write_text(database.pgpass)
        (secrets / "pgpass").chmod(0o600)
        stated = {f"{each}_database": database.address(each) for each in ("mlflow", "prefect")}
        stated |= {"state": "state", "artifact_store": f"s3://{s3.BUCKET}/packages"}
        (place / "lab.yaml").write_text(json.dumps(stated))
        with started(place, config=place / "lab.yaml") as running:
            found = known_servers.find_running(place / "state")
            for name, value in environments.of_clients(found).items():
                monkeypatch.setenv(name, value)
            assert register(package, tmp_path) == "1"
            assert any(key.endswith(f"package/{packages.MANIFEST}") for key in s3.keys(store))
            reads(running.mlflow, secrets, tmp_path, monkeypatch)
            wait_for((place / "ticks").exists, seconds=240)
            command = (f"{running.prefect}/api", f"touch {place}/taken")
            assert stranger("command", *command) == [401, 401, 401]
            for secret in passwords(secrets) | {database.password}:
                assert stranger("spy", "", str(place), given=secret) == [] or os.geteuid() != 0
        assert database.execute("SELECT count(*) FROM model_versions", name="mlflow") == [(1,)]
        assert database.execute("SELECT count(*) > 0 FROM flow_run", name="prefect") == [(True,)]
    assert (
        not (place / "taken").exists() and not (place / "state" / "mlflow" / "mlflow.db").exists()
    )


def passwords(secrets):
    names = (environments.PREFECT, environments.MLFLOW_ADMIN, environments.MLFLOW_READER)
    return {(secrets / name).read_text().strip().partition(":")[2] for name in names}


def register(package, folder):
    """Register a package as the lab's own verbs do, and make it the champion."""
    packages.write_package(folder / "package", package, reader=GRID)
    tracker = runs.connect()
    run = runs.open_run(tracker, "calibrate", "key", name="a", tags={})
    words = {"kind": POSTERIOR, "run_id": run.run_id, "tags": {}}
    made = versions.register(tracker, NAME, folder / "package", **words)
    tracker.client.set_registered_model_alias(NAME, "champion", made.version)
    return made.version


def reads(address, secrets, folder, monkeypatch):
    """Check that a controller with its login reads the champion, and can do nothing else."""
    for name in (logins.NAME, logins.PASSWORD):
        monkeypatch.delenv(name)
    with pytest.raises(UnreachableError, match="answer 401"):
        Server(address, patience=60.0).resolve(NAME, POSTERIOR.load_reader())
    source = Server(address, patience=60.0, login=secrets / environments.MLFLOW_READER)
    words = {"kind": POSTERIOR, "oldest": DAY, "report_line": print}
    held = Champion(NAME, source, folder / "kept", **words)
    assert held.refresh() and held.current().version == "1"
    assert held.current().digest == sha256(folder / "package" / packages.MANIFEST)
    alias = {"name": NAME, "alias": "champion", "version": "1"}
    interface = f"{address}/api/2.0/mlflow/registered-models/alias"
    run = source.resolve(NAME, POSTERIOR.load_reader()).run
    upload = f"{address}/ajax-api/2.0/mlflow/upload-artifact?run_uuid={run}&path=package/a"
    mlflow = f"{address}/api/2.0/mlflow"
    renewed = {"username": environments.READER, "password": "a password of 1's own"}
    changed = (
        ("POST", f"{mlflow}/registered-models/create", {"name": "ping-pong-table"}),
        ("POST", f"{mlflow}/experiments/create", {"name": "calibrate"}),
        ("PATCH", f"{mlflow}/users/update-password", renewed),
    )
    for login, status in ((logins.header(source.login), 403), ({}, 401)):
        for method, asked, body in changed:
            assert attacker.ask(asked, body=body, headers=login, method=method)[0] == status
        assert attacker.ask(interface, body=alias, headers=login)[0] == status
        assert attacker.ask(upload, body=alias, headers=login)[0] == 404
