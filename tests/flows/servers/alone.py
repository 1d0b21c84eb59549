"""One server alone, as `ricochet up` runs it."""

import base64
import contextlib
import json
import os
import socket
import subprocess
import urllib.error
import urllib.request

from ricochet.flows.servers import environments, serving

PASSWORD = "of-the-lab-alone"
"""Of every account."""


@contextlib.contextmanager
def running(name, own):
    """Run a server with its own variables; yields its address, without scheme, and process."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen(
            serving.command(name, [listener]),
            env={**os.environ, **environments.QUIET, **own},
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}", process
        finally:
            process.terminate()


def with_logins(folder):
    """Return the variables of a server that asks who it is."""
    lines = ["[mlflow]", "default_permission = READ", f"database_uri = sqlite:///{folder}/users.db"]
    lines += ["admin_username = admin", "grant_default_workspace_access = false"]
    lines += ["auth_cache_ttl_seconds = 60"]
    (folder / "auth.ini").write_text("\n".join(lines))
    return {
        "MLFLOW_BACKEND_STORE_URI": f"sqlite:///{folder}/mlflow.db",
        "MLFLOW_ARTIFACTS_DESTINATION": f"{folder}/artifacts",
        "MLFLOW_AUTH_CONFIG_PATH": f"{folder}/auth.ini",
        "MLFLOW_AUTH_ADMIN_USERNAME": "admin",
        "MLFLOW_AUTH_ADMIN_PASSWORD": PASSWORD,
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "any",
    }


def ask(address, account, path, body=None, *, method=None):
    """Return the status and the bytes of an answer to an account; 0 where there is none."""
    login = base64.b64encode(f"{account}:{PASSWORD}".encode()).decode()
    heads = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{address}{path}", data, heads, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError:
        return 0, b""
