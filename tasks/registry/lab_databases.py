"""What a database of PostgreSQL holds, and the note in it of which lab's registry it is part of.

The note is a table of one row beside those of MLflow or Prefect, and goes with them wherever the
database is moved. It is asked for as MLflow asks, by psycopg2: a lab's servers need no `psql`.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import database_address

TABLE = "ricochet_lab"
HOLDS = f"""
SELECT (SELECT relkind = 'r' AND NOT relrowsecurity FROM pg_class WHERE oid =
to_regclass('{TABLE}')), to_regclass('registered_models') IS NOT NULL,
to_regclass('flow_run') IS NOT NULL, concat_ws(' ', pg_postmaster_start_time(), oid,
current_schema()) FROM pg_database WHERE datname = current_database()
"""
CONNECTING = 10
"""Longest time that one attempt to connect takes, s."""
OPTIONS = "-c statement_timeout=60s"
FOR_GOOD = "FATAL:"
"""How a server says that it does not take who comes; one that is not up yet says nothing, or so:"""
SOON = ("starting up", "shutting down", "in recovery", "not yet accepting connections")


@dataclass(frozen=True)
class Found:
    """What a database holds.

    Attributes:
        registry: The registry that it is part of, by its note; None where there is none.
        mlflow, prefect: Whether it has MLflow's tables, or Prefect's.
        identity: Of the running server, the database and the schema, whatever address leads there.
    """

    registry: str | None
    mlflow: bool
    prefect: bool
    identity: str


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
        (noted, mlflow, prefect, identity), *_ = self._ask(HOLDS)
        if noted is False:  # whoever reads one would run what another role put into it
            raise BadInput(f"{self.shown} {TABLE}", "no plain table", "that, or none")
        rows = self._ask(f"SELECT registry FROM {TABLE} LIMIT 1") if noted else []
        return Found(str(rows[0][0]) if rows else None, mlflow, prefect, identity)

    def note(self, registry: str) -> None:
        """Note which registry it is part of; BadInput where that cannot be written."""
        self._ask(statements(registry))

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        import psycopg2

        connection = None
        try:
            connection = self._connected()
            with connection, connection.cursor() as cursor:
                cursor.execute(query)
                return list(cursor.fetchall()) if cursor.description else []
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
        words |= {"connect_timeout": CONNECTING, "options": OPTIONS}
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


def statements(registry: str) -> str:
    """Return what makes the note in a database, for a program of PostgreSQL's too.

    Args:
        registry: Hexadecimal digits.

    Raises:
        ValueError: They are others.
    """
    int(registry, 16)
    return (
        f"CREATE TABLE IF NOT EXISTS {TABLE} (registry text NOT NULL);\nDELETE FROM {TABLE};\n"
        f"INSERT INTO {TABLE} VALUES ('{registry}');"
    )
