"""A lab's state whose registry is in a database that its servers alone know, or that is elsewhere.

Without them a verb would find a store of MLflow's own in its place, empty, and write there what
nobody sees. So `up` and `restore` say in the state that it is a lab's, and what else would stand
for it refuses; where the state is not the folder of outputs, `up` says there where it is.
"""

import os
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import ARTIFACTS, artifacts

MARK, ELSEWHERE = "lab.json", "lab_elsewhere.json"
"""File of a state that says so, and file of outputs that says where the state is."""


def mark(state: Path) -> None:
    """Say in a state that its registry is in a database."""
    write_json(state / MARK, {"schema": "ricochet.lab/1", "registry": "a database"})


def refuse_marked(state: Path) -> None:
    """Refuse servers of a registry of their own where it is in a database.

    Raises:
        BadInput: So it is.
    """
    if (state / MARK).exists():
        expected = f"`--config` with the lab's file; once all is elsewhere, no {MARK} there"
        raise BadInput(str(state), "a lab whose registry is in a database", expected)


def point_to(state: Path) -> None:
    """Say in the folder of outputs, unless it was chosen, that the lab's state is elsewhere."""
    if os.environ.get(ARTIFACTS):
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
    if (state / MARK).exists():
        expected = "`ricochet up --config FILE` to run, or MLFLOW_TRACKING_URI"
        found = "a lab whose registry is in a database, and no servers of it"
        raise BadInput(str(state), found, expected)
    if not os.environ.get(ARTIFACTS) and (state / ELSEWHERE).exists():
        there = str(dict(checked_json.load(state / ELSEWHERE)).get("state"))
        expected = f"{ARTIFACTS}={there}, or no {ELSEWHERE} there"
        raise BadInput(str(state), "outputs of a lab whose state is elsewhere", expected)
