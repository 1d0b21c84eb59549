"""The wheel holds one package, `ricochet`, whole: code, data and what pip shows of it."""

import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.checkouts import copy, tracked

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {".py", ".xml", ".html", ".css", ".js"}
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_it_describes_itself(wheel):
    found = metadata(wheel)
    assert found["Name"] == "ricochet-lab"
    assert found["Requires-Python"] == "<3.14,>=3.11"
    assert found.get_payload().startswith("# Ricochet")
    shown = found.get_all("Classifier", [])
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= set(shown)
