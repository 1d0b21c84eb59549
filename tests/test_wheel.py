"""The wheel holds one package, `ricochet`, whole: code, data and what pip shows of it."""

import json
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig
from tests.checkouts import copy, tracked

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".py", ".xml", ".html", ".css", ".js"}
BEFORE = ("pip", "setuptools", "_distutils_hack", "pkg_resources")
"""What an empty environment holds."""
LAYERS = ("flows", "tasks", "hardware", "models")
DATA = {"params.yaml", "prefect.yaml", "mlflow/server.yaml", "py.typed"}
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build from a copy of what Git tracks, so that the checkout stays as it is; no network."""
    place = tmp_path_factory.mktemp("wheel")
    copy(tracked(), place)
    command = [sys.executable, "-W", "ignore", "-c", BUILD, str(place)]
    subprocess.run(command, cwd=place, check=True, capture_output=True)
    (built,) = place.glob("*.whl")
    return zipfile.ZipFile(built)


def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (each for each in wheel.namelist() if each.endswith("/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


@pytest.mark.proof
def test_it_puts_nothing_but_ricochet_into_an_environment(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    (described,) = tops - {"ricochet"}
    assert described.startswith("ricochet_lab-") and described.endswith(".dist-info")


@pytest.mark.slow
def test_it_holds_every_module_and_every_file_that_the_code_reads(wheel):
    data = {f"ricochet/{name}" for name in DATA}
    for layer in LAYERS:
        files = [path for path in (ROOT / layer).rglob("*") if path.suffix in SUFFIXES]
        data |= {f"ricochet/{path.relative_to(ROOT)}" for path in files}
    assert data <= set(wheel.namelist())
    for name in DATA - {"py.typed"}:
        assert wheel.read(f"ricochet/{name}") == (ROOT / name).read_bytes()


@pytest.fixture(scope="module")
def installed(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the base install alone, from the package index."""
    environment = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    command = [str(environment / "bin" / "pip"), "install", "-q", "--no-compile", wheel.filename]
    found = subprocess.run(command, capture_output=True, text=True)
    if "Failed to establish a new connection" in found.stderr:
        pytest.skip("no package index can be reached")
    assert found.returncode == 0, found.stderr
    return environment


def outside(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in a folder that knows nothing of the checkout."""
    kept = {"PATH": f"{installed / 'bin'}:/usr/bin:/bin", "HOME": str(folder)}
    command = [str(installed / "bin" / words[0]), *words[1:]]
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True)


@pytest.mark.slow
def test_installed_alone_it_answers_a_recording_where_it_stands(installed, tmp_path):
    """Without the lab's packages, in a folder of the user's, within 300 MB (bytecode apart)."""
    rig = default_rig("bench")
    scene = Scene(0.85, 4.0, 0.3, reverberation_time=0.0)
    recorded = SimulatedRig(rig, scene, draw=np.random.default_rng(3)).record(2.0).samples
    soundfile.write(tmp_path / "clip.wav", recorded[0], rig.sample_rate)
    found = outside(installed, tmp_path, "ricochet", "calibrate", "clip.wav", "--no-publish")
    assert found.returncode == 0, found.stderr
    answer = json.loads((tmp_path / "artifacts" / "calibrate" / "clip" / "result.json").read_text())
    low, high = answer["restitution"]["at_reference"]["region_90"]
    assert 0.8 < low < high < 0.9
    refused = outside(installed, tmp_path, "ricochet", "capture", "--session", "a")
    assert refused.returncode == 2 and "ricochet-lab[lab]" in refused.stderr
    asked = outside(
        installed, tmp_path, "python", "-c", "import ricochet; print(ricochet.__file__)"
    )
    assert asked.stdout.startswith(str(installed))
    (place,) = (installed / "lib").glob("python3*/site-packages")
    assert {"torch", "mlflow", *LAYERS}.isdisjoint(path.name for path in place.iterdir())
    added = [path for path in place.iterdir() if path.name.split("-")[0] not in BEFORE]
    files = [file for path in added for file in (path, *path.rglob("*")) if file.is_file()]
    assert sum(file.stat().st_size for file in files if file.suffix != ".pyc") < 300e6


@pytest.mark.slow
def test_it_describes_itself(wheel):
    found = metadata(wheel)
    assert found["Name"] == "ricochet-lab"
    assert found["Requires-Python"] == "<3.14,>=3.11"
    assert found.get_payload().startswith("# Ricochet")
    shown = found.get_all("Classifier", [])
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= set(shown)
