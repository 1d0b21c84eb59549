"""MLflow's clients kept to their server: what it names as a place of files is one of its own.

A server says where the files of a run lie. Were it a stranger's, on a port that nobody held, a
folder of this machine would be written to or removed, or a login sent to where it says.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

from ricochet.models.core.bad_input import BadInput

OF_SERVER = re.compile(r"mlflow-artifacts:/(?!/)|(?:runs|models):/(?!/)")
"""Begins what the server that is asked keeps itself."""


def confine() -> None:
    """Keep this process's clients to their servers from now on; doing it again changes nothing.

    A place elsewhere is `BadInput` where the store of runs is a server; that of a database of this
    machine is its user's own to choose.
    """
    from mlflow.store.artifact import artifact_repository_registry

    registry: Any = artifact_repository_registry._artifact_repository_registry
    if not hasattr(registry.get_artifact_repository, "__wrapped__"):
        registry.get_artifact_repository = _kept(registry.get_artifact_repository)


def _kept(opened: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(opened)
    def kept(
        artifact_uri: str, tracking_uri: str | None = None, registry_uri: str | None = None
    ) -> Any:
        from mlflow import get_tracking_uri

        asked = tracking_uri or get_tracking_uri()
        if asked.startswith(("http:", "https:")) and not OF_SERVER.match(artifact_uri):
            raise BadInput(asked, f"files at {artifact_uri[:100]!r}", "files that it keeps itself")
        return opened(artifact_uri, tracking_uri=tracking_uri, registry_uri=registry_uri)

    return kept
