"""A lab's state whose registry is in a database that its servers alone know.

Without them a verb would find a store of MLflow's own in its place, empty, and write there what
nobody sees. So `up` says in the state that it is a lab's, and what else would stand for it refuses.
"""

import os
from pathlib import Path

from ricochet.flows.servers.lab import Lab
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import write_json

MARK = "lab.json"
"""File of a state that says so."""


def mark(lab: Lab) -> None:
    """Say in the state of a lab that its registry is in a database.

    Raises:
        BadInput: It is such a state, and this lab's file states no database.
    """
    if lab.mlflow_database:
        write_json(lab.state / MARK, {"schema": "ricochet.lab/1", "registry": "a database"})
    elif (lab.state / MARK).exists():
        expected = f"`--config` with the lab's file; once all is elsewhere, no {MARK} there"
        raise BadInput(str(lab.state), "a lab whose registry is in a database", expected)


def refuse_without_servers(state: Path) -> None:
    """Refuse to go on where a state is a lab's and nothing says where its registry answers.

    Raises:
        BadInput: So it is.
    """
    if (state / MARK).exists() and not os.environ.get("MLFLOW_TRACKING_URI"):
        expected = "`ricochet up --config FILE` to run, or MLFLOW_TRACKING_URI"
        found = "a lab whose registry is in a database, and no servers of it"
        raise BadInput(str(state), found, expected)
