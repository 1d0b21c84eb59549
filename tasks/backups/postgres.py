"""PostgreSQL databases dumped as of one instant while they are written, and put back whole.

PostgreSQL's own programs do it, of the version that is installed. An address names no password:
libpq reads it from its password file, so that it stands in no list of processes.

What psql is given of a dump are statements alone: a backslash in it would be a command of the
machine's. `pg_restore` keeps psql from those since `postgres_programs.SAFE`.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import postgres_programs
from ricochet.tasks.registry import lab_databases
from ricochet.tasks.storage.files import sync

TABLES = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " \
    "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') " \
    f"AND c.relname <> '{lab_databases.TABLE}'"  # fmt: skip
"""How many tables a database has, beside the note of a lab."""

TRANSACTION = "pg_catalog.txid_current()"
"""Which transaction it is, whatever a dump says where names are looked for."""
ACCOUNTS = ("users", "roles", "user_role_assignments", "*_permissions", "alembic_version_auth")
"""Tables of MLflow's accounts, passwords' digests among them; `ricochet up` makes them anew."""
SECONDS = 60
"""That a query may take: counting the rows of a table is quick."""
TABLE = "relkind IN ('r', 'p') AND NOT relrowsecurity"
"""What of `pg_class` is a table whose rows are counted without a function of a dump's."""
BOUNDED = ("client_min_messages = error", f"statement_timeout = '{SECONDS}s'")
PLAIN = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--set=VERBOSITY=terse")


@dataclass(frozen=True)
class Server:
    """A database.

    Attributes:
        address: `postgresql://user@host/name`.
        passwords: libpq's password file; None, and where there is none, is the user's own.
    """

    address: str
    passwords: Path | None = None

    @property
    def known_passwords(self) -> Path | None:
        """Libpq's password file, if it is there."""
        there = self.passwords is not None and self.passwords.exists()
        return self.passwords if there else None

    def dump(self, target: Path) -> None:
        """Write all but accounts and the note of a lab to a file, on the disk when this returns.

        Raises:
            BadInput: It cannot be written.
        """
        without = (f"--exclude-table={name}" for name in (*ACCOUNTS, lab_databases.TABLE))
        self._run("pg_dump", "--format=custom", "--no-owner", f"--file={target}", *without)
        sync(target)

    def refuse_unless_empty(self) -> None:
        """Refuse to put something into a database that holds tables."""
        if (found := self.ask(TABLES)) != "0":
            raise BadInput(self.address, f"{found} tables", "an empty database (`createdb`)")

    @contextlib.contextmanager
    def put_back(self, dump: Path, *, tables: Iterable[str] = (), then: str = "") -> Iterator[None]:
        """Put a dump back in a transaction that is committed when the block has ended.

        With an error, or killed before that, the database is as it was.

        Args:
            tables: Names that nothing but a table may have.
            then: Statements that follow, in the same transaction.

        Raises:
            BadInput: It cannot be put back, or `pg_restore` would let it run commands.
        """
        version = postgres_programs.run(["pg_restore", "--version"], None, self.address)
        postgres_programs.refuse_unsafe(version)
        with tempfile.TemporaryFile() as errors, self._session(errors) as psql:
            _say(psql, f"BEGIN;\nSELECT {TRANSACTION} AS begun \\gset")
            self._fill(psql, dump)
            _say(psql, f"SELECT {TRANSACTION} OPERATOR(pg_catalog.=) :begun AS same \\gset")
            _say(psql, f"SET LOCAL search_path = pg_catalog, pg_temp;\n{_others(tables)} \\gset")
            self._refuse_unless_filled(self._await(psql, errors, "filled :same :others"))
            if then:
                _say(psql, f"RESET search_path;\n{then}")
                self._await(psql, errors, "done")
            yield
            _say(psql, "COMMIT;")
            self._await(psql, errors, "committed")

    def count(self, table: str) -> int:
        """Count the rows of a table; 0 where there is none."""
        named = f"pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('{table}')"
        if self.ask(f"SELECT pg_catalog.count(*) FROM {named} AND {TABLE}") != "1":
            return 0
        return int(self.ask(f"SELECT pg_catalog.count(*) FROM {table}"))

    def size(self) -> float:
        """Return the bytes of the whole database; a dump has fewer."""
        return float(self.ask("SELECT pg_database_size(current_database())"))

    def ask(self, query: str) -> str:
        """Return what a query answers, in one text."""
        bounds = (f"--command=SET {each}" for each in BOUNDED)
        words = (*PLAIN, "--tuples-only", "--no-align", *bounds, f"--command={query}")
        return self._run("psql", *words)

    def _run(self, program: str, *words: str) -> str:
        command = self._command(program, *words)
        return postgres_programs.run(command, self._variables(), self.address)

    def _session(
        self, errors: IO[bytes]
    ) -> contextlib.AbstractContextManager["subprocess.Popen[bytes]"]:
        """Start psql, which executes what it is given and ends at the first error."""
        command, pipe = self._command("psql", *PLAIN, "--output=/dev/null"), subprocess.PIPE
        return postgres_programs.started(
            command, self._variables(), errors, stdin=pipe, stdout=pipe
        )

    def _fill(self, psql: "subprocess.Popen[bytes]", dump: Path) -> None:
        """Have psql execute a dump; what it says of that is waited for afterwards."""
        command = ["pg_restore", "--no-owner", "--no-privileges", "--file=-", str(dump)]
        with tempfile.TemporaryFile() as errors:
            with postgres_programs.started(command, None, errors, stdout=psql.stdin) as program:
                program.wait()
            if program.returncode not in (0, -signal.SIGPIPE):  # psql says why it has ended
                raise postgres_programs.failed(self.address, program, errors)

    def _refuse_unless_filled(self, found: str) -> None:
        _, same, *others = found.split()
        if same != "t":
            expected = "none that ends its transaction; empty the database (`dropdb`)"
            raise BadInput(self.address, "a dump that has committed", expected)
        if others:
            raise BadInput(
                self.address, f"no plain table: {others[0]}", "a dump of MLflow or Prefect"
            )

    def _await(self, psql: "subprocess.Popen[bytes]", errors: IO[bytes], words: str) -> str:
        """Wait until psql has executed all that it was given and says some words."""
        _say(psql, f"\\echo {words}")
        assert psql.stdout is not None
        if found := psql.stdout.readline().decode().strip():
            return found
        raise postgres_programs.failed(self.address, psql, errors)

    def _command(self, program: str, *words: str) -> list[str]:
        return [program, "--no-password", f"--dbname={self.address}", *words]

    def _variables(self) -> dict[str, str]:
        known = self.known_passwords
        own = {} if known is None else {"PGPASSFILE": str(known)}
        return {**os.environ, **own}


def count(dump: Path, table: str) -> int:
    """Return how many rows of a table a dump holds, whatever its database holds by now."""
    with _data(dump, table) as text:
        return sum(1 for _ in _rows(text))


def column(dump: Path, table: str, name: str) -> list[str]:
    """Return what a column of a table holds in a dump, as PostgreSQL writes it to a file."""
    found = []
    with _data(dump, table) as text:
        for head, row in _rows(text):
            names = head.decode(errors="replace").partition(" (")[2].partition(")")[0].split(", ")
            if name in names:
                found.append(row.split(b"\t")[names.index(name)].decode(errors="replace").strip())
    return found


@contextlib.contextmanager
def _data(dump: Path, table: str) -> Iterator[Iterable[bytes]]:
    """Have the rows of a table that a dump holds written, to be read to their end."""
    command = ["pg_restore", "--data-only", f"--table={table}", "--file=-", str(dump)]
    with tempfile.TemporaryFile() as errors:
        pipe = subprocess.PIPE
        with postgres_programs.started(command, None, errors, stdout=pipe) as program:
            assert program.stdout is not None
            with open(program.stdout.fileno(), "rb", closefd=False) as text:
                yield text
        if program.returncode:
            raise postgres_programs.failed(str(dump), program, errors)


def _rows(text: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    r"""Yield the `COPY` and each line that follows until its `\.`; a line break is `\n` there."""
    head = b""
    for line in text:
        if not head:
            head = line if line.startswith(b"COPY ") else b""
        elif line == b"\\.\n":
            head = b""
        else:
            yield head, line


def _others(tables: Iterable[str]) -> str:
    """Return the query for what has a table's name and is none; all names are PostgreSQL's own."""
    names = ", ".join(f"'{each}'" for each in ("", *tables))
    return (
        "SELECT coalesce(string_agg(relname, ','), '') AS others FROM pg_catalog.pg_class "
        f"WHERE relname IN ({names}) AND NOT ({TABLE})"
    )


def _say(psql: "subprocess.Popen[bytes]", text: str) -> None:
    assert psql.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
        psql.stdin.write(f"{text}\n".encode())
