"""PostgreSQL databases dumped as of one instant while they are written, and put back whole.

PostgreSQL's own programs do it, of the version that is installed. An address names no password:
libpq reads it from its password file, so that it stands in no list of processes.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import sync

TABLES = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " \
    "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')"  # fmt: skip

ACCOUNTS = ("users", "roles", "user_role_assignments", "*_permissions", "alembic_version_auth")
"""Tables of MLflow's accounts, passwords' digests among them; `ricochet up` makes them anew."""


@dataclass(frozen=True)
class Server:
    """A database.

    Attributes:
        address: `postgresql://user@host/name`.
        passwords: libpq's password file; None is the user's own.
    """

    address: str
    passwords: Path | None = None

    def dump(self, target: Path) -> None:
        """Write all but accounts to a file, on the disk when this returns; BadInput if not."""
        without = (f"--exclude-table={name}" for name in ACCOUNTS)
        self._run("pg_dump", "--format=custom", "--no-owner", f"--file={target}", *without)
        sync(target)

    def refuse_unless_empty(self) -> None:
        """Refuse to put something into a database that holds tables."""
        if (found := self.ask(TABLES)) != "0":
            raise BadInput(
                self.address, f"{found} tables", "an empty database (`dropdb`, `createdb`)"
            )

    def put_back(self, dump: Path) -> None:
        """Put a dump back, all of it or nothing."""
        whole = ("--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges")
        self._run("pg_restore", *whole, str(dump))

    def empty(self) -> None:
        """Remove all tables that were put back into a database that was empty."""
        self.ask("DROP SCHEMA public CASCADE; CREATE SCHEMA public")

    def count(self, table: str) -> int:
        """Count the rows of a table; 0 where there is none."""
        if self.ask(f"SELECT to_regclass('{table}') IS NOT NULL") != "t":
            return 0
        return int(self.ask(f"SELECT count(*) FROM {table}"))

    def size(self) -> float:
        """Return the bytes of the whole database; a dump has fewer."""
        return float(self.ask("SELECT pg_database_size(current_database())"))

    def ask(self, query: str) -> str:
        """Return what a query answers, in one text."""
        return self._run("psql", "--no-psqlrc", "--tuples-only", "--no-align", f"--command={query}")

    def _run(self, program: str, *words: str) -> str:
        own = {} if self.passwords is None else {"PGPASSFILE": str(self.passwords)}
        command = [program, "--no-password", f"--dbname={self.address}", *words]
        try:
            done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise BadInput(
                program, "no such program", "PostgreSQL's (`postgresql-client`)"
            ) from error
        if done.returncode:
            said = " ".join(done.stderr.split())[:300]
            raise BadInput(self.address, said, f"what {program} can do")
        return done.stdout.strip()
