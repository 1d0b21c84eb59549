"""kill -9 in mid-capture loses at most one second of audio; every complete take is exact."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import sealing
from tests.tasks import sessions

CAPTURE = """
import sys
from pathlib import Path
import numpy as np
from hardware.microphones.interface import default_rig
from hardware.microphones.simulated import Scene, SimulatedRig
from tasks import sealing
from tests.tasks import sessions
folder = Path(sys.argv[1])
rig = default_rig("paced")
scene = Scene(restitution=0.85, log10_concentration=3.5, reverberation_time=0.0)
recorder = SimulatedRig(rig, scene, draw=np.random.default_rng(1), paced=True)
print("ready", flush=True)
sealing.record_session(recorder, sessions.plan(folder, rig=rig), drops=9, duration=1.3)
"""


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.7, 1.9, 3.1])
def test_kill_in_mid_capture_loses_less_than_a_second(tmp_path, wait):
    """Takes of 1.3 s at the pace of a sound card; the audio kept falls short by the time between
    two drainings of the ring, and by the start of each take."""
    folder = tmp_path / "a"
    process = subprocess.Popen(
        [sys.executable, "-c", CAPTURE, str(folder)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    partial = sealing.partial_folder(folder)
    while not list(partial.glob("*.journal")):
        pass
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(wait)
    process.send_signal(signal.SIGKILL)
    process.wait()
    session = sealing.record_session(
        sessions.NoiseRig(), sessions.plan(folder), drops=3, duration=0.1
    ).session
    kept = sum(take.frames for take in session.takes) / 44100
    assert session.rejected == () and kept > wait - 1.0
