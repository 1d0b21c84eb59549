"""MLflow's clients kept to their server: what it names as a place of files is one of its own.

A server says where the files of a run lie. Were it a stranger's, on a port that nobody held, a
folder of this machine would be written to or removed, or a login sent to where it says: by a
redirection, or as the address of a large file, with one from `~/.netrc` that is another server's.
"""

import functools
import os
import re
from collections.abc import Callable
from typing import Any

from ricochet.models.core.bad_input import BadInput

OF_SERVER = re.compile(r"mlflow-artifacts:/(?!/)|(?:runs|models):/(?!/)")
"""Begins what the server that is asked keeps itself."""
MOST_LISTED = 10_000
"""Files and folders that a server lists to one that looks at a run's: of ours each has a few."""
NO_OTHER = {
    "MLFLOW_ALLOW_HTTP_REDIRECTS": "false",
    "MLFLOW_ENABLE_PROXY_MULTIPART_DOWNLOAD": "false",
    "MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD": "false",
}
"""Settings by which MLflow's client asks no other server than its own."""


def confine() -> None:
    """Keep this process's clients to their servers from now on; doing it again changes nothing.

    A place elsewhere is `BadInput` where the store of runs is a server; that of a database of this
    machine is its user's own to choose.
    """
    from mlflow.store.artifact import artifact_repository_registry
    from mlflow.utils import request_utils

    os.environ.update(NO_OTHER)
    if not hasattr(request_utils._get_request_session, "__wrapped__"):
        request_utils._get_request_session = _without_netrc(request_utils._get_request_session)
    registry: Any = artifact_repository_registry._artifact_repository_registry
    if not hasattr(registry.get_artifact_repository, "__wrapped__"):
        registry.get_artifact_repository = _kept(registry.get_artifact_repository)


def _without_netrc(session: Callable[..., Any]) -> Callable[..., Any]:
    """Return what opens sessions that send the login they are given, and no other."""

    @functools.wraps(session)
    def opened(*positional: Any, **named: Any) -> Any:
        found = session(*positional, **named)
        found.auth = _as_it_is  # a session that has none looks in `~/.netrc`
        return found

    return opened


def _as_it_is(request: Any) -> Any:
    return request


def _kept(opened: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(opened)
    def kept(
        artifact_uri: str, tracking_uri: str | None = None, registry_uri: str | None = None
    ) -> Any:
        from mlflow import get_tracking_uri

        asked = tracking_uri or get_tracking_uri()
        if asked.startswith(("http:", "https:")) and not OF_SERVER.match(artifact_uri):
            raise BadInput(asked, f"files at {artifact_uri[:100]!r}", "files that it keeps itself")
        found = opened(artifact_uri, tracking_uri=tracking_uri, registry_uri=registry_uri)
        if asked.startswith(("http:", "https:")):
            found.list_artifacts = _counted(found.list_artifacts, asked)
        return found

    return kept


def _counted(listing: Callable[..., list[Any]], asked: str) -> Callable[..., list[Any]]:
    """Return what lists some files: MLflow fetches all that is listed, folders within folders."""
    listed = 0

    @functools.wraps(listing)
    def counted(*positional: Any, **named: Any) -> list[Any]:
        nonlocal listed
        found = listing(*positional, **named)
        listed += len(found) + 1
        if listed > MOST_LISTED:
            raise BadInput(asked, f"{listed} files and folders", f"at most {MOST_LISTED} of a run")
        return found

    return counted
