"""Commands of DVC's in a repository: within a time for all of them, and bounded in what they say.

A remote that says little for ever, command by command, would hold a night and the next; what it
says, DVC prints. Nobody is at a terminal that DVC could ask. A command ends with whoever waits for
it, killed or not.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ricochet.tasks.recordings import dvc_program
from ricochet.tasks.recordings.parent_process import STARTER

LONGEST = 6 * 3600.0
"""Longest time for a publication or a pull, s, whatever commands it takes."""
SAID = 2**26
"""Bytes that a command may say: it names each file that a remote lacks."""
SHOWN = 300
"""Characters of what a command says of its failure."""
QUIET = {"DVC_NO_ANALYTICS": "1", "DO_NOT_TRACK": "true"}


class PublicationError(RuntimeError):
    """DVC failed, or what came back from the remote is not what was sent; one line."""


class LateError(PublicationError):
    """DVC did not end in time; to try again would take as long."""


@dataclass(frozen=True)
class Dvc:
    """DVC's command line in the folder of a repository.

    Attributes:
        until: When its last command must have ended, on the monotonic clock, s.
    """

    root: Path
    until: float = field(default_factory=lambda: time.monotonic() + LONGEST)

    def run(self, *arguments: str, check: bool = True, **environment: str) -> str:
        """Run a command and return what it prints.

        Raises:
            LateError: The time is over.
            PublicationError: It failed and is checked, or says too much.
        """
        command = [sys.executable, "-P", "-m", dvc_program.__name__, *arguments]
        words = f"dvc {' '.join(arguments)}"
        try:
            status, answer, errors = _ended(
                command,
                self.root,
                os.environ | QUIET | {STARTER: str(os.getpid())} | environment,
                self.until - time.monotonic(),
            )
        except subprocess.TimeoutExpired as error:
            late = f"no end within the {LONGEST:g} s that all such commands together may take"
            raise LateError(f"{words}: {late}") from error
        if max(len(answer), len(errors)) > SAID:
            raise PublicationError(f"{words}: says more than {SAID} bytes")
        if check and status:
            raise PublicationError(f"{words}: {_shown(errors or answer)}")
        return answer.decode(errors="replace")

    def ask(self, *arguments: str, check: bool = True) -> str:
        """Run a command without what DVC remembers of remotes, so that it asks what they hold.

        A remote may have lost what it held; where DVC is killed as it finds that out, it would take
        the files of a folder for sent, and never send them.
        """
        with tempfile.TemporaryDirectory(prefix="ricochet-dvc-") as empty:
            return self.run(*arguments, check=check, DVC_SITE_CACHE_DIR=empty)


def _ended(
    command: list[str], folder: Path, environment: dict[str, str], seconds: float
) -> tuple[int, bytes, bytes]:
    """Return the status of a command, what it prints, and what it says of errors."""
    silent, heard = subprocess.DEVNULL, subprocess.PIPE
    with (
        subprocess.Popen(
            command, cwd=folder, env=environment, stdin=silent, stdout=heard, stderr=heard
        ) as process,
        ThreadPoolExecutor(2) as readers,
    ):
        pipes = (process.stdout, process.stderr)
        said = [readers.submit(_bounded, process, pipe) for pipe in pipes if pipe]
        try:
            process.wait(max(seconds, 0.0))
        except BaseException:
            process.kill()
            raise
    answer, errors = (each.result() for each in said)
    return process.returncode, answer, errors


def _bounded(process: "subprocess.Popen[bytes]", pipe: IO[bytes]) -> bytes:
    """Return what comes through a pipe; a process that says more than it may is killed."""
    said = pipe.read(SAID + 1)
    if len(said) > SAID:
        process.kill()
    return said


def _shown(said: bytes) -> str:
    return " ".join(said[: 8 * SHOWN].decode(errors="replace").split())[:SHOWN]
