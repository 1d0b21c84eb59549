"""A worker's memory between its runs."""

import subprocess
import sys

import pytest

RUNS = 20
LEFT_BY_RUNS = f"""
import gc, weakref
from ricochet.flows.servers import pool_worker
{{before}}
class Connection: pass
def run():
    left = [Connection() for _ in range(1000)]
    for connection in left:
        connection.peers = left
    gc.collect(1)  # a run lasts until its objects are old
    return weakref.ref(left[0])
runs = [run() for _ in range({RUNS})]
print(sum(run() is not None for run in runs))
"""


def _left(before: str) -> int:
    program = LEFT_BY_RUNS.format(before=before)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return int(done.stdout)


def test_what_runs_leave_is_collected_while_the_worker_lives() -> None:
    assert _left("pool_worker.keep_memory_level()") < RUNS / 4


def test_without_that_all_of_it_stays() -> None:
    assert _left("from prefect import cli, workers; gc.collect()") == RUNS


@pytest.mark.parametrize("pool", ["rig", "compute"])
def test_the_command_is_a_worker_of_its_pool_by_its_name(pool: str) -> None:
    from ricochet.flows.servers import pool_worker

    assert pool_worker.command(pool, "machine 7") == [
        *(sys.executable, "-m", "ricochet.flows.servers.pool_worker", pool, "machine 7")
    ]
