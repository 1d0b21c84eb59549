"""The processes of a cluster: a scheduler, and workers on any machine that reaches it.

Every connection is encrypted, and both ends show the cluster's certificate. There is no page: the
HTTP servers that Dask insists on, on loopback, are ended at once. A worker does one job at a time
on one thread, in a process that is started again where it dies.
"""

import asyncio
import contextlib
import logging
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.cluster import handshakes, work
from ricochet.tasks.cluster.credentials import check_address, load_dask, security

FAILURES = 3
"""Workers that a job may lose, and is given to another."""
ALIVE = 3600.0
"""A worker that is silent for so long is given up; compiled code may keep it from answering."""
NO_PAGE = "127.0.0.1:0"
CONFIG = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # looks at the job's stack 100 times a second
    "distributed.scheduler.worker-saturation": 1.0,  # no job waits at a worker: a loss costs one
    "distributed.nanny.pre-spawn-environ": {
        "OMP_NUM_THREADS": "1",
        "MALLOC_TRIM_THRESHOLD_": "1000000000",  # Dask's 65536 has jobs take twice as long, for
        "MALLOC_MMAP_THRESHOLD_": "33554432",  # memory given back is zeroed when it is taken again
    },
}
WAIT, START = 30.0, 300.0
"""Longest wait of workers for their scheduler, and for their own processes, s."""

Report = Callable[[str], None]


def run_scheduler(host: str, port: int, certificates: str, *, report_line: Report) -> None:
    """Be the scheduler of a cluster until a signal to stop.

    Raises:
        BadInput: If the certificates or the address cannot be used.
    """
    asyncio.run(_until_stopped(_scheduler(host, port, certificates), report_line))


def run_workers(address: str, count: int, certificates: str, *, report_line: Report) -> None:
    """Be so many workers of a cluster until a signal to stop, or its scheduler ends.

    Raises:
        BadInput: If there is no such scheduler.
    """
    check_address(address, "address")
    asyncio.run(_until_stopped(_workers(address, count, certificates), report_line))


@contextlib.asynccontextmanager
async def _scheduler(
    host: str, port: int, certificates: str
) -> AsyncIterator[tuple[str, Awaitable[Any]]]:
    place = tempfile.TemporaryDirectory(prefix="ricochet-scheduler-")
    load_dask({**CONFIG, "temporary-directory": place.name})
    from distributed import Scheduler

    node = Scheduler(
        host=host,
        port=port,
        protocol="tls",
        security=security(certificates),
        dashboard_address=NO_PAGE,
        allowed_failures=FAILURES,
        worker_ttl=ALIVE,
    )
    try:
        await node
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        raise BadInput(
            f"{host}:{port}", found, "an address of this machine, a free port"
        ) from error
    await handshakes.close_pages(node)
    try:
        yield f"scheduler {node.address}", node.finished()
    finally:
        await node.close()
        place.cleanup()


@contextlib.asynccontextmanager
async def _workers(
    address: str, count: int, certificates: str
) -> AsyncIterator[tuple[str, Awaitable[Any]]]:
    config = load_dask(CONFIG)
    from distributed import Nanny

    async with contextlib.AsyncExitStack() as left:
        place = left.enter_context(tempfile.TemporaryDirectory(prefix="ricochet-worker-"))
        own = security(certificates)
        nodes = [
            Nanny(
                address,
                nthreads=1,
                memory_limit=0,
                local_directory=place,
                preload=[work.__name__],
                dashboard_address=NO_PAGE,
                security=own,
                config=config,
                death_timeout=START,
                silence_logs=logging.CRITICAL,
            )
            for _ in range(count)
        ]
        for node in nodes:
            left.push_async_callback(node.close)
        await _reach(address, own)
        try:
            await asyncio.gather(*nodes)
        except Exception as error:  # Dask's own, of many types, where a scheduler ends meanwhile
            raise RuntimeError("the workers did not start, or the scheduler ended") from error
        ended = asyncio.gather(*(node.finished() for node in nodes))
        yield f"{count} workers of {address}", ended


async def _reach(address: str, own: Any) -> None:
    """Wait for a scheduler to answer; `BadInput` if it does not, or is of other certificates."""
    from distributed.comm.core import connect

    try:
        comm = await connect(address, timeout=WAIT, **own.get_connection_args("worker"))
        await comm.close()
    except OSError as error:
        expected = "a scheduler of the same certificates"
        raise BadInput(address, f"no answer in {WAIT:g} s", expected) from error


async def _until_stopped(
    node: contextlib.AbstractAsyncContextManager[tuple[str, Awaitable[Any]]], report_line: Report
) -> None:
    """Run a node until a signal, or until it ends by itself, which is an error."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with node as (line, ended):
        report_line(f"{line}; Ctrl-C ends it")
        waiting = [asyncio.ensure_future(ended), asyncio.ensure_future(stopped.wait())]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            each.cancel()
    if not stopped.is_set():
        raise RuntimeError("the scheduler is gone")
