"""PostgreSQL's programs within bounds, whatever a dump makes them hold or say.

What one says goes to a file, of which the system lets it write no more than a message has.
"""

import contextlib
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

from ricochet.models.core.bad_input import BadInput

MEMORY = 768 * 2**20
"""Bytes of addresses: tables are read line by line, or in pieces, whatever they hold."""
SAID = 2**16
"""Bytes that one may say."""
SAFE = {13: 22, 14: 19, 15: 14, 16: 10, 17: 6}
"""The first release of each version whose `pg_restore` lets a dump run no command; all of 18 do."""


@contextlib.contextmanager
def started(
    command: list[str],
    variables: Mapping[str, str] | None,
    errors: IO[bytes],
    *,
    bounded: bool = True,
    **pipes: Any,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program until the block has ended and it has too; with an error it is killed.

    Args:
        errors: A temporary file for what it says of errors.
        bounded: Bound what it holds, and writes to files.
    """
    try:
        process = subprocess.Popen(command, env=variables, stderr=errors, bufsize=0, **pipes)
    except FileNotFoundError as error:
        expected = "PostgreSQL's (`postgresql-client`)"
        raise BadInput(command[0], "no such program", expected) from error
    with process:
        try:
            if bounded:
                _bound(process.pid)
            yield process
        except BaseException:
            process.kill()
            raise


def run(command: list[str], variables: Mapping[str, str] | None, where: str) -> str:
    """Return what a program answers; BadInput, of a place, with what it says where it fails.

    `pg_dump` is not bounded: it writes the dump, and holds a whole row of a lab's own tables.
    """
    bounded = command[0] != "pg_dump"
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as errors:
        with started(command, variables, errors, bounded=bounded, stdout=answer) as process:
            process.wait()
        if process.returncode:
            raise failed(where, process, errors)
        return _first(answer).strip()


def failed(where: str, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> BadInput:
    """Return why a program that has ended did so."""
    assert isinstance(process.args, list)
    program = process.args[0]
    if process.wait() == -signal.SIGXFSZ:
        found = f"more than {SAID} bytes that {program} says"
    else:
        found = " ".join(_first(errors).split())[:300] or f"{program} ended, without a word"
    return BadInput(where, found, f"what {program} can do")


def refuse_unsafe(version: str) -> None:
    """Refuse a `pg_restore` that lets a dump run commands (CVE-2025-8714).

    >>> refuse_unsafe("pg_restore (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)")
    >>> refuse_unsafe("pg_restore (PostgreSQL) 18beta1")
    """
    found = re.search(r"\) (\d+)(?:\.(\d+))?", version)
    number, release = (int(each or 0) for each in found.groups()) if found else (0, 0)
    first = SAFE.get(number, 0 if number > max(SAFE) else None)
    if first is None or release < first:
        safe = ", ".join(f"{number}.{first}" for number, first in SAFE.items())
        raise BadInput("pg_restore", version[:100], f"one of {safe} or later, or 18")


def _first(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(SAID).decode(errors="replace")


def _bound(process: int) -> None:
    """Bound what a process may take, where the system can."""
    if sys.platform != "linux":
        return
    import resource

    bounds = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_FSIZE: SAID, resource.RLIMIT_CORE: 0}
    for kind, most in bounds.items():
        before = resource.prlimit(process, kind)[1]
        bound = most if before == resource.RLIM_INFINITY else min(most, before)
        resource.prlimit(process, kind, (bound, bound))
