"""Where a lab's registry is: databases and packages that belong together, and to one state.

An id is drawn when `up --config` first starts on a state. It stands in the state's mark
(`lab_state`), in each database of PostgreSQL and in the folder of packages, and goes with them to
another host, port or folder: what has the id is the lab's, by whatever address. A place where it
has been and is no more, or where another stands, is another lab's, or none. At each start it is
noted anew where the state is, and how many starts there were: of two copies of a state the first
that is started has the places, and a copy of a place that was left behind is known by its number.
A bucket holds no note; it is known by its address. What a restore makes is a lab of its own, with
an id of its own.
"""

import dataclasses
import functools
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import lab_databases, lab_state
from ricochet.tasks.registry.lab_databases import Database, Found
from ricochet.tasks.registry.lab_notes import Note, home_of
from ricochet.tasks.registry.lab_state import Mark
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import output_folder, read_bytes, shown, write_json

MLFLOW, PREFECT, STORE = "mlflow_database", "prefect_database", "artifact_store"
"""Keys of a lab's file that name them."""
NOTE = "ricochet-lab.json"
"""File in a folder of packages, which no server hands out or takes: it is no run's."""
SCHEMA = "ricochet.lab-packages/1"


class Place(Protocol):
    """A database or the packages, as a lab's file names them."""

    @property
    def key(self) -> str:
        """The key of the lab's file."""

    @property
    def shown(self) -> str:
        """Where it is, in words."""

    @property
    def removal(self) -> str:
        """What removes the note, in words."""

    def noted(self, mark: Mark) -> Note | None:
        """Return the note there; None where there is none."""

    def note(self, note: Note) -> None:
        """Write a note there."""


@dataclass(frozen=True)
class Tables:
    """A database of PostgreSQL, which is looked at once."""

    key: str
    database: Database

    @functools.cached_property
    def found(self) -> Found:
        """What it held when it was first looked at; BadInput as `Database.look`."""
        return self.database.look()

    @property
    def shown(self) -> str:
        """As `Place` has it."""
        return self.database.shown

    @property
    def removal(self) -> str:
        """As `Place` has it."""
        return f"`DELETE FROM {lab_databases.TABLE}` there"

    def noted(self, _mark: Mark) -> Note | None:
        """As `Place` has it."""
        return self.found.note

    def note(self, note: Note) -> None:
        """As `Place` has it."""
        self.database.note(note, before=self.found.note)


@dataclass(frozen=True)
class Folder:
    """A folder of packages."""

    path: Path
    key: str = STORE

    @property
    def shown(self) -> str:
        """As `Place` has it."""
        return shown(self.path)

    @property
    def removal(self) -> str:
        """As `Place` has it."""
        return f"no {NOTE} there"

    def noted(self, _mark: Mark) -> Note | None:
        """As `Place` has it."""
        file = self.path / NOTE
        if not file.exists():
            return None
        return checked_json.read(Note, read_bytes(file, "a note"), str(file))

    def note(self, note: Note) -> None:
        """As `Place` has it."""
        write_json(output_folder(self.path) / NOTE, {"schema": SCHEMA, **asdict(note)})


@dataclass(frozen=True)
class Bucket:
    """A store in S3; where it is stands in the mark alone."""

    address: str
    key: str = STORE

    @property
    def shown(self) -> str:
        """As `Place` has it."""
        return self.address

    @property
    def removal(self) -> str:
        """As `Place` has it."""
        return f"no {STORE} in {lab_state.MARK}"

    def noted(self, mark: Mark) -> Note | None:
        """As `Place` has it."""
        own = mark.registry is not None and mark.places.get(STORE) == self.address
        return Note(str(mark.registry), home_of(mark.home), mark.starts) if own else None

    def note(self, _note: Note) -> None:
        """As `Place` has it."""


def of_lab(
    state: Path,
    databases: Mapping[str, str],
    store: str,
    *,
    passwords: Path | None,
    patience: float = 0.0,
) -> list[Place]:
    """Return the places of a lab's registry beside its state.

    Args:
        databases: Addresses of PostgreSQL by the key that names them; empty where there is none.
        store: As `artifact_store`: a folder, an address in S3, or nothing.
        passwords: libpq's password file.
        patience: For how long PostgreSQL may be starting, s.
    """
    stated = {key: address for key, address in databases.items() if address}
    tables = [Tables(key, Database(each, passwords, patience)) for key, each in stated.items()]
    own = state / "mlflow" / "artifacts"
    return [*tables, Bucket(store) if "://" in store else Folder(Path(store) if store else own)]


def refuse_others(state: Path, places: Sequence[Place]) -> None:
    """Refuse places of another lab, and such as are not those that a state was with.

    Raises:
        BadInput: So it is, or the state is a copy of one that is there still, or MLflow and Prefect
            have exchanged databases, or one for both.
    """
    refuse_mixed(places)
    mark = lab_state.read(state)
    _refuse_copy(state, places)
    for place in places:
        _refuse_another(state, mark, place)
        _refuse_a_former(state, mark, place)
    for key in mark.places.keys() - {place.key for place in places}:
        raise BadInput(key, "none", _expected(state, mark, key))
    if PREFECT not in mark.places and any(place.key == PREFECT for place in places):
        lab_state.refuse_flow_runs(state)


def refuse_mixed(places: Sequence[Place]) -> None:
    """Refuse one database for MLflow and Prefect, and each with the other's tables.

    Raises:
        BadInput: So it is, or a database does not answer.
    """
    tables = {each.key: each for each in places if isinstance(each, Tables)}
    mlflow, prefect = tables.get(MLFLOW), tables.get(PREFECT)
    if mlflow and mlflow.found.prefect:
        raise BadInput(MLFLOW, f"{mlflow.shown}, a database of Prefect's", "MLflow's")
    if prefect and prefect.found.mlflow:
        raise BadInput(PREFECT, f"{prefect.shown}, a database of MLflow's", "Prefect's")
    if mlflow and prefect and mlflow.found.identity == prefect.found.identity:
        expected = "a database of its own: each makes tables that the other has, too"
        raise BadInput(PREFECT, f"{prefect.shown}, the one of MLflow", expected)


def take(state: Path, places: Sequence[Place], *, database: bool) -> None:
    """Have a state, which is marked as a lab's, and the places of its registry belong together.

    Args:
        database: As `lab_state.Mark` has it.

    Raises:
        BadInput: As `refuse_others`, or a place cannot be written.
    """
    refuse_others(state, places)
    mark = lab_state.read(state)
    registry = mark.registry or new_id()
    found = dataclasses.replace(mark, database=database, registry=registry)
    lab_state.write(state, found)
    note = Note(registry, home_of(state.resolve()), mark.starts + 1)
    for place in places:
        place.note(note)
    stated = {place.key: place.shown for place in places}
    home = str(state.resolve())
    taken = dataclasses.replace(found, places=stated, home=home, starts=note.starts)
    lab_state.write(state, taken)


def new_id() -> str:
    """Draw the id of a registry."""
    return uuid.uuid4().hex


def _refuse_copy(state: Path, places: Sequence[Place]) -> None:
    """Refuse a copy of a state that is there still, unless all that it names was copied with it."""
    apart = [p for p in places if not (isinstance(p, Folder) and p.path.is_relative_to(state))]
    original = lab_state.original(state) if apart else None
    if original is not None:
        found = f"{shown(state)}, a copy of {shown(original)}, whose {apart[0].key} it names"
        expected = "that one; once it is gone, this one; or what `ricochet restore` makes elsewhere"
        raise BadInput("state", found, expected)


def _refuse_another(state: Path, mark: Mark, place: Place) -> None:
    """Refuse a place of another state, and one that lost its note."""
    noted = place.noted(mark)
    if noted is None and place.key in mark.places:
        found = f"{place.shown}, which is not what {state} was with"
        raise BadInput(place.key, found, _expected(state, mark, place.key))
    if noted is not None and noted.registry != mark.registry:
        found = f"{place.shown}, which is with another `state` than {state}"
        expected = f"that `state`; or, once it is gone, {place.removal}"
        raise BadInput(place.key, found, expected)


def _refuse_a_former(state: Path, mark: Mark, place: Place) -> None:
    """Refuse a place that a copy of the state has taken, and one that was left behind by a move."""
    noted, file = place.noted(mark), state / lab_state.MARK
    if noted is None:
        return
    if noted.home not in ("", home_of(state.resolve()), home_of(mark.home)):
        found = f"{place.shown}, which has been with {noted.home} since then"
        expected = (
            f"that `state`; or, once it is gone, {place.removal} and no {place.key} in {file}"
        )
        raise BadInput(place.key, found, expected)
    last = mark.places.get(place.key, place.shown)
    if noted.starts < mark.starts and last != place.shown:
        found = f"{place.shown}, as it was before {last} was last used"
        expected = f"{last}; or, to go on with what is older, no {place.key} in {file}"
        raise BadInput(place.key, found, expected)


def _expected(state: Path, mark: Mark, key: str) -> str:
    return f"{mark.places[key]}; or, to begin with another, no {key} in {state / lab_state.MARK}"
