"""A lab's state, whose registry its servers alone give, or which is not where verbs look.

Its registry is in a database that they know, or its packages are at their addresses. Without them a
verb would find an empty store in its place, or call packages damaged, and write what nobody sees.
So `up --config` and `restore` say in the state that it is a lab's, and what else would stand for it
refuses; where the state is not the folder of outputs, `up` says there where it is.
"""

import contextlib
import os
import sqlite3
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import ARTIFACTS, artifacts

MARK, ELSEWHERE = "lab.json", "lab_elsewhere.json"
"""File of a state that says so, and file of outputs that says where the state is."""
FOUND = "a lab whose registry its servers alone give"


def mark(state: Path, *, database: bool) -> None:
    """Say in a state that its lab's servers alone give the registry.

    Args:
        database: Whether it is in a database that a lab's file names, and not in the state.
    """
    write_json(state / MARK, {"schema": "ricochet.lab/1", "database": database})


def is_marked(state: Path) -> bool:
    """Tell whether a state says so."""
    return (state / MARK).exists()


def refuse_marked(state: Path) -> None:
    """Refuse what knows no lab's file, servers or a backup, of a state that is a lab's.

    Raises:
        BadInput: So it is, or the lab's state is elsewhere.
    """
    if is_marked(state):
        expected = f"`--config` with the lab's file; once all is elsewhere, no {MARK} there"
        raise BadInput(str(state), FOUND, expected)
    refuse_elsewhere(state)


def refuse_elsewhere(state: Path) -> None:
    """Refuse outputs that nobody chose, of a lab whose state is elsewhere.

    Raises:
        BadInput: So they are.
    """
    if not os.environ.get(ARTIFACTS) and (state / ELSEWHERE).exists():
        there = str(dict(checked_json.load(state / ELSEWHERE)).get("state"))
        expected = f"{ARTIFACTS}={there}, or no {ELSEWHERE} there"
        raise BadInput(str(state), "outputs of a lab whose state is elsewhere", expected)


def refuse_another_s_store(state: Path) -> None:
    """Refuse the store in a state in place of the database that has the registry.

    Raises:
        BadInput: The lab's servers had it in a database.
    """
    if _is_in_a_database(state):
        expected = f"a file that names it (mlflow_database), or no {MARK} there"
        raise BadInput(str(state), "a lab whose registry is in a database", expected)


def refuse_another_registry(state: Path, *, database: bool) -> None:
    """Refuse a lab's servers where the registry that they would give is not the one there is.

    That is one in a database of which the lab's file no longer knows, or a filled store that those
    servers did not make or would not read.

    Args:
        database: Whether the lab's file names a database.

    Raises:
        BadInput: So it is.
    """
    if not database:
        refuse_another_s_store(state)
    store = state / "mlflow" / "mlflow.db"
    own = is_marked(state) and _is_in_a_database(state) == database
    if not own and store.exists() and _experiments(store):
        found = "a registry that the lab's servers would not read"
        found = found if database else "a registry made without a lab's servers"
        raise BadInput(str(store), found, "another `state`, or none there")


def _is_in_a_database(state: Path) -> bool:
    said = dict(checked_json.load(state / MARK)) if is_marked(state) else {"database": False}
    return said.get("database") is not False


def _experiments(database: Path) -> int:
    """Return how many experiments a store holds, but for MLflow's own; none where it is none."""
    query = "SELECT count(*) FROM experiments WHERE experiment_id != 0"
    address = f"{database.resolve().as_uri()}?mode=ro"
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(address, uri=True)) as store,
    ):
        return int(store.execute(query).fetchone()[0])
    return 0


def point_to(state: Path) -> None:
    """Say in the folder of outputs that the lab's state is elsewhere.

    Not in one that was chosen, nor in another lab's state.
    """
    if os.environ.get(ARTIFACTS) or (state.resolve() != artifacts() and is_marked(artifacts())):
        return
    if state.resolve() == artifacts():
        (artifacts() / ELSEWHERE).unlink(missing_ok=True)
        return
    said = {"schema": "ricochet.lab-elsewhere/1", "state": str(state.resolve())}
    write_json(output_folder(artifacts()) / ELSEWHERE, said)


def refuse_without_servers(state: Path) -> None:
    """Refuse to go on where a state is a lab's and nothing says where its registry answers.

    Raises:
        BadInput: So it is, or the lab's state is elsewhere.
    """
    if os.environ.get("MLFLOW_TRACKING_URI"):
        return
    if is_marked(state):
        expected = "`ricochet up --config FILE` to run, or MLFLOW_TRACKING_URI"
        raise BadInput(str(state), f"{FOUND}, and no servers of it", expected)
    refuse_elsewhere(state)
