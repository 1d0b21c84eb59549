"""Which versions of the registry a backup has without the files of their packages.

A version names its package by the run that made it, `runs:/RUN/package`, whose files lie in
`mlflow/artifacts/EXPERIMENT/RUN/artifacts/package`. Versions from elsewhere are not looked at.
"""

from pathlib import Path, PurePosixPath

from ricochet.tasks.backups import contents, databases, postgres
from ricochet.tasks.backups.manifests import Backup

TABLE, COLUMN = "model_versions", "source"
OF_RUN = "runs:/"
DEPTH = 3
"""Folders of a run's files: `EXPERIMENT/RUN/artifacts`."""


def missing(folder: Path, made: Backup) -> int:
    """Count the versions of a backup whose package it does not hold.

    Raises:
        BadInput: Its database cannot be read.
    """
    held = {each for name in made.files for each in _folders(name)}
    named = (each.removeprefix(OF_RUN) for each in _sources(folder) if each.startswith(OF_RUN))
    return sum(each.rstrip("/") not in held for each in named)


def _folders(name: str) -> list[str]:
    """Return the folders that a file of a run is in, as versions name them.

    >>> _folders("mlflow/artifacts/1/ab12/artifacts/package/posterior.json")
    ['ab12/package']
    """
    path = PurePosixPath(name)
    parts = path.parts[len(PurePosixPath(contents.PACKAGES).parts) :]
    if not name.startswith(f"{contents.PACKAGES}/") or len(parts) <= DEPTH:
        return []
    run, below = parts[1], PurePosixPath(*parts[DEPTH:])
    return [f"{run}/{each}" for each in below.parents if each.parts]


def _sources(folder: Path) -> list[str]:
    dump, file = folder / contents.DUMPS[contents.MLFLOW], folder / contents.MLFLOW
    if dump.is_file():
        return postgres.column(dump, TABLE, COLUMN)
    return databases.column(file, TABLE, COLUMN) if file.is_file() else []
