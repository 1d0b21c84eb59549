"""What a database of PostgreSQL holds, and the note in it of which lab's registry it is part of.

The note is a table of one row beside those of MLflow or Prefect, and goes with them wherever the
database is moved. It is asked for as MLflow asks, by psycopg2: a lab's servers need no `psql`.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import lab_notes
from ricochet.tasks.registry.lab_notes import Note
from ricochet.tasks.storage import checked_json, database_address

TABLE = "ricochet_lab"
PLAIN = """relkind = 'r' AND NOT relrowsecurity AND NOT relhastriggers AND NOT relhasrules
AND relchecks = 0 AND NOT EXISTS (SELECT FROM pg_attrdef WHERE adrelid = pg_class.oid)
AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid
AND (indexprs IS NOT NULL OR indpred IS NOT NULL)) AND NOT EXISTS (SELECT FROM pg_attribute
WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
AND atttypid NOT IN ('text'::regtype, 'bigint'::regtype))"""
"""What of `pg_class` is a table that runs nothing of its owner's when it is read or written."""
HOLDS = f"""
SELECT (SELECT {PLAIN} FROM pg_class WHERE oid = to_regclass('{TABLE}')),
to_regclass('registered_models') IS NOT NULL, to_regclass('flow_run') IS NOT NULL,
concat_ws(' ', pg_postmaster_start_time(), oid, current_schema()),
(SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('{TABLE}') AND NOT attisdropped
AND attname IN ('home', 'starts')) = 2 FROM pg_database WHERE datname = current_database()
"""
NOTED = f"""
SELECT left(pg_catalog.jsonb_strip_nulls(pg_catalog.to_jsonb(t))::text, {lab_notes.LONGEST})
FROM ONLY {TABLE} t LIMIT 1
"""
MADE = f"CREATE TABLE {TABLE} (registry text NOT NULL, home text, starts bigint)"
COMPLETED = f"ALTER TABLE {TABLE} ADD home text, ADD starts bigint"
ALONE = f"LOCK TABLE ONLY {TABLE} IN SHARE ROW EXCLUSIVE MODE"
"""Whoever notes something waits for who does so already; who reads or dumps it for nobody."""
BOUNDED = "SET LOCAL statement_timeout = '60s'; SET LOCAL standard_conforming_strings = on"
CONNECTING = 10
"""Longest time that one attempt to connect takes, s."""
FOR_GOOD = "FATAL:"
"""How a server says that it does not take who comes; one that is not up yet says nothing, or so:"""
SOON = ("starting up", "shutting down", "in recovery", "not yet accepting connections")


@dataclass(frozen=True)
class Found:
    """What a database holds.

    Attributes:
        note: Of which registry it is part; None where there is none.
        mlflow, prefect: Whether it has MLflow's tables, or Prefect's.
        identity: Of the running server, the database and the schema, whatever address leads there.
        complete: Whether the table of the note has all its columns; None where there is no table.
    """

    note: Note | None
    mlflow: bool
    prefect: bool
    identity: str
    complete: bool | None


@dataclass(frozen=True)
class Database:
    """A database.

    Attributes:
        address: `postgresql://user@host/name`.
        passwords: libpq's password file; None, and where there is none, is the user's own.
        patience: For how long it may be starting, s.
    """

    address: str
    passwords: Path | None = None
    patience: float = 0.0

    @property
    def shown(self) -> str:
        """Where it is, without who connects."""
        return database_address.place(self.address)

    def look(self) -> Found:
        """Return what it holds; BadInput where it does not answer, or its note is no table."""
        with self._cursor() as cursor:
            return self._found(cursor)

    def note(self, note: Note, *, before: Note | None) -> None:
        """Note of which registry it is part.

        Args:
            before: What was noted when it was looked at.

        Raises:
            BadInput: Something else is by now, or it cannot be written.
        """
        with self._cursor() as cursor:
            found = self._found(cursor)
            if not found.complete:
                cursor.execute(MADE if found.complete is None else COMPLETED)
            cursor.execute(ALONE)
            if self._found(cursor).note != before:
                raise BadInput(self.shown, "one that another `up` takes now", "one at a time")
            cursor.execute(f"DELETE FROM ONLY {TABLE};\n{_filled(note)}")

    def _found(self, cursor: Any) -> Found:
        cursor.execute(HOLDS)
        noted, mlflow, prefect, identity, complete = cursor.fetchone()
        if noted is False:  # whoever reads one would run what another role put into it
            raise BadInput(f"{self.shown} {TABLE}", "no plain table", "that, or none")
        if noted:
            cursor.execute(NOTED)
        rows = cursor.fetchall() if noted else []
        note = checked_json.read(Note, rows[0][0], f"{self.shown} {TABLE}") if rows else None
        return Found(note, mlflow, prefect, identity, None if noted is None else complete)

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Yield a cursor of a transaction, which ends with the block."""
        import psycopg2

        connection = None
        try:
            connection = self._connected()
            with connection, connection.cursor() as cursor:
                cursor.execute(BOUNDED)
                yield cursor
        except psycopg2.Error as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise BadInput(self.shown, said, "a database that answers") from error
        finally:
            if connection is not None:
                connection.close()

    def _connected(self) -> Any:
        """Connect, again and again while it may be starting."""
        import psycopg2

        known = self.passwords is not None and self.passwords.exists()
        words: dict[str, Any] = {"passfile": str(self.passwords)} if known else {}
        words["connect_timeout"] = CONNECTING
        end = time.monotonic() + self.patience
        while True:
            try:
                return psycopg2.connect(self.address, **words)
            except psycopg2.OperationalError as error:
                soon = any(words in str(error) for words in SOON)
                for_good = FOR_GOOD in str(error) and not soon
                if for_good or time.monotonic() >= end:
                    raise
            time.sleep(0.5)


def statements(note: Note) -> str:
    """Return what makes the note in a database, for a program of PostgreSQL's too.

    A table of that name is removed, which only its owner may do.

    Raises:
        ValueError: The id is none, or the place no text.
    """
    plain = "SET LOCAL standard_conforming_strings = on"
    return f"{plain};\nDROP TABLE IF EXISTS {TABLE};\n{MADE};\n{_filled(note)}"


def _filled(note: Note) -> str:
    """Return what writes the note into its table."""
    int(note.registry, 16)
    if "\0" in note.home:
        raise ValueError("a place with a zero in it")
    home = note.home.replace("'", "''")
    return (
        f"INSERT INTO {TABLE} (registry, home, starts)"
        f" VALUES ('{note.registry}', '{home}', {note.starts:d});"
    )
