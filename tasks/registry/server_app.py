"""MLflow's server, reduced to what Ricochet uses: runs, their numbers and files, and models.

MLflow 3 also answers, on loopback without any question, an assistant that runs shell commands for a
language model of whose choice the caller decides, a gateway and webhooks that call other hosts, and
jobs. So only what is listed here is passed on, all else is 404; and a page of another origin, of
another port of this machine too, is 403, whatever a browser sends along. The account of controllers
reads and does nothing else, its own password included; experiments are the administrator's alone to
make, names in the registry with their versions and aliases to make and to change, accounts and what
they may do, and a run is changed by the account that made it (`server_authors`, `server_logins`).
Files are those of the server's store alone (`server_confinement`), and named so that a backup can
hold them. Bodies are bounded before a login is asked for (`server_limits`, `server_bodies`), but
those of files, which are written as they come, and asked about first; each login has a few places
(`server_places`), and answers are read as they are taken (`server_answers`).

`create_app` reads MLflow's variables, `MLFLOW_BACKEND_STORE_URI` and the others that its command
line knows, so that no address or password is among the arguments of a process.
"""

import os
import re
import urllib.parse
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from ricochet.tasks.registry import (
    local_store,
    server_answers,
    server_authors,
    server_bodies,
    server_ids,
    server_lists,
    server_logins,
    server_passwords,
    server_paths,
    server_patterns,
    server_queries,
    server_runs,
    server_searches,
)
from ricochet.tasks.registry.server_confinement import confine
from ricochet.tasks.registry.server_limits import Bounded
from ricochet.tasks.registry.server_places import Shared

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

AREAS = (
    "artifacts|experiments|get-artifact|logged-models|metrics|model-versions|registered-models|"
    "roles|runs|server-info|users"
)
"""What the interface may be asked about. Files are sent by their place alone, not by their run's,
which may be no file of the server's."""
REFUSED = r"promptlab|presigned|^/api/3\.0/mlflow/server-info"
"""Clients are not told that an S3 store could be asked directly: the server alone talks to it."""
OPEN = re.compile(
    rf"/|/health|/version|/static-files/.+|/get-artifact|/model-versions/get-artifact|/graphql"
    rf"|/signup|/(?:ajax-)?api/[23]\.0/mlflow/(?:{AREAS})(?:/.*)?"
    r"|/(?:ajax-)?api/2\.0/mlflow-artifacts/artifacts(?:/.*)?"
)
BODY = 2**20
"""Bytes of a body that is no file, as many as MLflow's client sends; read, it takes 35 times."""
FILES = re.compile(r"/(?:ajax-)?api/2\.0/mlflow-artifacts/artifacts/.*")
"""Whose bodies are files."""
READS = re.compile(r".*/(?:search|search-datasets|get-history-bulk.*)|/graphql")
"""What is asked by POST and changes nothing."""
KEPT = re.compile(r".*/(?:logged-models(?:/.*)?|runs/log-model/?)")
"""Nothing of Ricochet's: MLflow lets whoever has a logged model change those of others, and reads
what stands in a text of a model, for a minute."""
ADMINISTRATORS = re.compile(
    r".*/(?:(?:registered-models|model-versions|roles)(?:/.*)?|users/(?!update-password/?\Z).*"
    r"|experiments/(?:create|update|delete|restore)/?)"
)
"""What the lab's verbs find by its name, which is its maker's to spoil, and who may read and write:
whoever may manage an experiment could deny it to controllers."""
OWN = (
    b"content-security-policy",
    b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; base-uri 'self'; "
    b"form-action 'self'; frame-ancestors 'self'",
)
"""Neither a note about a run nor a file of it, a page too, asks another server for anything: that
would learn who looks at it."""
SIMPLE = {
    "MLFLOW_SERVER_GRAPHQL_MAX_ROOT_FIELDS": "1",
    "MLFLOW_SERVER_GRAPHQL_MAX_ALIASES": "0",
}
"""What MLflow's pages ask by GraphQL: two thousand characters, with aliases, took 3.5 GB."""
ORIGINS = "MLFLOW_SERVER_CORS_ALLOWED_ORIGINS"
READER = "RICOCHET_READER"
"""Variable of the environment: name and password of the account that may only read."""


class Reduced:
    """An application in front of another that answers what is not listed, or of other pages."""

    def __init__(self, application: Application) -> None:
        """Stand in front of an application."""
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif not is_open(scope["path"]):
            await _refuse(send, 404, b"not offered here\n")
        elif not is_own_page(dict(scope["headers"])):
            await _refuse(send, 403, b"not for pages of other origins\n")
        elif server_logins.stated(scope["headers"]) is None:
            await _refuse(send, 401, b"expected one name and password, after `Basic `\n")
        elif not server_paths.is_of_run(scope):
            await _refuse(send, 400, b"expected a file of an experiment, by its number\n")
        elif changes(scope) and not server_paths.is_plain(scope):
            await _refuse(send, 400, b"expected short names of letters that are shown\n")
        elif changes(scope) and KEPT.fullmatch(scope["path"]):
            await _refuse(send, 404, b"not offered here\n")
        elif changes(scope) and not may_change(scope["path"], scope["headers"]):
            await _refuse(send, 403, b"not for this account\n")
        else:
            server_logins.ASKER.set(server_logins.stated(scope["headers"]))
            await self.application(scope, receive, _of_this_server(send))


def is_open(path: str) -> bool:
    """Tell whether a path is passed on to MLflow."""
    return OPEN.fullmatch(path) is not None and re.search(REFUSED, path) is None


def is_own_page(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a request comes from no page, from one of this server, or of a name of it."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    try:
        place = urllib.parse.urlsplit(origin).netloc
    except ValueError:  # a bracket that is not closed
        return False
    own = place == headers.get(b"host", b"").decode("latin-1")
    return not origin or own or origin in os.environ.get(ORIGINS, "").split(",")


def changes(scope: Scope) -> bool:
    """Tell whether a request may change something."""
    asks = scope["method"] in ("GET", "HEAD", "OPTIONS")
    reads = scope["method"] == "POST" and READS.fullmatch(scope["path"]) is not None
    return not (asks or reads)


def may_change(path: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether an account may change something, as far as that is not MLflow's to say."""
    reader = os.environ.get(READER, "").partition(":")[0]
    if (login := server_logins.stated(headers)) is None:
        return False
    if not reader or not login:  # nobody is asked, or MLflow asks who it is
        return True
    name = login.partition(b":")[0].decode("latin-1")
    if name == reader:
        return False
    return name == os.environ.get(server_logins.ADMIN) or not ADMINISTRATORS.fullmatch(path)


def _of_this_server(send: Send) -> Send:
    """Return what sends a page that asks its server alone."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), OWN]}
        await send(message)

    return sent


async def _refuse(send: Send, status: int, text: bytes) -> None:
    head = {"type": "http.response.start", "status": status}
    await send({**head, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": text})


def create_app() -> Bounded:
    """Make the application from MLflow's variables in the environment."""
    from mlflow.server import constants

    store = os.environ["MLFLOW_BACKEND_STORE_URI"]
    os.environ[constants.BACKEND_STORE_URI_ENV_VAR] = store
    os.environ[constants.REGISTRY_STORE_URI_ENV_VAR] = store
    os.environ[constants.ARTIFACT_ROOT_ENV_VAR] = "mlflow-artifacts:/"
    os.environ[constants.SERVE_ARTIFACTS_ENV_VAR] = "true"
    destination = os.environ["MLFLOW_ARTIFACTS_DESTINATION"]
    os.environ[constants.ARTIFACTS_DESTINATION_ENV_VAR] = destination
    os.environ["_MLFLOW_SGI_NAME"] = "uvicorn"
    from mlflow.server import handlers

    if (database := local_store.file_of(store)) is not None:
        local_store.create(database)
    handlers.initialize_backend_stores(store, store, "mlflow-artifacts:/")
    confine(destination)
    stores: Any = handlers
    runs = stores._get_tracking_store()
    server_ids.bound(runs)
    server_runs.bound(runs)
    server_authors.bound(runs, stores._get_artifact_repo_mlflow_artifacts())
    models = stores._get_model_registry_store()
    if server_logins.ASKING in os.environ:
        server_lists.bound(runs, models)
    server_searches.bound(runs, models)
    server_searches.bound_reading()
    server_patterns.bound()
    server_queries.bound(runs, models)
    os.environ |= SIMPLE
    from mlflow.server import app

    server_bodies.bound(app)
    found = _asking() if server_logins.ASKING in os.environ else _unasking()
    inner = server_answers.PageFiles(found, _pages())
    return Bounded(Reduced(in_places(inner)), files=FILES, body=BODY)


def in_places(inner: Application) -> Application:
    """Give each login its places in front of an application.

    Where there are logins a right one is asked for before a body is read, and again after the wait.
    """
    if server_logins.ASKING not in os.environ:
        return Shared(inner, written=FILES)
    comparing = server_passwords.Comparing(server_passwords.of_mlflow())
    asked = server_passwords.Asking(inner, comparing)
    return server_passwords.Asking(Shared(asked, written=FILES), comparing)


def _pages() -> str:
    """Have answers wait for their readers; returns the folder of the files of pages."""
    from mlflow.server import app, fastapi_app

    module: Any = fastapi_app
    module._EfficientWSGIResponder = server_answers.with_patience(module._EfficientWSGIResponder)
    return str(app.static_folder)


def _unasking() -> Application:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what MLflow stands on
        from mlflow.server.fastapi_app import app
    return app


def _asking() -> Application:
    """Make the application that asks for a name and a password, and the account that reads."""
    from mlflow.server import auth

    found = auth.create_app()
    name, _, password = os.environ.get(READER, "").partition(":")
    if name and auth.store.has_user(name):
        auth.store.update_user(name, password=password)
    elif name:
        auth.store.create_user(name, password)
    return found
