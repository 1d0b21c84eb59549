"""Jobs side by side: in order, each once, on one thread, and taken up again from a journal."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.storage import limits, process_ids

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Job:
    """A number, and the folder in which it is noted that it was done."""

    number: int
    folder: str


def square(job: Job) -> float:
    (Path(job.folder) / f"{job.number}-{time.monotonic_ns()}").touch()
    if job.number < 0:
        raise ValueError(job.number)
    return float(job.number**2)


def slow_square(job: Job) -> float:
    if job.number >= 0:
        time.sleep(0.02)
    return square(job)


def long_job(job: Job) -> None:
    file = Path(job.folder) / f"{os.getpid()}.pid"
    file.with_suffix(".part").write_text(process_ids.name_of(os.getpid()))
    file.with_suffix(".part").rename(file)
    time.sleep(120.0)


def threads(job: Job) -> tuple[int, int]:
    return os.getpid(), torch.get_num_threads()


def done(folder: Path) -> list[int]:
    return sorted(int(path.name.rpartition("-")[0]) for path in folder.iterdir())


def journal(file: Path) -> Journal[float]:
    return Journal(file, encode=lambda value: {"value": value}, decode=lambda entry: entry["value"])


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_results_come_in_the_order_of_the_jobs_and_progress_counts_them(tmp_path, workers) -> None:
    jobs, seen = [Job(number, str(tmp_path)) for number in (3, 1, 2)], []
    found = run_all(square, jobs, workers=workers, progress=lambda *step: seen.append(step))
    assert found == [9.0, 1.0, 4.0]
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert done(tmp_path) == [1, 2, 3]


def test_no_jobs_need_no_process() -> None:
    assert run_all(square, []) == []


def test_jobs_of_the_journal_are_not_done_again(tmp_path) -> None:
    folder, file, seen = tmp_path / "done", tmp_path / "journal", []
    folder.mkdir()
    jobs = [Job(number, str(folder)) for number in range(4)]
    run_all(square, jobs[1:3], workers=1, journal=journal(file))
    with file.open("a") as cut:
        cut.write('{"job": {"of": "another study"}, "result": {"bats": 3}}\n[]\n')
        cut.write('{"job": {"num')  # by a kill
    for _ in range(2):
        again = run_all(
            square, jobs, workers=1, journal=journal(file), progress=lambda *step: seen.append(step)
        )
        assert again == [0.0, 1.0, 4.0, 9.0]
    assert done(folder) == [0, 1, 2, 3]
    assert seen == [(2, 4), (3, 4), (4, 4), (4, 4)]


def test_a_job_that_fails_ends_the_run_and_leaves_what_was_done_in_the_journal(tmp_path) -> None:
    folder, file = tmp_path / "done", tmp_path / "journal"
    folder.mkdir()
    jobs = [Job(number, str(folder)) for number in (2, -1, 3)]
    with pytest.raises(ValueError, match="-1"):
        run_all(square, jobs, workers=1, journal=journal(file))
    assert done(folder) == [-1, 2]
    kept = journal(file).read([journal(file).key(job) for job in jobs])
    assert list(kept.values()) == [4.0]


@pytest.mark.slow
def test_after_a_failure_no_process_begins_another_job(tmp_path) -> None:
    jobs = [Job(-1, str(tmp_path)), *(Job(number, str(tmp_path)) for number in range(1000))]
    with pytest.raises(ValueError, match="-1"):
        run_all(slow_square, jobs, workers=1 + 1)
    assert len(done(tmp_path)) < 1001


@pytest.mark.slow
def test_every_process_computes_on_one_thread(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    found = run_all(threads, [Job(number, "") for number in range(4)], workers=2)
    assert {count for _, count in found} == {1}
    assert os.getpid() not in {process for process, _ in found}


@pytest.mark.slow
def test_processes_end_with_the_one_that_has_the_jobs_even_if_it_is_killed(tmp_path) -> None:
    program = f"""
from tests.tasks.console import test_jobs
from ricochet.tasks.console import jobs
from ricochet.tasks.console.jobs import run_all
if __name__ == "__main__":
    jobs = [test_jobs.Job(number, {str(tmp_path)!r}) for number in range(4)]
    run_all(test_jobs.long_job, jobs, workers=2)
"""
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, str(tmp_path / "program.py")]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}) as parent:
        until = time.monotonic() + 60.0
        while len(list(tmp_path.glob("*.pid"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        parent.kill()
    workers = [path.read_text() for path in tmp_path.glob("*.pid")]
    assert len(workers) == 2
    until = time.monotonic() + 20.0
    while not all(map(process_ids.is_gone, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert all(map(process_ids.is_gone, workers))


def test_one_thread_holds_for_what_is_imported_and_for_what_is_not(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        use_one_thread()
        assert torch.get_num_threads() == 1
        assert os.environ["OMP_NUM_THREADS"] == "1"
    finally:
        torch.set_num_threads(before)


def test_lines_of_others_are_passed_over_whatever_they_hold(tmp_path, monkeypatch) -> None:
    file = tmp_path / "jobs.jsonl"
    run_all(square, [Job(3, str(tmp_path))], journal=journal(file), workers=1)
    monkeypatch.setattr(limits, "TEXT", 10**4)
    odd = [b"\xff\xfe", b"[1]", b"{}", b"null", b'{"job": {"b": 1}}', b"[" * 10**4 + b"\n"]
    odd.append(b'{"job": [' + b"[]," * 10**4 + b"[]]}")
    file.write_bytes(b"\n".join([*odd, file.read_bytes()]))
    assert journal(file).read([journal(file).key(Job(3, str(tmp_path)))]) != {}


def test_a_journal_that_is_a_pipe_or_too_large_is_refused_at_once(tmp_path, monkeypatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_text("{}\n" * 10)
    monkeypatch.setattr(limits, "JOURNAL", 10)
    for name in ("pipe", "large"):
        with pytest.raises(BadInput, match=f"{name}: found"):
            journal(tmp_path / name).read(["a"])
    (tmp_path / "deep").write_text("[" * 9)
    assert journal(tmp_path / "deep").read(["a"]) == {}


def test_a_journal_that_is_a_link_is_neither_read_nor_written_through(tmp_path) -> None:
    """Lines of results were added to whatever file it led to, or that was made."""
    target, file = tmp_path / "target", tmp_path / "jobs.jsonl"
    file.symlink_to(target)
    for _ in range(2):
        with pytest.raises(BadInput, match=r"jobs\.jsonl: found a link"):
            journal(file).read(["a"])
        with pytest.raises(OSError):
            journal(file).add(Job(1, ""), 1.0)
        assert not target.exists() or target.read_text() == "kept"
        target.write_text("kept")


def test_results_of_much_memory_or_of_none_of_the_jobs_are_refused(tmp_path, monkeypatch) -> None:
    """64 MiB of empty objects took two gigabytes, and what they decode to an odd error."""
    file, job = tmp_path / "jobs.jsonl", Job(1, "")
    made = Journal(file, encode=lambda value: value, decode=lambda entry: entry["value"])
    made.add(job, [[]] * 100)
    with pytest.raises(BadInput, match=r"jobs\.jsonl: found a result that is none of its job"):
        made.read([made.key(job)])
    file.unlink()
    monkeypatch.setattr(limits, "PARSED", 80_000)
    every = [Job(number, "") for number in range(3)]
    for each in every:
        made.add(each, {"value": [{}] * 100})
    assert len(made.read([made.key(every[0])])) == 1 and made.read([]) == {}
    with pytest.raises(BadInput, match="results of more memory, expected 80000 bytes"):
        made.read(map(made.key, every))
    for value in ([{}] * 1000, {f"{key:x}": 300 for key in range(1000)}):
        file.unlink()
        made.add(every[0], {"value": value})
        with pytest.raises(BadInput, match="results of more memory"):
            made.read([made.key(every[1])])  # before it is parsed
