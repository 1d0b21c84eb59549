"""Independent jobs side by side, in a process for each processor.

A job carries its own seed, so that the results do not depend on how many processors share the work.
Finished jobs may be noted in a journal: a run that was stopped then goes on where it was.
"""

import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any, Generic, TypeVar

from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.threads import use_one_thread

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Journal(Generic[Result]):
    """A file of finished jobs, a line of JSON each; jobs must be dataclasses that JSON can hold.

    Its folder exists; `encode` turns a result into what JSON can hold, `decode` turns it back.
    """

    file: Path
    encode: Callable[[Result], Any]
    decode: Callable[[Any], Result]

    def read(self, keys: Collection[str]) -> dict[str, Result]:
        """Return the results of the finished jobs that are asked for, by `key`.

        Lines that were cut short and jobs of other studies are passed over.
        """
        text = self.file.read_text() if self.file.exists() else ""
        if text and not text.endswith("\n"):
            self._append("")
        entries = [entry for line in text.splitlines() if (entry := _parsed(line)) is not None]
        by_key = {_dumped(entry.get("job")): entry.get("result") for entry in entries}
        return {key: self.decode(by_key[key]) for key in keys if key in by_key}

    def add(self, job: Any, result: Result) -> None:
        """Note a finished job."""
        self._append(_dumped({"job": asdict(job), "result": self.encode(result)}))

    def key(self, job: Any) -> str:
        """Return what a job is found by."""
        return _dumped(asdict(job))

    def _append(self, line: str) -> None:
        with self.file.open("a") as file:
            file.write(f"{line}\n")


def run_all(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    journal: Journal[Result] | None = None,
    progress: Progress = no_progress,
) -> list[Result]:
    """Do all jobs and return their results in order; those in the journal are not done again.

    Args:
        work: Does one job; it and the jobs must be picklable.
        workers: Processes; one for each processor when absent, none but this one for 1.
    """
    keys = [journal.key(job) if journal is not None else "" for job in jobs]
    before = journal.read(keys) if journal is not None else {}
    results = {number: before[key] for number, key in enumerate(keys) if key in before}
    if results:
        progress(len(results), len(jobs))
    left = [number for number in range(len(jobs)) if number not in results]
    for place, result in _done(work, [jobs[number] for number in left], workers):
        results[left[place]] = result
        if journal is not None:
            journal.add(jobs[left[place]], result)
        progress(len(results), len(jobs))
    return [results[number] for number in range(len(jobs))]


def _done(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int | None
) -> Iterator[tuple[int, Result]]:
    """Yield the places of jobs with their results, as they come."""
    if workers == 1:
        yield from enumerate(map(work, jobs))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        workers or os.cpu_count(), mp_context=context, initializer=_begin_worker
    ) as pool:
        places = {pool.submit(work, job): place for place, job in enumerate(jobs)}
        try:
            for each in as_completed(places):
                yield places[each], each.result()
        finally:  # after a failure nothing that has not begun is begun
            pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    """Compute on one thread, and end when the process that has the jobs does, however it ends."""
    use_one_thread()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _dumped(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        return dict(json.loads(line))
    except (TypeError, ValueError):
        return None
