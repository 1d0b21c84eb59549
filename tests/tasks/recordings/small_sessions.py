"""Small sessions for tests: three channels of noise at 8 kHz, made in milliseconds."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ricochet.hardware.microphones.interface import Recording, default_rig
from ricochet.hardware.microphones.journal import Journal
from ricochet.tasks.recordings import recorder, sessions
from ricochet.tasks.recordings.sessions import Session, Truth

RATE = 8000
RIG = default_rig("bench", sample_rate=RATE)
STARTED = datetime(2026, 11, 20, 20, 13, tzinfo=UTC)


def plan(folder: Path, **changes) -> Session:
    values = {
        "folder": folder,
        "identity": folder.name,
        "started_at": STARTED,
        "rig": RIG,
        "ball": "ping-pong",
        "surface": "table",
        "drop_height": 0.26,
        "truth": Truth(0.85, 3.5),
    }
    return Session(**(values | changes))


def noise(seed: int, *, frames: int = 800, channels: int = 3) -> np.ndarray:
    """Samples that 16 bit hold exactly."""
    draw = np.random.default_rng(seed)
    return draw.integers(-3000, 3000, (channels, frames)).astype(np.float32) / 2**15


def write_session(plan: Session, takes: list[np.ndarray], *, form: str = "flac") -> Session:
    """Write a session whose takes are at hand, in place of one that was left half."""
    recorder.check(plan)
    partial = recorder.partial_folder(plan.folder)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    recorder.begin(plan.folder, sessions.to_json(plan, ()))
    for samples in takes:
        recorder.add_take(partial, samples, plan.rig.sample_rate, form=form)
    recorder.seal(plan.folder, state="recorded")
    return sessions.read_session(plan.folder)


class NoiseRig:
    """A recorder of noise; `before` is called ahead of each take."""

    exclusive = False

    def __init__(self, before=lambda index: None):
        self.rig = RIG
        self.before = before
        self.takes = 0

    def record(self, duration, *, journal=None):
        self.before(self.takes)
        samples = noise(self.takes, frames=round(duration * RATE))
        self.takes += 1
        sink = Journal(journal, channels=3, sample_rate=RATE)
        sink.push(samples.T)
        sink.close()
        return Recording(samples, STARTED)
