"""What `ricochet up` does beside its servers: dead runs are closed, full logs are moved aside.

Dead runs are looked for in a thread, for a server may be slow to say which there are, and `up` must
see when one ends. It is one thread for all searches: each new one may be given a heap of its own,
which keeps what a search took.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ricochet.flows.servers import logs
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.console.progress import announce
from ricochet.tasks.upkeep_settings import Keep

INTERVAL = 60.0
"""Time from one search for dead runs to the next, s: a night that is due waits for none."""
FIRST = 30.0
"""Longest wait for the first search, s."""
ROTATION = 5.0
"""Time from one look at the logs to the next, s."""
CLIENT = ("RICOCHET_ARTIFACTS", "PREFECT_", "MLFLOW_")
"""How variables begin that make this process a client of the servers that it started."""


def settle(environment: Mapping[str, str]) -> None:
    """Close runs whose process is gone, and say so; a server that does not answer is asked later.

    Args:
        environment: That of the worker.
    """
    os.environ |= {name: text for name, text in environment.items() if name.startswith(CLIENT)}
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    try:
        from ricochet.flows import dead_runs  # Prefect reads the environment when it is imported

        for finding in dead_runs.settle():
            announce(f"{'repaired' if finding.mended else 'found'}: {finding.line}")
    except Exception as error:
        announce(one_line(f"dead runs are looked for again later: {type(error).__name__}: {error}"))


@dataclass
class Upkeep:
    """The times at which things are due again.

    Attributes:
        folder: Where the logs are.
        environment: That of the worker.
    """

    folder: Path
    environment: Mapping[str, str]
    keep: Keep
    settled: float = field(default_factory=time.monotonic)
    rotated: float = 0.0
    search: threading.Thread | None = None
    _asked: threading.Event = field(default_factory=threading.Event)
    _searching: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def tick(self) -> None:
        """Do what is due."""
        now = time.monotonic()
        if now - self.rotated > ROTATION:
            self.rotated = now
            with contextlib.suppress(OSError):  # out of open files: the next time
                for log in self.folder.glob("*.log"):
                    logs.rotate(log, largest=self.keep.log_size, kept=self.keep.logs)
        if now - self.settled > INTERVAL and not self.searching:
            self.begin_search()

    def search_first(self, running: Callable[[], bool]) -> None:
        """Look for dead runs, and wait for the end of it as long as servers run, and not for ever.

        They give up the slots that they hold, so that what is due next is not cancelled for them.
        """
        self.begin_search()
        end = time.monotonic() + FIRST
        while self.searching and running() and time.monotonic() < end:
            time.sleep(0.1)

    @property
    def searching(self) -> bool:
        """Whether dead runs are being looked for."""
        return self._searching.is_set()

    def begin_search(self) -> None:
        """Look for dead runs beside all else."""
        self.settled = time.monotonic()
        self._searching.set()
        self._asked.set()
        if self.search is None:
            self.search = threading.Thread(target=self._search, name="dead runs", daemon=True)
            self.search.start()

    def end(self) -> None:
        """Have the thread end once the search is over that goes on."""
        self._ended.set()
        self._asked.set()

    def _search(self) -> None:
        while self._asked.wait() and not self._ended.is_set():
            self._asked.clear()
            settle(self.environment)
            self._searching.clear()
