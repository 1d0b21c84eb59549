"""Independent jobs side by side, in a process for each processor or wherever a run was sent.

A job carries its own seed, so that the results do not depend on how many processors share the work.
Finished jobs may be noted in a journal: a run that was stopped then goes on where it was.

Where jobs run decides no result. So it is no argument of what computes, and in no key of a result:
the border of a run (the command line, a flow) sets it once by `running_on`, as it sets the number
of threads, and only this file reads it.
"""

import contextlib
import io
import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import Any, Generic, TypeVar

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.parsed_size import most_memory

Job = TypeVar("Job")
Result = TypeVar("Result")

Executor = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[int, Any]]]
"""Does jobs by a function, both picklable, and yields their places with the results as they come;
a job's exception is raised, and what has not begun is then not begun."""

_EXECUTOR: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextlib.contextmanager
def running_on(executor: Executor) -> Iterator[None]:
    """Have all jobs of the block done by an executor."""
    token = _EXECUTOR.set(executor)
    try:
        yield
    finally:
        _EXECUTOR.reset(token)


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

        Raises:
            BadInput: It is no regular file, too large, or not of this study.
        """
        from ricochet.tasks.storage.files import read_regular  # with numpy, for which no help waits

        content = b""
        if os.path.lexists(self.file):
            content = read_regular(self.file, "a journal of jobs", largest=limits.JOURNAL)
        if content and not content.endswith(b"\n"):
            self._append("")
        wanted, found, held = set(keys), dict[str, Any](), 0
        for line in io.BytesIO(content):
            memory = most_memory(line)
            if held + memory > limits.PARSED:
                raise BadInput(str(self.file), "results of more memory", f"{limits.PARSED} bytes")
            entry = _parsed(line)
            if entry is None or (key := _dumped(entry.get("job"))) not in wanted:
                continue
            found[key], held = entry.get("result"), held + memory
        return {key: self._decoded(result) for key, result in found.items()}

    def add(self, job: Any, result: Result) -> None:
        """Note a finished job."""
        self._append(_dumped({"job": asdict(job), "result": self.encode(result)}))

    def key(self, job: Any) -> str:
        """Return what a job is found by."""
        return _dumped(asdict(job))

    def _decoded(self, result: Any) -> Result:
        try:
            return self.decode(result)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            found = one_line(f"a result that is none of its job: {error}")
            raise BadInput(str(self.file), found, "what this study wrote") from error

    def _append(self, line: str) -> None:
        with open(self.file, "a", opener=_no_link) as file:
            file.write(f"{line}\n")


def run_all(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    here: bool = False,
    journal: Journal[Result] | None = None,
    progress: Progress = no_progress,
) -> list[Result]:
    """Do all jobs and return their results in order; those in the journal are not done again.

    Args:
        work: Does one job; it and the jobs must be picklable.
        workers: Processes; one for each processor when absent. 1: none but this one, wherever the
            run was sent.
        here: Whether jobs are so short that this process does them, unless the run was sent away.
    """
    keys = [journal.key(job) if journal is not None else "" for job in jobs]
    before = journal.read(keys) if journal is not None else {}
    results = {number: before[key] for number, key in enumerate(keys) if key in before}
    if results:
        progress(len(results), len(jobs))
    left = [number for number in range(len(jobs)) if number not in results]
    for place, result in each_done(
        work, [jobs[number] for number in left], workers=workers, here=here
    ):
        results[left[place]] = result
        if journal is not None:
            journal.add(jobs[left[place]], result)
        progress(len(results), len(jobs))
    return [results[number] for number in range(len(jobs))]


def each_done(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    here: bool = False,
) -> Iterator[tuple[int, Result]]:
    """Yield the places of jobs with their results, as they come; arguments as in `run_all`."""
    if not jobs:
        return iter(())
    sent = _EXECUTOR.get()
    if workers == 1 or (sent is None and here):
        return in_this_process(work, jobs)
    return (sent or partial(in_processes, workers=workers))(work, jobs)


def is_sent() -> bool:
    """Tell whether the border of this run said where its jobs are done."""
    return _EXECUTOR.get() is not None


def in_this_process(
    work: Callable[[Job], Result], jobs: Sequence[Job]
) -> Iterator[tuple[int, Result]]:
    """Do jobs one after the other: an executor."""
    yield from enumerate(map(work, jobs))


def in_processes(
    work: Callable[[Job], Result], jobs: Sequence[Job], *, workers: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Do jobs in so many processes of this machine, or one for each processor: an executor."""
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


def _no_link(path: str, flags: int) -> int:
    """Open a file to write to it; a link may lead to any."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _parsed(line: bytes) -> dict[str, Any] | None:
    if len(line) > limits.TEXT:
        return None
    try:
        return dict(json.loads(line))
    except (TypeError, ValueError, RecursionError):
        return None
