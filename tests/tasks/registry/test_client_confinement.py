"""What a server names as a place of files is one of its own, or nothing is read or written."""

import http.server
import json
import threading
from contextlib import contextmanager

import pytest
from mlflow.artifacts import download_artifacts
from mlflow.exceptions import MlflowException
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


CAPABLE = {"multipart_downloads_enabled": True, "multipart_uploads_enabled": True}
RUN = {"info": {"run_id": "a" * 32, "artifact_uri": f"mlflow-artifacts:/0/{'a' * 32}/artifacts"}}


class Answer(http.server.BaseHTTPRequestHandler):
    """Names the address of another server for files, or sends there whoever asks."""

    def do_GET(self):
        self.server.asked.append(dict(self.headers))
        if elsewhere := self.server.redirects:
            self.send_response(302)
            self.send_header("Location", elsewhere)
        else:
            self.send_response(200)
        self.end_headers()
        if "server-info" in self.path:
            said = CAPABLE
        elif "presigned" in self.path:
            said = {"url": self.server.others, "headers": {"A": "of its choosing"}, "file_size": 9}
        elif "runs/get" in self.path:
            said = {"run": RUN}
        elif self.path.endswith("/artifacts/a.json"):
            said = "its own"
        else:
            said = {"files": [{"path": "a.json", "is_dir": False, "file_size": 10}]}
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *_):
        pass


@contextmanager
def serving(others=None, redirects=None):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.asked, server.others, server.redirects = [], others, redirects
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def address(server, host="127.0.0.1"):
    return f"http://{host}:{server.server_port}"


@pytest.fixture
def netrc(tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("default login another password of-another\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "admin")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "its-own")


def test_no_address_of_a_file_is_asked_that_the_server_names(tmp_path, netrc):
    with serving() as other, serving(others=address(other)) as server:
        runs.connect(address(server))
        download_artifacts(
            run_id="a" * 32, artifact_path="a.json", dst_path=tmp_path, tracking_uri=address(server)
        )
        assert json.loads((tmp_path / "a.json").read_text()) == "its own"
        assert not other.asked


def test_no_redirection_is_followed_and_no_login_of_a_netrc_is_sent(netrc, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with serving() as other, serving(redirects=address(other, "localhost")) as server:
        tracker = runs.connect(address(server))
        with pytest.raises(MlflowException, match="INTERNAL_ERROR"):
            tracker.client.get_run("a" * 32)
        assert not other.asked
        assert {each["Authorization"] for each in server.asked} == {"Basic YWRtaW46aXRzLW93bg=="}


def test_a_server_that_lists_without_end_ends_in_a_line(monkeypatch):
    """MLflow lists once more what it fetches, and walks whatever is a folder by then."""
    monkeypatch.setattr(client_confinement, "MOST_LISTED", 50)
    with serving() as server:
        found = opened("mlflow-artifacts:/0/a/artifacts", address(server))
        for _ in range(25):
            assert [each.path for each in found.list_artifacts("package")] == ["package/a.json"]
        with pytest.raises(BadInput, match="found 52 files and folders, expected at most 50 of"):
            found.list_artifacts("package")
        again = opened("mlflow-artifacts:/0/a/artifacts", address(server))
        assert len(again.list_artifacts("package")) == 1


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
