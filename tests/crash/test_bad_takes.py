"""A bad take is set aside with its reason and the rest goes on, up to the detected drops."""

import json

import numpy as np
import pytest
import soundfile

from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.storage import files
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from tests.tasks.recordings import small_sessions

KEPT = 2


@pytest.fixture(scope="module")
def drops():
    """Two takes of a simulated rig in a free field, as the first and the last of a session."""
    rig = default_rig("simulated")
    scene = Scene(0.85, 3.5, drop_height=0.26, reverberation_time=0.0)
    recorder = SimulatedRig(rig, scene, draw=np.random.default_rng(3))
    return rig, [recorder.record(1.3).samples for _ in range(KEPT)]


def truncated(path, samples, rate):
    path.write_bytes(path.read_bytes()[:-1000])


def zero_bytes(path, samples, rate):
    path.write_bytes(b"")


def channels(path, samples, rate):
    soundfile.write(path, samples[:2].T, rate)


def rate(path, samples, rate):
    soundfile.write(path, samples.T, rate // 2)


def not_a_number(path, samples, rate):
    spoilt = samples.copy()
    spoilt[1, 400] = np.nan
    soundfile.write(path, spoilt.T, rate, subtype="FLOAT")


def clipped(path, samples, rate):
    soundfile.write(path, np.clip(1000.0 * samples, -1.0, 1.0).T, rate)


def stuck(path, samples, rate):
    spoilt = samples.copy()
    spoilt[2, 5000:] = 0.125
    soundfile.write(path, spoilt.T, rate)


def flipped_bit(path, samples, rate):
    content = bytearray(path.read_bytes())
    content[-7] ^= 1
    path.write_bytes(content)


SPOILERS = {
    truncated: "cut short",
    zero_bytes: "zero bytes",
    channels: "2 channels, expected 3",
    rate: "22050 Hz, expected 44100 Hz",
    not_a_number: "nan in channel 1 at frame 400",
    clipped: "clipped",
    stuck: "channel 2: found stuck",
    flipped_bit: "sha256",
}


def redigest(folder, name):
    """Let `session.json` hold the digest of a spoilt file, as if it had been recorded so."""
    content = json.loads((folder / recordings.MANIFEST).read_text())
    for entry in content["takes"]:
        if entry["file"] == name:
            entry["sha256"] = files.sha256((folder / name).read_bytes())
    (folder / recordings.MANIFEST).write_text(json.dumps(content))


def test_eight_bad_takes_are_set_aside_and_the_others_are_detected(tmp_path, drops):
    rig, good = drops
    takes = [good[0], *[0.9 * good[0]] * len(SPOILERS), good[1]]
    plan = small_sessions.plan(tmp_path / "evening", rig=rig)
    small_sessions.write_session(plan, takes, form="wav")
    for number, spoil in enumerate(SPOILERS, start=1):
        path = plan.folder / f"take-{number:04d}.wav"
        spoil(path, good[0], rig.sample_rate)
        if spoil is not flipped_bit:
            redigest(plan.folder, path.name)
    result = detections.detect([plan.folder])
    names = [take.file for take in result.takes]
    assert names == ["evening/take-0000.wav", "evening/take-0009.wav"]
    reasons = {entry.file: entry.reason for entry in result.rejected}
    assert len(reasons) == len(SPOILERS)
    for number, says in enumerate(SPOILERS.values(), start=1):
        assert says in reasons[f"evening/take-{number:04d}.wav"]
    assert detections.measured(result, release_sd=5e-3).times.shape == (KEPT, 3)
