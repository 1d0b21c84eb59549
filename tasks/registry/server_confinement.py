"""MLflow's server kept within its own store of files, whoever asks it.

Whoever may make an experiment may say where its files lie, and MLflow then reads and writes there
as the user that it runs as: any folder of this machine, any bucket that a key of its reaches. Here
an experiment's place is the server's choice, files are served from that store alone, also those of
experiments made by other means, and a version's source is within it too. A folder of the store is
listed as long as it has an end: MLflow makes the whole list, 200,000 names in 200 MB.
"""

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ricochet.tasks.registry.server_methods import checked, denial, refusal

SOURCES = "MLFLOW_CREATE_MODEL_VERSION_SOURCE_VALIDATION_REGEX"
OWN_SOURCES = r"^(?:mlflow-artifacts|runs|models):/|^(?:file://)?/"
"""Of a version; MLflow holds those on its disk against the run or model that they are of."""
MOST_FILES = 10_000
"""Of a folder that is listed."""


def confine(destination: str) -> None:
    """Keep this process's server within its store of files; its stores must be open.

    Args:
        destination: Where the files of the server lie, a `file:` URI or another.
    """
    from mlflow.server import handlers

    os.environ[SOURCES] = OWN_SOURCES
    store: Any = handlers._get_tracking_store()
    store.create_experiment = _placed(store.create_experiment)
    from mlflow.store.artifact.local_artifact_repo import LocalArtifactRepository

    checked(LocalArtifactRepository, "list_artifacts", refuse_endless)
    within: Any = handlers
    within._get_artifact_repository_for_uri = _served(
        within._get_artifact_repository_for_uri, destination
    )


def is_within(uri: str, destination: str) -> bool:
    """Tell whether a location is on this machine's disk, in the folder of a store of files."""
    from mlflow.utils.file_utils import local_file_uri_to_path
    from mlflow.utils.uri import is_local_uri

    if not (is_local_uri(uri) and is_local_uri(destination)):
        return False
    found, root = (Path(local_file_uri_to_path(each)).resolve() for each in (uri, destination))
    return found.is_relative_to(root) and found != root


def refuse_endless(given: dict[str, Any]) -> None:
    """Refuse to list a folder of very many files: `self` is what lists, below it a `path`."""
    folder = Path(given["self"].artifact_dir, given.get("path") or "")
    if folder.is_dir():
        with os.scandir(folder) as entries:
            if next(itertools.islice(entries, MOST_FILES, None), None) is not None:
                raise refusal(f"more than {MOST_FILES} files in a folder", "it listed by nobody")


def _placed(create: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes experiments where the server places them, and nowhere else."""

    def placed(name: str, artifact_location: str | None = None, tags: Any = None) -> Any:
        if artifact_location:
            raise denial("the place of an experiment is the server's to choose")
        return create(name, artifact_location, tags)

    return placed


def _served(repository: Callable[[str], Any], destination: str) -> Callable[[str], Any]:
    """Return what opens locations within the store of files alone."""

    def served(artifact_uri: str) -> Any:
        if not is_within(artifact_uri, destination):
            raise denial("files outside of the server's store")
        return repository(artifact_uri)

    return served
