"""MLflow's server reads and writes in its own store of files, whoever made the experiment."""

import re

import pytest
from mlflow.exceptions import MlflowException
from mlflow.store.artifact.local_artifact_repo import LocalArtifactRepository

from ricochet.tasks.registry import server_confinement
from ricochet.tasks.registry.server_confinement import OWN_SOURCES, is_within
from ricochet.tasks.registry.server_methods import checked


def test_only_what_lies_in_the_store_is_within_it(tmp_path):
    store = tmp_path / "artifacts"
    (store / "calibrate").mkdir(parents=True)
    (store / "out").symlink_to("/etc")
    root = store.as_uri()
    for place in (f"{root}/calibrate", str(store / "calibrate" / "run" / "artifacts")):
        assert is_within(place, root)
    for place in (
        root, "/etc", f"{root}/../secrets", f"{root}/out/passwd", "file:///", "artifacts/calibrate",
        "s3://bucket/a", "gs://bucket/a", "mlflow-artifacts:/1", f"{root}s/calibrate", "",
    ):  # fmt: skip
        assert not is_within(place, root), place
    assert not is_within("s3://bucket/a", "s3://bucket")


def test_an_experiment_is_placed_by_the_server_and_files_elsewhere_are_not_opened(tmp_path):
    create = server_confinement._placed(lambda name, place, tags: name)
    assert create("a") == create("a", "", []) == "a"
    with pytest.raises(Exception, match="the server's to choose"):
        create("a", "/etc")
    opened = server_confinement._served(lambda uri: uri, tmp_path.as_uri())
    assert opened(f"{tmp_path}/a") == f"{tmp_path}/a"
    with pytest.raises(Exception, match="outside of the server's store"):
        opened("/etc")


@pytest.mark.parametrize(
    ("source", "own"),
    [
        ("runs:/0123/package", True),
        ("mlflow-artifacts:/1/0123/artifacts/package", True),
        ("models:/ping-pong-table/3", True),
        ("/lab/mlflow/artifacts/calibrate/0123/artifacts/package", True),
        ("s3://bucket/package", False),
        ("http://page.example/package", False),
        ("dbfs:/package", False),
    ],
)
def test_the_source_of_a_version_is_of_the_server(source, own):
    assert bool(re.search(OWN_SOURCES, source)) == own


def test_a_folder_of_very_many_files_is_listed_by_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(server_confinement, "MOST_FILES", 3)
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    as_it_was = LocalArtifactRepository.list_artifacts
    monkeypatch.setattr(LocalArtifactRepository, "list_artifacts", as_it_was)
    checked(LocalArtifactRepository, "list_artifacts", server_confinement.refuse_endless)
    repository = LocalArtifactRepository(tmp_path.as_uri())
    assert [found.path for found in repository.list_artifacts()] == ["a", "b", "c"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(MlflowException, match="more than 3 files") as refused:
        repository.list_artifacts()
    assert refused.value.get_http_status_code() == 400
    assert repository.list_artifacts("folder") == repository.list_artifacts("none") == []
