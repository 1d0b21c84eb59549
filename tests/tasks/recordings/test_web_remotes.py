"""A DVC remote over http is sent its own login alone, and leads nowhere else with it."""

import http.server
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from ricochet.tasks.recordings import dvc_program
from tests.tasks.recordings.remotes import CONFIG

LOGIN = """['remote "lab"']
    url = {}/store
    auth = {}
    user = lab
    custom_auth_header = X-Token
    password = secret
"""
LOGINS = ["basic", pytest.param("custom", marks=pytest.mark.proof)]
PULL = [sys.executable, "-P", "-m", dvc_program.__name__, "pull", "data.dvc"]
BASIC = "Basic bGFiOnNlY3JldA=="


class Answer(http.server.BaseHTTPRequestHandler):
    """Serves a folder, or leads elsewhere, by either of the heads that clients look at."""

    def do_GET(self):
        self.server.asked.append({**self.headers})
        file = self.server.folder / self.path.removeprefix("/store/")
        if self.server.leads:
            head, there = self.server.leads
            self.send_response(302)
            self.send_header(head, there + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200 if file.is_file() else 404)
        content = file.read_bytes() if file.is_file() else b""
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@contextmanager
def serving(folder, leads=None, answers=Answer):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        server.asked, server.folder, server.leads = [], folder, leads
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server, f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()


@pytest.fixture
def pulled(root, tmp_path, monkeypatch):
    """Return what a pull from an address says, with a login or without."""
    (tmp_path / ".netrc").write_text("default login another password of-another\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NETRC", raising=False)

    def pull(address, login=None):
        (root / ".dvc" / "config").write_text(CONFIG.replace("../store", f"{address}/store"))
        if login:
            (root / ".dvc" / "config.local").write_text(LOGIN.format(address, login))
        return subprocess.run(PULL, cwd=root, capture_output=True, text=True, timeout=120.0)

    return pull


@pytest.mark.slow
@pytest.mark.parametrize("login", LOGINS)
def test_a_login_is_sent_to_its_remote_alone(root, pulled, login):
    with serving(root / "store") as (right, address):
        done = pulled(address, login)
        assert done.returncode == 0, done.stderr
        sent = right.asked[0].get("Authorization" if login == "basic" else "X-Token")
        assert sent == (BASIC if login == "basic" else "secret")
    assert (root / "data" / "first" / "session.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("login", LOGINS)
@pytest.mark.parametrize("head", ["Location", "URI"])
def test_no_way_to_another_server_is_followed_with_a_login(root, pulled, login, head):
    with serving(root) as (other, elsewhere), serving(root, (head, elsewhere)) as (_, address):
        done = pulled(address, login)
        assert done.returncode != 0 and "as there is a login" in done.stderr
        assert not other.asked
    assert not (root / "data").exists()


@pytest.mark.slow
def test_without_one_it_is_followed_and_no_login_of_a_netrc_is_sent(root, pulled):
    with (
        serving(root / "store") as (other, elsewhere),
        serving(root, ("Location", elsewhere)) as (first, address),
    ):
        done = pulled(address)
        assert done.returncode == 0, done.stderr
        for server in (first, other):
            assert server.asked
            assert not any("Authorization" in each for each in server.asked)


@pytest.mark.slow
def test_a_login_is_not_lent_to_an_address_that_git_brought(root, pulled):
    with serving(root / "store") as (right, address):
        own = root / ".dvc" / "config.local"
        done = pulled(address, "basic")
        assert done.returncode == 0, done.stderr
        right.asked.clear()
        lines = own.read_text().splitlines(keepends=True)
        own.write_text("".join(line for line in lines if "url" not in line))
        done = subprocess.run(PULL, cwd=root, capture_output=True, text=True, timeout=120.0)
        assert done.returncode == 2 and "whose url is in config" in done.stderr
        assert not right.asked
