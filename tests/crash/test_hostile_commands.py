"""Hostile inputs by the real command line: exit 2, one line, at most a gigabyte.

`python -m pytest tests/crash/test_hostile_commands.py -m slow -s` prints the most memory that one
took.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.tasks.recordings import audio_files
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import sha256
from tests.crash import hostile_json, hostile_sounds, hostile_tables
from tests.tasks.recordings import small_sessions

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
MOST = 10**9
"""Bytes."""
LONGEST = 300
"""s, of a command on a machine that is busy; none waits for anything."""
NOTING_PEAK = """
import atexit, sys
from pathlib import Path
peak = Path(sys.argv.pop(1))
status = Path("/proc/self/status")
atexit.register(lambda: peak.write_text(status.read_text().split("VmHWM:")[1].split()[0]))
from ricochet.flows.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""A verb that notes its most memory, kB; `ru_maxrss` would be that of its parent, if larger."""
ROWS: list[tuple[int, float, str]] = []


def refused(folder: Path, words: Sequence[str]) -> str:
    """Run a command that must refuse its input; return the line on standard error."""
    said, peak, started = folder / "said", folder / "peak", time.monotonic()
    with said.open("wb") as errors:
        child = subprocess.Popen(
            [sys.executable, "-c", NOTING_PEAK, str(peak), *words, "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST)),
        )
        child.wait()
    text = said.read_text()
    assert peak.exists(), (words, child.returncode, text[-1000:])
    most = 1024 * int(peak.read_text())
    ROWS.append((most, time.monotonic() - started, " ".join(words)[:60]))
    assert child.returncode == 2, (words, child.returncode, text[-1000:])
    assert text.count("\n") == 1 and "Traceback" not in text, (words, text[-1000:])
    assert text.strip().isprintable() and len(text) < 4000, words
    assert most < MOST, (words, most)
    return text


def session(folder: Path, **changes: object) -> Path:
    """Write a session of one take whose manifest has other values."""
    plan = small_sessions.plan(folder)
    small_sessions.write_session(plan, [small_sessions.noise(1)])
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | changes))
    return folder


def calibrate(path: object) -> list[str]:
    return ["calibrate", str(path), "--no-publish"]


def test_sessions_of_too_much_are_refused(tmp_path: Path) -> None:
    take = {"file": "a.wav", "sha256": "0" * 64, "frames": 1, "xruns": 0}
    many = [take | {"file": f"{number}.wav"} for number in range(200_000)]
    refused(tmp_path, calibrate(session(tmp_path / "takes", takes=many)))
    deep = session(tmp_path / "deep") / MANIFEST
    deep.write_text("[" * 200_000)
    refused(tmp_path, calibrate(deep.parent))


@pytest.mark.proof
def test_sessions_of_as_many_values_as_are_read_are_refused(tmp_path: Path) -> None:
    manifest = session(tmp_path / "full") / MANIFEST
    before = '{"schema":"ricochet.session/1","takes":'
    for _, content in hostile_json.many_values(before, "}"):
        manifest.write_bytes(content)
        refused(tmp_path, calibrate(manifest.parent))


@pytest.mark.proof
def test_sounds_of_too_much_are_refused(tmp_path: Path) -> None:
    clip = tmp_path / "clip.wav"
    with clip.open("wb") as file:
        file.write(hostile_sounds.header(1, 48000, 16, 2**31))
        file.truncate(2**31)
    assert "bytes" in refused(tmp_path, calibrate(clip))
    clip.write_bytes(dict(hostile_sounds.cases())["silence of the largest size"])
    assert "silence" in refused(tmp_path, calibrate(clip))
    clip.unlink()
    os.mkfifo(clip)
    refused(tmp_path, calibrate(clip))
    clip.unlink()
    clip.symlink_to("/dev/zero")
    refused(tmp_path, calibrate(clip))


@pytest.mark.proof
def test_clicks_without_a_ball_are_sought_in_little_memory(tmp_path: Path) -> None:
    """Every kind of click there is, in recordings as long as they are read: 2.9 GB once."""
    for step in (7, 40_000):
        wave = np.zeros((1, limits.SAMPLES))
        wave[0, ::step] = 0.9
        clip = tmp_path / f"{step}.flac"
        clip.write_bytes(audio_files.encode(wave, sample_rate=48_000, form="flac"))
        del wave
        said = refused(tmp_path, [*calibrate(clip), "--ball", "golf"])
        assert "no ball" in said or "no drop" in said


@pytest.mark.proof
def test_sounds_of_many_bytes_a_sample_take_no_more(tmp_path: Path) -> None:
    """The form that recorders do not write: numbers of eight bytes."""
    clip, draw = tmp_path / "double.wav", np.random.default_rng(0)
    for channels in (1, 2):
        wave = 1e-4 * draw.standard_normal((limits.SAMPLES // channels, channels))
        wave[::9000] = 0.9
        soundfile.write(clip, wave, 48_000, subtype="DOUBLE")
        del wave
        refused(tmp_path, [*calibrate(clip), "--ball", "golf"])


@pytest.mark.proof
def test_a_session_whose_takes_all_lie_is_refused(tmp_path: Path) -> None:
    folder = session(tmp_path / "lies")
    take = json.loads((folder / MANIFEST).read_text())["takes"][0]
    listed = []
    for number, (_, content) in enumerate(hostile_sounds.cases()):
        if len(content) < 10**6:
            name = f"bad-{number:03d}.wav"
            (folder / name).write_bytes(content)
            listed.append(take | {"file": name, "sha256": sha256(content)})
    full = np_noise_of_the_largest_size()
    (folder / "full.wav").write_bytes(full)
    listed.append(take | {"file": "full.wav", "sha256": sha256(full)})
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"takes": listed}))
    refused(tmp_path, calibrate(folder))


def np_noise_of_the_largest_size() -> bytes:
    """Return three channels of 8 bit that are one square wave: clipped, stuck and copied."""
    frames = limits.SAMPLES // 3
    wave = (b"\xff" * 300 + b"\0" * 300) * (frames // 200 + 1)
    size = 3 * frames
    return hostile_sounds.header(3, 16_000, 8, size) + wave[:size]


def test_settings_and_options_out_of_range_are_refused(tmp_path: Path) -> None:
    assert "0.01" in refused(tmp_path, ["simulate", "--set", "calibrate.contact_sd=1e308"])
    params = tmp_path / "params.yaml"
    params.write_text("a: &a [x]\nb: [*a, *a]")
    refused(tmp_path, ["simulate", "--params", str(params)])
    params.unlink()
    os.mkfifo(params)
    refused(tmp_path, ["simulate", "--params", str(params)])
    refused(tmp_path, ["simulate", "--seed", "9" * 5000])
    refused(tmp_path, ["simulate", "--\x1b[31mred"])
    assert "65535" in refused(tmp_path, ["up", "--mlflow-port", "99999999"])


def test_names_of_too_many_letters_are_refused(tmp_path: Path) -> None:
    name = "a" * 5000
    assert "too long" in refused(tmp_path, calibrate(tmp_path / f"{name}.wav"))
    assert "too long" in refused(tmp_path, ["simulate", "--out", name])
    assert "too long" in refused(tmp_path, ["restore", name, "--state", "state"])


@pytest.mark.proof
def test_tables_models_and_results_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "motion.csv"
    tables = dict(hostile_tables.tables())
    table.write_bytes(tables["a row of 16 million cells"])
    refused(tmp_path, ["infer", "double-pendulum", str(table), "--rate", "100"])
    table.write_bytes(tables["six million cells"])
    refused(tmp_path, ["infer", "impacts", str(table)])
    model = tmp_path / "model.xml"
    model.write_bytes(dict(hostile_tables.growing_models())["a height field of 10^10"])
    (tmp_path / "model.yaml").write_text("a: {of: joint x damping, low: 0.1, high: 1}")
    refused(tmp_path, ["infer", "--model", str(model), str(table)])
    (tmp_path / "result.json").symlink_to("/dev/zero")
    refused(tmp_path, ["plan", str(tmp_path), "--restitution-sd", "0.01"])


def test_all_commands_in_figures() -> None:
    if not ROWS:
        pytest.skip("no command was tried in this process")
    most, slowest = max(ROWS), max(ROWS, key=lambda row: row[1])
    assert 0 < most[0] < MOST
    print(  # noqa: T201
        f"\n{len(ROWS)} commands, all refused; the most memory {most[0] / 1e6:.0f} MB ({most[2]}), "
        f"the slowest {slowest[1]:.1f} s ({slowest[2]})"
    )
