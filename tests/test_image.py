"""The image's steps are make targets: they run here in an empty folder, without an engine."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.checkouts import copy, python_path, tracked

ROOT = Path(__file__).resolve().parents[1]


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions with their arguments, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text())
    rows = [row for row in text.splitlines() if row and not row.startswith("#")]
    return [(row.split(" ", 1)[0], row.split(" ", 1)[1]) for row in rows]


def steps_after_the_user() -> list[tuple[str, str]]:
    """Return what is run and copied as the user that is not root."""
    found = instructions()
    start = next(index for index, (name, _) in enumerate(found) if name == "USER")
    return [step for step in found[start:] if step[0] in ("COPY", "RUN")]


def test_the_image_runs_as_a_user_that_is_not_root():
    users = [value for name, value in instructions() if name == "USER"]
    assert users and users[-1] != "root"


def test_all_that_is_run_as_that_user_are_make_targets():
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name, value in steps_after_the_user():
        if name == "RUN":
            command, *named = value.split()
            assert command == "make" and named and set(named) <= targets


def test_what_is_copied_by_name_is_in_the_repository():
    for name, value in steps_after_the_user():
        if name == "COPY":
            *sources, _ = [word for word in value.split() if not word.startswith("--")]
            assert all((ROOT / source).exists() for source in sources)


def test_services_publish_on_loopback_alone_and_use_one_image():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert set(services) == {"mlflow", "prefect", "worker"}
    for service in services.values():
        assert service["image"] == "ricochet" and "user" not in service
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_the_tracking_server_answers_the_hosts_that_the_worker_uses():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    allowed = next(
        word.partition("=")[2].split(",")
        for word in services["mlflow"]["command"]
        if word.startswith("--allowed-hosts=")
    )
    served = yaml.safe_load((ROOT / "mlflow" / "server.yaml").read_text())["allowed_hosts"]
    assert sorted(allowed) == sorted(served) and "mlflow:*" in allowed


@pytest.mark.slow
def test_the_steps_of_the_image_run_in_an_empty_folder(tmp_path):
    """`VENV` names an environment to reuse: the one of this test, if `make setup` made it.

    Its stamps say that it holds this lock and this project; then no package is installed again.
    """
    venv = Path(sys.prefix)
    if not list(venv.glob(".packages-*")) or not list(venv.glob(".project-*")):
        pytest.skip("this environment was not made by `make setup`")
    app = tmp_path / "app"
    app.mkdir()
    subprocess.run(["git", "init", "-q", str(app)], check=True)
    environment = os.environ | {"VENV": str(venv), "PYTHONPATH": python_path(app)}
    said = ""
    for name, value in steps_after_the_user():
        words = [word for word in value.split() if not word.startswith("--")]
        if name == "COPY":
            copy(tracked() if words[0] == "." else words[:-1], app)
        else:
            done = subprocess.run(
                ["make", "-e", *words[1:]], cwd=app, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr[-2000:]
            said += done.stdout
    assert "matches requirements.lock, nothing installed" in said
    assert len(list((app / "data").glob("*/session.json"))) >= 4
    helped = subprocess.run(
        [sys.executable, "-m", "ricochet.flows.cli", "--help"],
        cwd=app,
        env=environment,
        capture_output=True,
    )
    assert helped.returncode == 0
