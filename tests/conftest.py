"""What every test runs under: one thread a process, no telemetry, and nothing left behind."""

import gc
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "true")
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("DVC_NO_ANALYTICS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import settings

from tests import traces, wrong_types
from tests.servers import prefect_api  # noqa: F401
from tests.stores import empty_store, migrated_store  # noqa: F401

# The same examples each time; others by `--hypothesis-profile=random`.
settings.register_profile("random", settings.default)
settings.register_profile("same", derandomize=True)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parents[1]
_STATUS = pytest.StashKey[frozenset[str] | None]()
_LEFT = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of this process's own for temporary files that name no folder."""
    tmp_path_factory.getbasetemp()  # made now, where it belongs, for `tmp_path`
    with (
        tempfile.TemporaryDirectory(prefix="ricochet-tests-") as name,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", name)
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        (cache / "matplotlib").mkdir(parents=True, exist_ok=True)
        (Path(name) / "cache").mkdir(mode=0o700)
        (Path(name) / "cache" / "matplotlib").symlink_to(cache / "matplotlib")  # lists of fonts
        patch.setenv("XDG_CACHE_HOME", f"{name}/cache")  # servers of other processes are not ours
        patch.setattr(tempfile, "tempdir", name)
        yield Path(name)


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest, temporary: Path) -> Iterator[None]:
    """Fail a test that leaves a thread, a process, a file or another global state."""
    wrong = request.node.get_closest_marker("wrong_types")
    typed = bool(request.config.getoption("jaxtyping_packages", None))
    before = traces.now(temporary, typed=typed)
    with wrong_types.allowed() if wrong else nullcontext():
        yield
    if lines := traces.left(before, temporary, typed=typed):
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.fixture(autouse=True)
def modules_of_the_current_folder() -> Iterator[None]:
    """Undo what a verb says to the processes that it starts: those of other tests run from here."""
    os.environ.pop("PYTHONSAFEPATH", None)
    yield
    os.environ.pop("PYTHONSAFEPATH", None)


def pytest_configure() -> None:
    """Import the tests without garbage collections, a third of their time else."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later garbage collection."""
    gc.freeze()
    gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember which files of the repository are not as committed."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[_STATUS] = traces.repository(ROOT)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if a file of the repository came, went or changed."""
    before = session.config.stash.get(_STATUS, None)
    if before is None:
        return
    changed = sorted(before ^ (traces.repository(ROOT) or frozenset()))
    session.config.stash[_LEFT] = changed
    if changed:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what the run changed in the repository."""
    if changed := config.stash.get(_LEFT, []):
        terminalreporter.section("files of the repository that the tests changed", red=True)
        for line in changed:
            terminalreporter.line(line)
