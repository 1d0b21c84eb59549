"""SQLite databases copied while they are written, and moved to another folder.

SQLite's own online backup gives a copy as of one instant, whatever others write meanwhile.
"""

import contextlib
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import sync, writing

PLACES = ("artifact_location", "artifact_uri", "storage_location", "source", "artifact_root")
"""Columns of MLflow's tables that hold addresses of files."""

LARGEST = 2**26
"""Bytes of a value, so that no constraint or index of a database makes larger ones."""
MEMORY = 2**29
"""Bytes that SQLite takes in all, so that none makes many of them at once."""
SECONDS, STEPS = 600.0, 10_000
"""Of processor time for what is done with a database, whose pages may lead to one another; and
SQLite's steps between two looks at it, at which Ctrl-C is seen too."""

NAME = r'"?\w+"?'
TERM = rf"({NAME}( COLLATE \w+)?( DESC)?|coalesce\(\w+, \w+\)|json_extract\(\w+, '\$\.\w+'\))"
CONDITION = r"\w+ (= \w+|= '\w+'|IS NOT NULL)"
INDEX = re.compile(
    rf"CREATE (UNIQUE )?INDEX {NAME} ON {NAME} ?\({TERM}(, {TERM})*\)"
    rf"( WHERE {CONDITION}( AND {CONDITION})*)?",
    re.IGNORECASE,
)
"""One of columns; Prefect's have terms and conditions too, which make nothing large of them."""
CHANGED = r"OLD\.\w+ != NEW\.\w+"
TRIGGER = re.compile(
    rf"CREATE TRIGGER \w+ BEFORE UPDATE ON \w+ FOR EACH ROW WHEN {CHANGED}( OR {CHANGED})* "
    r"BEGIN SELECT RAISE\(ABORT, '[^']*'\); END"
)
"""One that only refuses a change, as MLflow's for its secrets."""
DIFFERENCE = re.compile(r"GENERATED ALWAYS AS \(\w+ - \w+\) STORED")
"""A column that is one, as MLflow's durations; within one line, so that no comment hides it."""


def copy(source: Path, target: Path) -> None:
    """Copy a database as of one instant into one file, on the disk when this returns.

    Raises:
        BadInput: It is no database, is damaged, or the disk is full.
    """
    with writing(target), refusing(source):
        with opened(source, read_only=True) as there, opened(target) as here:
            there.backup(here)
            here.execute("PRAGMA journal_mode=DELETE")
        check(target)
        sync(target)


def check(path: Path) -> None:
    """Refuse a database whose pages do not fit together, or whose values are computed."""
    with refusing(path), opened(path, read_only=True) as database:
        for (text,) in database.execute("SELECT CAST(sql AS TEXT) FROM sqlite_master"):
            if text and not _is_plain(text):
                raise sqlite3.DatabaseError(f"what is computed: {' '.join(text.split()):.100}")
        (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise BadInput(str(path), f"a damaged database ({said})", "an intact one")


def count(path: Path, table: str) -> int:
    """Return the number of rows of a table, 0 where there is none."""
    with refusing(path), opened(path, read_only=True) as database:
        if table not in tables(database):
            return 0
        return int(database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])


def column(path: Path, table: str, name: str) -> list[str]:
    """Return the texts in a column of a table, none where there is no such table."""
    with refusing(path), opened(path, read_only=True) as database:
        if table not in tables(database):
            return []
        rows = database.execute(f'SELECT "{name}" FROM "{table}" WHERE typeof("{name}") = \'text\'')
        return [str(text) for (text,) in rows]


def move(path: Path, before: str, after: str) -> int:
    """Let MLflow's database name files under another folder; returns how many places changed.

    Args:
        before: The folder as the database has it, absolute.
    """
    changed = 0
    with writing(path), refusing(path), opened(path) as database:
        for table, column in _places(database):
            for old, new in (
                (f"file://{before}/", f"file://{after}/"),
                (f"{before}/", f"{after}/"),
            ):
                row = (new, len(old) + 1, len(old), old)
                changed += database.execute(
                    f'UPDATE "{table}" SET "{column}" = ? || substr("{column}", ?) '
                    f'WHERE substr("{column}", 1, ?) = ?',
                    row,
                ).rowcount
        database.commit()
    sync(path)
    return changed


def tables(database: sqlite3.Connection) -> list[str]:
    """Return the names of the tables of a database."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [str(name) for (name,) in rows]


@contextlib.contextmanager
def opened(path: Path, *, read_only: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a database and close it; what it brings along runs nothing."""
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=60.0)) as database:
        watch = _Watch()
        database.set_progress_handler(watch, STEPS)
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
        database.execute(f"PRAGMA hard_heap_limit = {MEMORY}")
        database.execute("PRAGMA ignore_check_constraints = ON")  # one may take for ever
        database.set_authorizer(_by_nobody_else)
        try:
            yield database
        except sqlite3.Error as error:
            watch.raise_reason(error)
            raise


class _Watch:
    """Has SQLite give up after `SECONDS`, and where Ctrl-C comes, which SQLite forgets."""

    def __init__(self) -> None:
        self.end, self.late = time.thread_time() + SECONDS, False

    def __call__(self) -> bool:
        self.late = time.thread_time() > self.end
        return self.late

    def raise_reason(self, error: sqlite3.Error) -> None:
        """Raise why it was given up, if it was."""
        if self.late:
            raise sqlite3.OperationalError(f"more than {SECONDS:g} s of work") from error
        if str(error) == "interrupted":
            raise KeyboardInterrupt from error


def _by_nobody_else(_action: int, *given: str | None) -> int:
    """Refuse what a trigger or a view of the database would do.

    `PRAGMA trusted_schema=OFF` would refuse Prefect's own index by `json_extract`, which SQLite
    3.40 does not trust.
    """
    return sqlite3.SQLITE_OK if given[-1] is None else sqlite3.SQLITE_DENY


@contextlib.contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a file into bad input."""
    try:
        yield
    except (sqlite3.Error, MemoryError) as error:
        said = str(error) or f"more than {MEMORY} bytes of memory asked for"
        raise BadInput(str(path), said, "a database of MLflow or Prefect") from error


def _places(database: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    for table in tables(database):
        if '"' not in table:
            columns = {str(row[1]) for row in database.execute(f'PRAGMA table_info("{table}")')}
            found = sorted(columns & {*PLACES})
            yield from ((table, column) for column in found)


def _is_plain(text: str) -> bool:
    """Say whether a statement makes a table, or an index of its columns, and computes no values.

    Whatever else is said of it: SQLite goes by the statement alone. Views and virtual tables are
    none.

    >>> _is_plain("CREATE TABLE a (b TEXT)"), _is_plain("CREATE TABLE a (b AS (hex(c)))")
    (True, False)
    """
    if text.startswith("CREATE TABLE "):
        return not re.search(r"\bAS\b", DIFFERENCE.sub("", text), re.IGNORECASE)
    words = " ".join(text.split()).replace("( ", "(").replace(" )", ")")
    return bool(INDEX.fullmatch(words) or TRIGGER.fullmatch(words))
