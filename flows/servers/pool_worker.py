"""A worker of a work pool, which runs for months: Prefect's, with its memory kept level.

Each run leaves half a megabyte of closed connections in cycles. Python collects old objects once
70,000 new ones have come, and a quarter as many as there are: for a worker that begins with 160,000,
after dozens of runs. Here it does so after two or three.
"""

import gc
import runpy
import sys


THRESHOLDS = (200, 1, 1)
"""How many new objects, and how many collections of younger ones, a collection waits for."""


def command(pool: str, name: str) -> list[str]:
    """Return the command that is a worker of a pool.

    Args:
        name: By which its runs are known to be dead with it.
    """
    return [sys.executable, "-m", __name__, pool, name]


def work(pool: str, name: str) -> None:
    """Be the worker of a pool until it ends."""
    keep_memory_level()
    sys.argv = ["prefect", "worker", "start", "--pool", pool, "--name", name]
    runpy.run_module("prefect", run_name="__main__")


def keep_memory_level() -> None:
    """Have what runs leave collected soon, and what a worker begins with not counted again."""
    from prefect import cli, workers  # noqa: F401 - nearly all that it begins with

    gc.collect()
    gc.freeze()
    gc.collect()  # which counts the old ones anew
    gc.set_threshold(*THRESHOLDS)


if __name__ == "__main__":
    work(*sys.argv[1:])
