"""A server on sockets that the process which started it listens on (`flows.servers.listening`).

python -m ricochet.flows.servers.serving mlflow|prefect|temporary NUMBER..

The numbers are those of the sockets among the open files. What each server is reads its settings
from the environment, as behind its own command.
"""

import os
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ricochet.flows import prefect_settings
from ricochet.flows.servers.environments import defaults
from ricochet.tasks.console import open_files, printable_stream

if TYPE_CHECKING:
    import uvicorn

MLFLOW, PREFECT, TEMPORARY = "mlflow", "prefect", "temporary"
MLFLOW_APPLICATION = "ricochet.tasks.registry.server_app:create_app"
PREFECT_APPLICATION = "ricochet.flows.servers.prefect_app:create_app"
LAST = {"PREFECT__SERVER_FINAL": "1"}
"""Has Prefect make no second application in the process."""
PAGES, STATEMENTS = 500, 16
"""What a connection keeps in memory: KiB of a database, and prepared statements."""
PATIENCE = 3000
"""How long a connection waits for another's lock, ms; its client tries again."""
ALONE = {**LAST, "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT_UI_ENABLED": "0"}
"""Of a server that Prefect starts for one program: no pages, and services for runs alone."""
MESSAGE = 2**20
"""Bytes of a message of a websocket."""
HEAD = 2**14
"""Bytes of a request's head, which are kept while the rest is waited for."""


def command(name: str, listeners: Sequence[socket.socket]) -> list[str]:
    """Return the command of a server; its process must be given the sockets by `pass_fds`."""
    numbers = [str(each.fileno()) for each in listeners]
    return [sys.executable, "-P", "-m", __name__, name, *numbers]


def serve(name: str, listeners: list[socket.socket]) -> None:
    """Serve until a signal asks for the end; exits with uvicorn's status if it does not start."""
    import uvicorn

    printable_stream.show_printable()  # a log has what strangers wrote
    open_files.allow()
    config = {MLFLOW: _mlflow, PREFECT: _prefect, TEMPORARY: _temporary}[name]()
    server = uvicorn.Server(config)
    if config.workers > 1:
        from uvicorn.supervisors import Multiprocess

        Multiprocess(config, sockets=listeners).run()
        return
    server.run(sockets=listeners)
    if not server.started:
        from uvicorn.config import STARTUP_FAILURE

        sys.exit(STARTUP_FAILURE)


def _config(application: str, **options: Any) -> "uvicorn.Config":
    import uvicorn

    from ricochet.flows.servers.prompt_protocol import BACKLOG, PromptProtocol
    from ricochet.flows.servers.prompt_websocket import PromptWebSocket

    options = {
        "ws": PromptWebSocket,
        "ws_max_size": MESSAGE,
        "ws_per_message_deflate": False,  # a stranger's each takes 4 MB to unpack
        **options,
    }
    return uvicorn.Config(
        application,
        factory=True,
        http=PromptProtocol,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=HEAD,
        **options,
    )


def _mlflow() -> "uvicorn.Config":
    workers = defaults()["workers"]
    return _config(MLFLOW_APPLICATION, workers=workers, access_log=False, ws="none")


def _prefect() -> "uvicorn.Config":
    os.environ |= LAST
    prefect_settings.of_the_environment()
    _bound_connections()
    from prefect.settings import get_current_settings

    server = get_current_settings().server
    options: dict[str, Any] = {
        "timeout_keep_alive": server.api.keepalive_timeout,
        "ws_ping_interval": server.api.websocket_ping_interval,
        "ws_ping_timeout": server.api.websocket_ping_timeout,
        "log_level": server.logging_level.lower(),
    }
    return _config(PREFECT_APPLICATION, **options)


def _bound_connections() -> None:
    """Let each connection to Prefect's SQLite keep `PAGES` and `STATEMENTS`, and wait `PATIENCE`.

    Prefect says 80 MB, and Python 128 statements, of each of ten connections and more, so that the
    server would grow with its database and with the nights. Where Python collects garbage in the
    thread that answers, that waits for a connection that waits for a lock, whose holder waits for
    an answer: for the minute that Prefect allows, again and again.
    """
    from prefect.server.database import configurations

    database: Any = configurations
    configured, create = database.AioSqliteConfiguration, database.create_async_engine
    set_up = configured.setup_sqlite

    def created(address: Any, **options: Any) -> Any:
        if str(address).startswith("sqlite"):
            known = options.get("connect_args", {})
            options["connect_args"] = {"cached_statements": STATEMENTS, **known}
        return create(address, **options)

    def bounded(self: Any, connection: Any, record: Any) -> None:
        set_up(self, connection, record)
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA cache_size = -{PAGES}")
        cursor.execute(f"PRAGMA busy_timeout = {PATIENCE}")
        cursor.close()

    configured.setup_sqlite = bounded
    database.create_async_engine = created


def _temporary() -> "uvicorn.Config":
    os.environ |= ALONE
    prefect_settings.of_the_environment()
    return _config(PREFECT_APPLICATION, lifespan="on", log_level="error")


if __name__ == "__main__":
    serve(sys.argv[1], [socket.socket(fileno=int(number)) for number in sys.argv[2:]])
