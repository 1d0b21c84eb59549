"""Jobs on a Dask cluster: an executor of `tasks.console.jobs`.

What all jobs share is sent once and copied among workers; results are fetched as they come. A
worker that is lost costs the job that it was doing, which another does again; a job that has lost
`FAILURES` workers more is given up. An exception in a job is the job's own, and is raised at once.
Where the scheduler or all workers are gone for the stated patience, the run ends in one line, and a
journal keeps what was done.

    scheduler gone     the client's connection ends, and is not made again in `ANSWER` s
    scheduler silent   it is connected and says of no worker for `compute.patience` s
    workers gone       none for `compute.patience` s while jobs are left
"""

import contextlib
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.cluster import work as working
from ricochet.tasks.cluster.credentials import load_dask, security
from ricochet.tasks.general_settings import Compute

ANSWER = 10.0
"""Longest wait for a scheduler to answer, s."""
PERIOD, LOOK = 0.02, 2.0
"""Between two looks for results, and for workers, s."""
WHERE = "compute.address"
GONE = "what a journal holds is kept, and the same command goes on from there"


@dataclass
class Cluster:
    """A cluster by the settings, to which the first jobs connect."""

    compute: Compute
    _client: Any = field(default=None, init=False)

    def __call__(
        self, work: Callable[[Any], Any], jobs: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        """Do jobs, as `jobs.Executor` says."""
        client = self._connected()
        places = _submitted(client, work, jobs)
        try:
            yield from self._results(client, places)
        finally:
            with contextlib.suppress(Exception):  # a cluster that is gone has nothing to cancel
                client.cancel(list(places), force=True)

    def close(self) -> None:
        """Leave the cluster."""
        if self._client is not None:
            self._client.close(timeout=ANSWER)
            self._client = None

    def _connected(self) -> Any:
        if self._client is None or self._client.status != "running":
            self.close()
            self._client = _connect(self.compute)
        return self._client

    def _results(self, client: Any, places: dict[Any, int]) -> Iterator[tuple[int, Any]]:
        """Yield results as they come, while there is a cluster that may give them."""
        from distributed import as_completed

        coming = as_completed(list(places), loop=client.loop)
        seen = looked = time.monotonic()
        while places:
            ready = coming.next_batch(block=False) if coming.has_ready() else ()
            fetched, lost, failure = self._fetched(ready, places)
            yield from fetched
            if failure is not None:
                raise failure
            for future in lost:  # with their worker: they are made again
                self._check(client)
                coming.add(future)
            time.sleep(PERIOD)
            now = time.monotonic()
            if now > looked + LOOK:
                self._check(client)
                looked, seen = now, now if _workers(client) else seen
            if now > seen + self.compute.patience:
                found = f"no worker, or no answer, at {self.compute.address}"
                raise RuntimeError(f"{found} for {self.compute.patience:g} s; {GONE}")

    def _fetched(
        self, ready: Sequence[Any], places: dict[Any, int]
    ) -> tuple[list[tuple[int, Any]], list[Any], Exception | None]:
        """Fetch results at once, since whoever takes the first may be long about it.

        Returns:
            Results with their places, futures whose results are lost, and the first failure.
        """
        fetched: list[tuple[int, Any]] = []
        lost: list[Any] = []
        for future in ready:
            try:
                result = self._result(future, places[future])
            except _LostError:
                lost.append(future)
            except Exception as error:
                return fetched, lost, error
            else:
                fetched.append((places.pop(future), result))
        return fetched, lost, None

    def _result(self, future: Any, place: int) -> Any:
        """Return the result of a job that has ended, or raise why there is none."""
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        if future.status == "lost":
            raise _LostError
        try:
            return future.result(timeout=ANSWER)
        except KilledWorker as error:
            found = (
                f"job {place + 1}: each of {error.allowed_failures + 1} workers that did it died"
            )
            raise RuntimeError(f"{found}, no other is tried; {GONE}") from None
        except working.OtherProgramError as error:
            expected = f"this program on every worker: {working.program()}"
            raise BadInput(f"a worker of {self.compute.address}", str(error), expected) from None
        except FutureCancelledError:
            raise self._gone() from None
        except (OSError, TimeoutError) as error:
            if future.status == "error":  # the job's own
                raise
            raise _LostError from error

    def _check(self, client: Any) -> None:
        """Raise RuntimeError where the scheduler has left."""
        if client.status != "running":
            raise self._gone()

    def _gone(self) -> RuntimeError:
        return RuntimeError(f"the scheduler {self.compute.address} is gone; {GONE}")


class _LostError(Exception):
    """A result was lost with the worker that had it."""


def _submitted(client: Any, work: Callable[[Any], Any], jobs: Sequence[Any]) -> dict[Any, int]:
    """Send the jobs and what they share; returns their places by future."""
    import cloudpickle

    run, expected = uuid.uuid4().hex, working.program()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        shared = client.submit(working.given, cloudpickle.dumps(work), key=f"work-{run}")
        futures = client.map(
            working.do,
            [expected] * len(jobs),
            [shared] * len(jobs),
            [cloudpickle.dumps(job) for job in jobs],
            key=[f"job-{run}-{place}" for place in range(len(jobs))],
        )
    return {future: place for place, future in enumerate(futures)}


def _connect(compute: Compute) -> Any:
    """Return a client of the cluster; `BadInput` if nobody answers, or another version does."""
    load_dask({"distributed.comm.timeouts.connect": f"{ANSWER} s"})
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    expected = "a scheduler of the same certificates, by `ricochet cluster scheduler`"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", VersionMismatchWarning
            )  # each job asks more of a worker
            return Client(
                compute.address,
                security=security(compute.certificates),
                timeout=ANSWER,
                set_as_default=False,
            )
    except (OSError, ValueError) as error:
        raise BadInput(WHERE, f"{compute.address}: no answer in {ANSWER:g} s", expected) from error


def _workers(client: Any) -> int:
    """Return how many workers there are; 0 where the scheduler does not say in `ANSWER` s."""
    with contextlib.suppress(Exception):
        return len(client.run_on_scheduler(_count, callback_timeout=ANSWER))
    return 0


def _count(dask_scheduler: Any = None) -> list[str]:
    return list(dask_scheduler.workers)
