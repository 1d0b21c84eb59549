"""The image's steps are make targets: they run here in an empty folder, without an engine."""

import os
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
import yaml

from ricochet.flows.servers import lab
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


def services() -> dict[str, dict[str, Any]]:
    """Return the services of compose.yaml."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return found["services"]


def test_services_publish_on_loopback_alone_and_the_database_not_at_all() -> None:
    assert set(services()) == {"database", "lab"}
    assert "ports" not in services()["database"] and "user" not in services()["lab"]
    ports = services()["lab"]["ports"]
    assert ports and all(port.startswith("127.0.0.1:") for port in ports)


def test_no_password_stands_in_the_file_of_services() -> None:
    text = (ROOT / "compose.yaml").read_text()
    assert "POSTGRES_PASSWORD_FILE" in text and "POSTGRES_PASSWORD:" not in text
    assert {name for each in services().values() for name in each["secrets"]} == {"database"}
    ignored = subprocess.run(["git", "check-ignore", "-q", "secrets/database"], cwd=ROOT)
    assert ignored.returncode == 0


def lab_file() -> str:
    """Return the name of the file of the lab in containers."""
    *_, file = services()["lab"]["command"][-1].split()
    return str(file)


def lab_in_containers(monkeypatch: pytest.MonkeyPatch) -> lab.Lab:
    """Return the lab that `up` is given in its container."""
    monkeypatch.setenv("PGSSLMODE", services()["lab"]["environment"]["PGSSLMODE"])
    return lab.load(ROOT / lab_file())


def test_the_servers_in_containers_ask_who_comes_and_use_the_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = lab_in_containers(monkeypatch)
    assert found.login and found.behind_proxy
    for address in (found.mlflow_database, found.prefect_database):
        assert urllib.parse.urlsplit(address).hostname == "database"
    made = services()["database"]["environment"]["POSTGRES_DB"]
    assert found.mlflow_database.endswith(f"/{made}")


def installed() -> list[list[str]]:
    """Return the words of each command that is run as root."""
    runs = [
        value for name, value in instructions() if name == "RUN" and not value.startswith("make")
    ]
    return [each.split() for run in runs for each in run.split("&&")]


def variables() -> dict[str, str]:
    """Return what the image sets in the environment."""
    found = [word for name, value in instructions() if name == "ENV" for word in value.split()]
    return dict(word.split("=", 1) for word in found)


def test_a_backup_and_a_restore_have_their_programs_in_the_image() -> None:
    """They dump and fill PostgreSQL by `pg_dump` and `pg_restore`, of one version with it."""
    (packages,) = [words for words in installed() if words[:2] == ["apt-get", "install"]]
    assert "postgresql-client" in packages
    base = next(value for name, value in instructions() if name == "FROM")
    assert base.endswith("-bookworm") and services()["database"]["image"] == "postgres:15"


def test_the_state_in_containers_can_be_exchanged_and_backups_lie_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A volume itself cannot be renamed; what is beside the state stays when that is restored."""
    volumes = dict(each.split(":") for each in services()["lab"]["volumes"])
    declared = yaml.safe_load((ROOT / "compose.yaml").read_text())["volumes"]
    assert set(declared) == {*volumes, "database"}
    found = lab_in_containers(monkeypatch)
    assert str(found.state.parent) == volumes["state"]
    assert not found.secrets_folder.is_relative_to(found.state)
    assert str(found.secrets_folder.parent) == volumes["state"]
    assert variables()["RICOCHET_ARTIFACTS"] == str(found.state)
    assert variables()["PREFECT_HOME"] == str(found.state / "prefect")
    (owned,) = [words for words in installed() if words[0] == "install"]
    assert {*volumes.values()} <= {*owned} and not {str(found.state)} & {*owned}


def test_what_is_said_of_containers_is_where_they_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    head, found = (ROOT / "compose.yaml").read_text(), lab_in_containers(monkeypatch)
    for name in ("prefect", "mlflow-admin"):
        assert str(found.secrets_folder / name) in head
    page = (ROOT / "docs" / "lab.md").read_text()
    commands = re.findall(r"ricochet (backup|restore) /backups/\S+ .*--config (\S+?)'", page)
    assert commands == [("backup", lab_file()), ("restore", lab_file())]


@pytest.mark.proof
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
