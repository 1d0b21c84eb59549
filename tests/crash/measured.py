"""Memory and time that one call takes, and an end to it if it takes too long."""

import contextlib
import resource
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ricochet.models.core.bad_input import BadInput

LONGEST = 60.0
"""s, of one call: machines of tests are slow."""
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Answer:
    """What a call came to.

    Attributes:
        fault: Why the answer was bad; empty if it was good.
        line: What was said; empty if nothing was refused.
        grown: Bytes by which the process's memory grew at its peak.
        seconds: How long it took.
    """

    name: str
    fault: str
    line: str
    grown: int
    seconds: float


def answered(name: str, call: Callable[[], object], *, most: int) -> Answer:
    """Call what must refuse its input by BadInput in a line, within so many bytes and LONGEST."""
    before, started = _reset_peak(), time.monotonic()
    fault = line = ""
    try:
        with _alarm():
            call()
        fault = "taken"
    except BadInput as error:
        line = str(error)
        if not line.isprintable() or len(line) > 3000:
            fault = f"a line of {len(line)} characters that cannot be printed"
    except BaseException as error:
        fault = f"{type(error).__name__}: {str(error)[:200]}"
    grown = max(0, _peak() - before)
    if not fault and grown > most:
        fault = f"{grown / 1e6:.0f} MB"
    return Answer(name, fault, line, grown, time.monotonic() - started)


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError(f"more than {LONGEST:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _reset_peak() -> int:
    """Let the peak begin anew where the system can; return the memory in use, bytes."""
    with contextlib.suppress(OSError):
        _RESET.write_text("5")
    return _peak()


def _peak() -> int:
    for row in _STATUS.read_text().splitlines():
        if row.startswith("VmHWM:"):
            return int(row.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
