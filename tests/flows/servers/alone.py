"""One server alone, as `ricochet up` runs it."""

import contextlib
import os
import socket
import subprocess

from ricochet.flows.servers import environments, serving


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
        "MLFLOW_AUTH_ADMIN_PASSWORD": "of-the-lab-alone",
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "any",
    }
