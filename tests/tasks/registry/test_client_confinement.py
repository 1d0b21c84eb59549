"""What a server names as a place of files is one of its own, or nothing is read or written."""

import pytest
from mlflow.store.artifact import artifact_repository_registry

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import client_confinement, runs

SERVER = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    registry = artifact_repository_registry._artifact_repository_registry
    monkeypatch.setattr(registry, "get_artifact_repository", registry.get_artifact_repository)
    client_confinement.confine()
    client_confinement.confine()


def opened(place, tracking_uri):
    return artifact_repository_registry.get_artifact_repository(place, tracking_uri=tracking_uri)


@pytest.mark.parametrize(
    "place",
    [
        "file:///etc",
        "/etc",
        "s3://bucket/a",
        "http://page.example/a",
        "mlflow-artifacts://page.example:80/1/run/artifacts",
        "mlflow-artifacts:///page.example/a",
        "MLFLOW-ARTIFACTS://page.example/a",
        "runs://profile@databricks/0123/a",
        "",
    ],
)
def test_a_place_elsewhere_is_bad_input_where_a_server_names_it(place):
    with pytest.raises(BadInput, match=r"files at .*expected files that it keeps itself"):
        opened(place, SERVER)


def test_a_server_s_own_files_are_opened_and_folders_of_a_store_of_one_s_own(tmp_path):
    kept = opened("mlflow-artifacts:/1/run/artifacts", SERVER)
    assert kept.artifact_uri.startswith(f"{SERVER}/")
    assert opened(tmp_path.as_uri(), f"sqlite:///{tmp_path}/a.db").artifact_dir == str(tmp_path)


def test_whoever_connects_is_kept_to_the_server(monkeypatch):
    seen = []
    monkeypatch.setattr(client_confinement, "confine", lambda: seen.append(True))
    runs.connect(SERVER)
    assert seen == [True]
