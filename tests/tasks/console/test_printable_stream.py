"""What a worker prints moves no cursor and renames no window, whoever chose the words."""

import subprocess
import sys

import pytest

HOSTILE = "run '\x1b]0;title\x07\x1b[31mred\u202e' began\n"
PROGRAM = f"""
import asyncio, logging, sys
from ricochet.tasks.console import printable_stream
printable_stream.show_printable()
logging.basicConfig(format="%(message)s")
logging.warning({HOSTILE!r})
print({HOSTILE!r}, end="")
from rich.console import Console
Console(file=sys.stderr).print("[bold]plain[/bold]")
"""
WORKER = f"""
import anyio, logging, sys
from prefect.logging.configuration import setup_logging
from prefect.utilities.processutils import run_process
setup_logging()
from ricochet.tasks.console import printable_stream
printable_stream.show_printable()
logging.getLogger("prefect.flow_runs.worker").error({HOSTILE!r})
command = [sys.executable, "-c", {f"print({HOSTILE!r})"!r}]
anyio.run(lambda: run_process(command, stream_output=True))
"""


def _shown(program: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture(scope="module")
def worker() -> tuple[str, str]:
    """What a worker shows on both streams: of a run, and of itself."""
    return _shown(WORKER)


def test_lines_stay_lines_and_control_characters_are_spelled_out() -> None:
    shown = "".join(_shown(PROGRAM))
    assert shown.count("\\x1b]0;title\\x07\\x1b[31mred\\u202e' began\n") == 2
    assert "plain\n" in shown and all(line.isprintable() for line in shown.split("\n"))


def test_what_a_run_prints_as_a_process_of_its_own_is_shown_so_too(
    worker: tuple[str, str],
) -> None:
    shown, _ = worker
    assert "\\x1b]0;title" in shown and all(line.isprintable() for line in shown.split("\n"))


def test_loggers_that_were_made_before_show_it_so_too(worker: tuple[str, str]) -> None:
    """Prefect makes its own as it is imported."""
    _, shown = worker
    assert "\\x1b]0;title" in shown and all(line.isprintable() for line in shown.split("\n"))
