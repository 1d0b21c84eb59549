"""PostgreSQL databases dumped as of one instant while they are written, and put back whole.

PostgreSQL's own programs do it, of the version that is installed. An address names no password:
libpq reads it from its password file, so that it stands in no list of processes.

What psql is given of a dump are statements alone: a backslash in it would be a command of the
machine's. `pg_restore` keeps psql from those since `SAFE`.
"""

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import sync

TABLES = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " \
    "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')"  # fmt: skip

TRANSACTION = "pg_catalog.txid_current()"
"""Which transaction it is, whatever a dump says where names are looked for."""
ACCOUNTS = ("users", "roles", "user_role_assignments", "*_permissions", "alembic_version_auth")
"""Tables of MLflow's accounts, passwords' digests among them; `ricochet up` makes them anew."""
SAFE = {13: 22, 14: 19, 15: 14, 16: 10, 17: 6}
"""The first release of each version whose `pg_restore` lets a dump run no command; all of 18 do."""


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
            raise BadInput(self.address, f"{found} tables", "an empty database (`createdb`)")

    @contextlib.contextmanager
    def put_back(self, dump: Path) -> Iterator[None]:
        """Put a dump back in a transaction that is committed when the block has ended.

        With an error, or killed before that, the database is as it was.

        Raises:
            BadInput: It cannot be put back, or `pg_restore` would let it run commands.
        """
        _refuse_unsafe(self._run("pg_restore", "--version", database=False))
        with tempfile.TemporaryFile() as errors, self._session(errors) as psql:
            try:
                _say(psql, f"BEGIN;\nSELECT {TRANSACTION} AS begun \\gset")
                self._fill(psql, dump)
                _say(
                    psql,
                    f"SELECT {TRANSACTION} OPERATOR(pg_catalog.=) :begun AS same \\gset",
                )
                if self._await(psql, errors, "filled :same") != "filled t":
                    expected = "none that ends its transaction; empty the database (`dropdb`)"
                    raise BadInput(self.address, "a dump that has committed", expected)
                yield
                _say(psql, "COMMIT;")
                self._await(psql, errors, "committed")
            except BaseException:
                psql.kill()
                raise

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

    def _run(self, program: str, *words: str, database: bool = True) -> str:
        command = self._command(program, *words) if database else [program, *words]
        try:
            done = subprocess.run(command, env=self._variables(), capture_output=True, text=True)
        except FileNotFoundError as error:
            raise _missing(program) from error
        if done.returncode:
            raise self._failed(done.stderr, program)
        return done.stdout.strip()

    def _session(self, errors: IO[bytes]) -> "subprocess.Popen[bytes]":
        """Start psql, which executes what it is given and ends at the first error."""
        words = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null")
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self._command("psql", *words),
                env=self._variables(),
                stdin=pipe,
                stdout=pipe,
                stderr=errors,
                bufsize=0,  # nothing is left to be said to one that has ended
            )
        except FileNotFoundError as error:
            raise _missing("psql") from error

    def _fill(self, psql: "subprocess.Popen[bytes]", dump: Path) -> None:
        """Have psql execute a dump; what it says of that is waited for afterwards."""
        command = ["pg_restore", "--no-owner", "--no-privileges", "--file=-", str(dump)]
        try:
            done = subprocess.run(command, stdout=psql.stdin, stderr=subprocess.PIPE, text=True)
        except FileNotFoundError as error:
            raise _missing("pg_restore") from error
        if done.returncode > 0:
            raise self._failed(done.stderr, "pg_restore")

    def _await(self, psql: "subprocess.Popen[bytes]", errors: IO[bytes], words: str) -> str:
        """Wait until psql has executed all that it was given and says some words."""
        _say(psql, f"\\echo {words}")
        assert psql.stdout is not None
        if found := psql.stdout.readline().decode().strip():
            return found
        psql.wait()
        errors.seek(0)
        raise self._failed(errors.read().decode(errors="replace"), "psql")

    def _command(self, program: str, *words: str) -> list[str]:
        return [program, "--no-password", f"--dbname={self.address}", *words]

    def _variables(self) -> dict[str, str]:
        own = {} if self.passwords is None else {"PGPASSFILE": str(self.passwords)}
        return {**os.environ, **own}

    def _failed(self, said: str, program: str) -> BadInput:
        found = " ".join(said.split())[:300] or f"{program} ended, without a word"
        return BadInput(self.address, found, f"what {program} can do")


def _refuse_unsafe(version: str) -> None:
    """Refuse a `pg_restore` that lets a dump run commands (CVE-2025-8714).

    >>> _refuse_unsafe("pg_restore (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)")
    >>> _refuse_unsafe("pg_restore (PostgreSQL) 18beta1")
    """
    found = re.search(r"\) (\d+)(?:\.(\d+))?", version)
    number, release = (int(each or 0) for each in found.groups()) if found else (0, 0)
    first = SAFE.get(number, 0 if number > max(SAFE) else None)
    if first is None or release < first:
        safe = ", ".join(f"{number}.{first}" for number, first in SAFE.items())
        raise BadInput("pg_restore", version[:100], f"one of {safe} or later, or 18")


def _say(psql: "subprocess.Popen[bytes]", text: str) -> None:
    assert psql.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
        psql.stdin.write(f"{text}\n".encode())


def _missing(program: str) -> BadInput:
    return BadInput(program, "no such program", "PostgreSQL's (`postgresql-client`)")
