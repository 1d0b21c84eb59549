"""A worker of a work pool, which runs for months: Prefect's, with its memory kept level.

Each run leaves some half a megabyte of closed connections in cycles. Python looks for cycles among
old objects once there are a quarter more of them, which takes a worker dozens of runs or hundreds.
"""

import gc
import runpy
import sys
import threading
import time

from ricochet.flows.servers import control_channel
from ricochet.tasks.console import open_files, printable_stream

COLLECT_EVERY = 60.0
"""Time between two collections of all garbage, s; of 40,000 objects each takes 2 ms."""


def command(pool: str, name: str) -> list[str]:
    """Return the command that is a worker of a pool.

    Args:
        name: By which its runs are known to be dead with it.
    """
    return [sys.executable, "-P", "-m", __name__, pool, name]


def work(pool: str, name: str) -> None:
    """Be the worker of a pool until it ends."""
    from prefect import cli, workers  # noqa: F401 - nearly all that it begins with

    printable_stream.show_printable()
    open_files.allow()
    control_channel.bound()
    keep_memory_level()
    sys.argv = ["prefect", "worker", "start", "--pool", pool, "--name", name]
    runpy.run_module("prefect", run_name="__main__")


def keep_memory_level(every: float = COLLECT_EVERY) -> None:
    """Collect garbage every so often, s; what there is by now is not looked at again."""
    gc.collect()
    gc.freeze()
    threading.Thread(target=_collect, args=(every,), daemon=True, name="garbage").start()


def _collect(every: float) -> None:
    while True:
        time.sleep(every)
        gc.collect()


if __name__ == "__main__":
    work(*sys.argv[1:])
