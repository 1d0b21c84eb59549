"""The process beside `ricochet up` that looks for dead runs a given number of times.

python -P -m ricochet.flows.servers.dead_run_search SEARCHES INTERVAL

The clients of Prefect and MLflow take 250 MB, and what a search has freed stays in pieces between
what is kept. So it is a process of its own, which ends after some searches and is followed by
another: `up` stands, and this begins anew.
"""

import os
import sys
import time

from ricochet.flows import prefect_settings
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.console import printable_stream
from ricochet.tasks.console.progress import announce


def command(searches: int, interval: float) -> list[str]:
    """Return the command of a process that searches that many times, some seconds apart."""
    return [sys.executable, "-P", "-m", __name__, str(searches), str(interval)]


def search(searches: int, interval: float) -> None:
    """Look for dead runs that many times, some seconds apart."""
    printable_stream.show_printable()
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    prefect_settings.of_the_environment()
    for number in range(searches):
        time.sleep(interval if number else 0.0)
        settle()


def settle() -> None:
    """Close runs whose process is gone, and say so; a server that does not answer is asked later.

    Which servers are asked, and by which logins, the environment says.
    """
    try:
        from ricochet.flows import dead_runs  # Prefect reads the environment when it is imported

        for finding in dead_runs.settle():
            announce(f"{'repaired' if finding.mended else 'found'}: {finding.line}")
    except Exception as error:
        announce(one_line(f"dead runs are looked for again later: {type(error).__name__}: {error}"))


if __name__ == "__main__":
    search(int(sys.argv[1]), float(sys.argv[2]))
