"""A lab's state, whose registry its servers alone give, and which is where verbs look.

Its registry is in a database that they know, or its packages are at their addresses. Without them a
verb would find an empty store in its place, or call packages damaged, and write what nobody sees.
So `up --config` and `restore` say in the state that it is a lab's, and what else would stand for it
refuses. Which databases and packages are that lab's, `lab_places` tells.
"""

import contextlib
import dataclasses
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.lab_notes import home_of
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import read_bytes, shown, write_json
from ricochet.tasks.storage.provenance import ARTIFACTS, artifacts, workplace

MARK = "lab.json"
"""File of a state that says so."""
SCHEMA = "ricochet.lab/1"
EXPERIMENTS = "SELECT count(*) FROM experiments WHERE experiment_id != 0"
"""All but MLflow's own."""
FLOW_RUNS = "SELECT (SELECT count(*) FROM flow_run) + (SELECT count(*) FROM variable)"
FOUND = "a lab whose registry its servers alone give"


@dataclass(frozen=True)
class Mark:
    """What a state says of its lab's registry.

    Attributes:
        database: Whether it is in a database that a lab's file names, and not in the state.
        registry: Its id (`lab_places`); None before servers that know of it have started.
        places: Where it was last, in words, by keys of the lab's file.
        home: Where the state was then (`home_of`): one that is elsewhere was moved, or is a copy.
        starts: How many starts of its servers there were by then.
    """

    schema: str = SCHEMA
    database: bool = True
    registry: str | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    home: str = ""
    starts: int = 0


def write(state: Path, found: Mark) -> None:
    """Write what a state says of its lab's registry."""
    facts = asdict(dataclasses.replace(found, home=home_of(found.home)))
    write_json(state / MARK, {key: fact for key, fact in facts.items() if fact is not None})


def read(state: Path) -> Mark:
    """Return what a state says; that it has its registry itself where it says nothing.

    Raises:
        BadInput: What it says cannot be read.
    """
    path = state / MARK
    if not is_marked(state):
        return Mark(database=False)
    return checked_json.read(Mark, read_bytes(path, "a lab's mark"), str(path))


def original(state: Path) -> Path | None:
    """Return the state that one is a copy of, and which is there still with the same registry."""
    own = read(state)
    if own.registry is None or not own.home:
        return None
    home = Path(own.home)
    with contextlib.suppress(BadInput, OSError):
        if not home.samefile(state) and read(home).registry == own.registry:
            return home
    return None


def is_marked(state: Path) -> bool:
    """Tell whether a state says so."""
    return (state / MARK).exists()


def outputs(state: Path) -> list[Path]:
    """Return the folders in which a lab's sessions may be: its state, and where nights record.

    That is left out where it is another lab's, of which this one is a trial.
    """
    nights = workplace() / "artifacts"
    apart = is_marked(state) and nights.is_dir() and not is_marked(nights)
    return [state, nights] if apart else [state]


def refuse_marked(state: Path) -> None:
    """Refuse what knows no lab's file, servers or a backup, of a state that is a lab's.

    Raises:
        BadInput: So it is.
    """
    if is_marked(state):
        expected = f"`--config` with the lab's file; once all is elsewhere, no {MARK} there"
        raise BadInput(str(state), FOUND, expected)


def refuse_elsewhere(state: Path) -> None:
    """Refuse a lab's state that is not where verbs look: its registry would seem empty to them.

    Raises:
        BadInput: So it is.
    """
    if state.resolve() != artifacts():
        expected = f"{artifacts()}, where verbs look, or {ARTIFACTS}={state} for `up` and for them"
        raise BadInput("state", shown(state), expected)


def refuse_another_s_store(state: Path) -> None:
    """Refuse the store in a state in place of the database that has the registry.

    Raises:
        BadInput: The lab's servers had it in a database.
    """
    if read(state).database:
        expected = f"a file that names it (mlflow_database), or no {MARK} there"
        raise BadInput(str(state), "a lab whose registry is in a database", expected)


def refuse_another_registry(state: Path, *, database: bool) -> None:
    """Refuse a lab's servers where the registry that they would give is not the one that is there.

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
    own = is_marked(state) and read(state).database == database
    if not own and _count(store, EXPERIMENTS):
        found = "a registry that the lab's servers would not read"
        found = found if database else "a registry made without a lab's servers"
        expected = f"{store.parent} moved away, or another `state`"
        raise BadInput(str(store), found, expected)


def refuse_flow_runs(state: Path) -> None:
    """Refuse a database of Prefect's where flow runs or variables are in the state itself.

    Raises:
        BadInput: There are such, or what is there cannot be read.
    """
    store = state / "prefect" / "prefect.db"
    if not store.is_file() or not store.stat().st_size:
        return
    try:
        found = _asked(store, FLOW_RUNS)
    except sqlite3.Error as error:
        raise BadInput(str(store), str(error), "a store of Prefect's, or none") from error
    if found:
        hidden = f"one, beside {found} flow runs and variables in {store}, which it would hide"
        raise BadInput("prefect_database", hidden, f"none, or {store.parent} moved away")


def _count(database: Path, query: str) -> int:
    """Return what a query counts in a store of SQLite; none where there is no such store."""
    with contextlib.suppress(sqlite3.Error):
        return _asked(database, query)
    return 0


def _asked(database: Path, query: str) -> int:
    address = f"{database.resolve().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as store:
        return int(store.execute(query).fetchone()[0])


def refuse_without_servers(state: Path) -> None:
    """Refuse to go on where a state is a lab's and nothing says where its registry answers.

    Raises:
        BadInput: So it is.
    """
    if os.environ.get("MLFLOW_TRACKING_URI"):
        return
    if is_marked(state):
        expected = "`ricochet up --config FILE` to run, or MLFLOW_TRACKING_URI"
        if os.environ.get("PREFECT_API_URL"):  # addresses of an `up` that runs are not looked up
            expected = "MLFLOW_TRACKING_URI beside PREFECT_API_URL"
        raise BadInput(str(state), f"{FOUND}, and no servers of it", expected)
