"""A worker of a work pool, which runs for months: Prefect's, with its memory kept level.

Each run leaves some half a megabyte of closed connections in cycles. Python looks for cycles among
old objects once there are a quarter more of them, which takes a worker dozens of runs or hundreds.
"""

import atexit
import gc
import runpy
import shutil
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

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
    keep_storage_apart()
    keep_memory_level()
    sys.argv = ["prefect", "worker", "start", "--pool", pool, "--name", name]
    runpy.run_module("prefect", run_name="__main__")


def keep_storage_apart() -> None:
    """Have each runner in this process keep files in a folder of its own, of a name of its own.

    Prefect's are all below one folder of `/tmp`, which stops the workers of all users but whoever
    made it.
    """
    from prefect.runner import runner

    module: Any = runner
    begin = module.Runner.__init__

    def begun(self: Any, *words: Any, **options: Any) -> None:
        begin(self, *words, **options)
        self._tmp_dir = Path(tempfile.gettempdir()) / f"ricochet-runner-{uuid.uuid4()}"
        atexit.register(shutil.rmtree, self._tmp_dir, ignore_errors=True)

    module.Runner.__init__ = begun


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
