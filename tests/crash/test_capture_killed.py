"""kill -9 in mid-capture loses at most one second of audio; every complete take is exact."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig
from ricochet.tasks.recordings import recorder as sealing
from ricochet.tasks.recordings import sessions as recordings
from tests.checkouts import python_path
from tests.tasks.recordings import small_sessions

DURATION, RATE = 3.0, 44100
MOMENTS = np.random.default_rng(20).uniform(1.3, 5.5, 3)
"""When the kills come, s after the first take began; two takes last six."""
CAPTURE = """
import sys
from pathlib import Path
import numpy as np
from ricochet.hardware.microphones.journal import Journal
from ricochet.tasks.recordings import recorder as sealing
from tests.crash import test_capture_killed as test
from tests.tasks.recordings import small_sessions
pushed = np.memmap(sys.argv[2], np.int64, "w+", shape=1)
plain = Journal.push
def counted(journal, block):
    plain(journal, block)
    pushed[0] += len(block)
Journal.push = counted
plan = small_sessions.plan(Path(sys.argv[1]), rig=test.RIG)
sealing.record_session(test.recorder(paced=True), plan, takes=9, duration=test.DURATION)
"""
RIG = default_rig("paced")


def recorder(*, paced):
    """A rig that renders the same sound each time it is made."""
    scene = Scene(0.85, 3.5, drop_height=0.26, reverberation_time=0.0)
    return SimulatedRig(RIG, scene, draw=np.random.default_rng(1), paced=paced)


def killed(folder, count, moment):
    """Capture, and kill that some time after the first take began."""
    process = subprocess.Popen(
        [sys.executable, "-c", CAPTURE, str(folder), str(count)],
        env=os.environ | {"PYTHONPATH": python_path()},
    )
    while not list(sealing.partial_folder(folder).glob("*.journal")):
        assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(moment)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.proof
@pytest.mark.parametrize("moment", MOMENTS)
def test_kill_in_mid_capture_loses_less_than_a_second_and_changes_no_sample(tmp_path, moment):
    """Takes of 3 s at the pace of a sound card, held against the sound that it was given. The
    process counts that in memory that outlives it."""
    folder, count = tmp_path / "a", tmp_path / "pushed"
    killed(folder, count, moment)
    pushed = int(np.memmap(count, np.int64, "r", shape=1)[0])
    assert pushed > 1.0 * RATE  # so that to keep nothing would be to lose more
    session = sealing.record_session(
        small_sessions.NoiseRig(), small_sessions.plan(folder), takes=3, duration=0.1
    ).session
    assert session.rejected == () and session.takes
    source = recorder(paced=False)
    for take in session.takes:
        rendered = source.record(DURATION).samples
        kept = recordings.load_take(folder / take.file)
        assert kept.shape[1] == take.frames
        np.testing.assert_array_equal(kept, rendered[:, : take.frames])
    kept = sum(take.frames for take in session.takes)
    assert pushed - RATE < kept <= pushed + 512  # a block may be pushed and not counted
    assert all(take.frames == DURATION * RATE for take in session.takes[:-1])
