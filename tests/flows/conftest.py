"""Fakes of what a night consists of, in place of sensors, servers and DVC."""

import resource
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from ricochet.flows import capture, nightly, prefect_runs
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import capture as capturing
from tests.tasks.recordings import small_sessions


@pytest.fixture
def rig(monkeypatch):
    """A rig that counts its takes, in place of the simulated one."""
    counting = small_sessions.NoiseRig()
    monkeypatch.setitem(capturing.RIGS, "simulated", lambda *_: counting)
    return counting


@pytest.fixture
def published(monkeypatch):
    """Tasks without a server and DVC: the folders that were published."""
    folders = []
    monkeypatch.setattr(capture, "record", capture.record.fn)
    monkeypatch.setattr(capture, "publish", lambda folder, remote: folders.append(folder))
    return folders


@pytest.fixture
def begin_late(monkeypatch):
    """Pretend that a worker's flow run was scheduled a number of seconds ago."""

    def begin(seconds):
        monkeypatch.setenv(prefect_runs.CARRIED, "a run")
        planned = datetime.now(UTC) - timedelta(seconds=seconds)
        run = SimpleNamespace(scheduled_start_time=planned)
        monkeypatch.setattr(capture, "flow_run", run)
        monkeypatch.setattr(nightly, "flow_run", run)
        return planned

    return begin


@pytest.fixture
def steps(monkeypatch):
    """Fakes of what a night consists of; the steps taken, in order."""
    listed = catalogue.nightly_steps
    further = {*catalogue.SYSTEMS} - {"bouncing_ball", "air_hockey"}  # they have their own tests
    monkeypatch.setattr(
        catalogue, "nightly_steps", lambda name: () if name in further else listed(name)
    )
    taken = []

    def record(**words):
        assert words["publishing"] is False
        taken.append(("capture", words["session"], words["overrides"][-1]))
        return {"state": "recorded", "published": None}

    def publish(folder, session, remote):
        taken.append(("publish", session))
        return ({session: "digest"} if len(taken) > 1 else {}), []

    def calibrate(**words):
        taken.append(("calibrate",))
        return {"ping-pong-table": {"unchanged": True}}

    monkeypatch.setattr(nightly.capturing, "capture", record)
    monkeypatch.setattr(nightly, "publish", publish)
    monkeypatch.setattr(nightly, "fetch", lambda: taken.append(("fetch",)))

    def validate(**words):
        taken.append(("validate", words["name"]))
        return {"unchanged": False, "promoted": True}

    monkeypatch.setattr(nightly.calibration, "calibrate", calibrate)

    def train(**words):
        taken.append(("train", words["name"]))
        return {"registered": {"shooting-cautious": "1"}}

    monkeypatch.setattr(nightly.validation, "validate", validate)
    monkeypatch.setattr(nightly.training, "train", train)
    return taken


@pytest.fixture
def many_files():
    """Let this process have as many files open as it may."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
