"""What `ricochet up` does beside its servers: dead runs are closed, full logs are moved aside.

Dead runs are looked for by another process (`dead_run_search`): a server may be slow to say which
there are, and `up` must see when one ends.
"""

import contextlib
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ricochet.flows.servers import dead_run_search, logs
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.console.progress import announce
from ricochet.tasks.upkeep_settings import Keep

INTERVAL = 60.0
"""Time from one search for dead runs to the next, s: a night that is due waits for none."""
SEARCHES = 60
"""After which the process that searches is followed by another."""
LONGEST = 60.0
"""What a search may take on average, s."""
FIRST = 30.0
"""Longest wait for the first search, s."""
ROTATION = 5.0
"""Time from one look at the logs to the next, s."""

Start = Callable[[list[str]], contextlib.AbstractContextManager[subprocess.Popen[bytes]]]
"""Starts a process, which ends with the block at the latest."""


@dataclass
class Upkeep(contextlib.AbstractContextManager["Upkeep"]):
    """The times at which things are due again; nothing goes on after the block.

    Attributes:
        folder: Where the logs are.
        start: Starts the process that looks for dead runs.
    """

    folder: Path
    start: Start
    keep: Keep
    begun: float = field(default_factory=time.monotonic)
    rotated: float = 0.0
    _search: subprocess.Popen[bytes] | None = None
    _searches: int = 0
    _running: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        """Begin; nothing is due yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the search that goes on."""
        self._running.close()

    def tick(self) -> None:
        """Do what is due."""
        now = time.monotonic()
        if now - self.rotated > ROTATION:
            self.rotated = now
            with contextlib.suppress(OSError):  # out of open files: the next time
                for log in self.folder.glob("*.log"):
                    logs.rotate(log, largest=self.keep.log_size, kept=self.keep.logs)
        if not self.searching:
            self._settle()
        if now - self.begun > (self._longest if self.searching else INTERVAL):
            self._begin(SEARCHES)

    def search_first(self, running: Callable[[], bool]) -> None:
        """Look for dead runs, and wait for the end of it as long as servers run, and not for ever.

        They give up the slots that they hold, so that what is due next is not cancelled for them.
        """
        self._begin(1)
        end = time.monotonic() + FIRST
        while self.searching and running() and time.monotonic() < end:
            time.sleep(0.1)

    @property
    def _longest(self) -> float:
        """How long a process may take for all its searches, s: one that hangs is ended."""
        return (1.0 + self._searches) * (INTERVAL + LONGEST)

    @property
    def searching(self) -> bool:
        """Whether a process looks for dead runs, again and again."""
        return self._search is not None and self._search.poll() is None

    def _begin(self, searches: int) -> None:
        """Have a process look for dead runs that many times, beside all else."""
        self._running.close()
        self.begun, self._search, self._searches = time.monotonic(), None, searches
        try:
            process = self.start(dead_run_search.command(searches, INTERVAL))
            self._search = self._running.enter_context(process)
        except OSError as error:  # no process or memory for it: the next time
            announce(one_line(f"dead runs are looked for again later: {error}"))

    def _settle(self) -> None:
        """Let a process go that has ended, and say so where it did not end as it should."""
        if self._search is not None and self._search.returncode:
            ended = f"with status {self._search.returncode}"
            announce(f"dead runs are looked for again later: the process for it ended {ended}")
        self._running.close()
        self._search = None
