"""One microphone and no server: what a telephone's recording gives, and what it does not import."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.models.sound import impact_synthesis
from ricochet.models.sound.arrays import Microphones

DATA = os.environ.get("RICOCHET_REAL_DATA") or Path(__file__).parents[3] / "shared" / "data"
REAL = Path(DATA) / "bounce_audio" / "eeps_pingpong" / "pingpong.wav"
SERVERS = {"prefect", "mlflow", "dvc", "librosa", "optuna"}
TRACE = f"""
import sys
from ricochet.flows import cli
status = cli.main(sys.argv[1:])
print("HEAVY", sorted(set({sorted(SERVERS)!r}) & set(sys.modules)))
sys.exit(status)
"""


def calibrate(*words):
    command = [sys.executable, "-c", TRACE, "calibrate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


def clip(path, *, restitution, bounces=14, seed=5, peak=None):
    """Write a mono recording of a ball that bounces straight up and down, of a given peak."""
    intervals = 0.45 * restitution ** np.arange(bounces - 1)
    times = 0.3 + np.concatenate([[0.0], np.cumsum(intervals)])
    samples = impact_synthesis.render(
        times,
        np.tile([0.5, 0.0, 0.0], (bounces, 1)),
        0.3 * restitution ** np.arange(bounces),
        microphones=Microphones(np.zeros((1, 3)), sample_rate=44100.0),
        duration=float(times[-1]) + 0.5,
        draw=np.random.default_rng(seed),
        noise=impact_synthesis.Background(snr=30.0),
    )
    if peak is not None:
        samples = np.clip(samples * peak / np.abs(samples).max(), -1.0, 1.0 - 2.0**-15)
    soundfile.write(path, samples.T, 44100, subtype="PCM_16")


@pytest.mark.slow
def test_a_mono_recording_gives_restitution_and_starts_no_server(tmp_path):
    clip(tmp_path / "clip.wav", restitution=0.87)
    found = calibrate(tmp_path / "clip.wav", "--out", tmp_path / "out")
    assert found.returncode == 0, found.stderr
    assert "HEAVY []" in found.stdout
    assert "log10_concentration unknown" in found.stdout
    assert found.stdout.count("*") >= 10
    assert all(line.endswith("...") for line in found.stderr.splitlines())
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    low, high = result["region_90"]["restitution"]
    assert result["mean"][0] == pytest.approx(0.87, abs=0.005)
    assert high - low < 0.03
    assert result["unknown"] == ["log10_concentration"]
    assert result["registered"] is None
    with np.load(tmp_path / "out" / result["samples"]) as arrays:
        assert arrays["theta"].shape == (4000, 2)
        assert arrays["theta"].dtype == np.float64
        assert arrays["theta"][:, 0].mean() == pytest.approx(result["mean"][0], abs=1e-3)
    assert (tmp_path / "out" / "figures" / "recording.png").exists()


@pytest.mark.proof
@pytest.mark.parametrize(("overdrive", "warned"), [(0.9999, False), (1.5, True), (10.0, True)])
def test_an_overdriven_recording_is_answered_and_said_to_be_clipped(tmp_path, overdrive, warned):
    clip(tmp_path / "clip.wav", restitution=0.87, peak=overdrive)
    found = calibrate(tmp_path / "clip.wav", "--no-publish", "--out", tmp_path / "out")
    assert found.returncode == 0, found.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["mean"][0] == pytest.approx(0.87, abs=0.005)
    assert ("  ! channel 0 is clipped" in found.stdout) == warned
    findings = json.loads((tmp_path / "out" / "details.json").read_text())["findings"]
    assert ("clipped" in [finding["name"] for finding in findings]) == warned


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="the real recording is not at hand")
def test_the_real_recording_gives_its_published_restitution(tmp_path):
    """Its author's table gives 0.9457; 0.006 is the drift of the ratio over its 52 bounces."""
    found = calibrate(REAL, "--no-publish", "--out", tmp_path)
    assert found.returncode == 0, found.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["mean"][0] == pytest.approx(0.9457, abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        "noise",
        "text",
        pytest.param("silence", marks=pytest.mark.proof),
        pytest.param("empty", marks=pytest.mark.proof),
    ],
)
def test_what_is_no_recording_of_bounces_is_one_line_and_exit_two(tmp_path, content):
    path = tmp_path / "clip.wav"
    if content in ("silence", "noise"):
        scale = 0.0 if content == "silence" else 0.01
        samples = np.random.default_rng(0).normal(scale=scale, size=22050)
        soundfile.write(path, samples, 22050)
    else:
        path.write_text("no sound" if content == "text" else "")
    found = calibrate(path, "--no-publish", "--out", tmp_path / "out")
    assert found.returncode == 2, found.stdout
    *announced, said = found.stderr.splitlines()
    assert str(path) in said and "expected" in said
    assert all(line.endswith("...") for line in announced)
    assert not (tmp_path / "out" / "result.json").exists()


def test_a_page_of_a_session_is_refused_before_anything_is_loaded(tmp_path):
    found = calibrate(tmp_path, "--page", "--out", tmp_path / "out")
    assert found.returncode == 2
    assert "--page: found session folders, expected bare recordings alone" in found.stderr


@pytest.mark.proof
def test_one_bad_clip_among_others_is_said_after_their_answers_and_a_page_is_renewed(tmp_path):
    place, good, bad = tmp_path / "out", tmp_path / "good.wav", tmp_path / "bad.wav"
    clip(good, restitution=0.87)
    bad.write_text("no sound")
    found = calibrate(good, bad, "--page", "--out", place)
    assert found.returncode == 2
    assert "good:" in found.stdout and "restitution 0.8" in found.stdout
    assert str(bad) in found.stderr.splitlines()[-1] and "expected" in found.stderr
    assert not (place / "bad").exists()
    first = (place / "good" / "page.html").read_text()
    again = calibrate(good, "--ball", "golf", "--out", place)
    assert again.returncode == 0, again.stderr
    assert "replaces the earlier answer (no ball named)" in again.stdout
    assert "--ball golf --page" in (place / "good" / "page.html").read_text() != first
