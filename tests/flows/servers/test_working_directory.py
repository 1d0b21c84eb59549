"""What lies in the folder where a verb starts is no setting of Prefect's."""

import os
import subprocess
import sys

import pytest

from tests.stores import with_prefect

LOGGING = """
version: 1
formatters:
  any:
    "()": os.system
    command: touch {ran}
handlers:
  any: {{class: logging.StreamHandler, formatter: any}}
root: {{handlers: [any], level: INFO}}
"""
FILES = {
    "prefect.toml": '[logging]\nconfig_path = "{place}"\n',
    "pyproject.toml": '[tool.prefect.logging]\nconfig_path = "{place}"\n',
    ".env": "PREFECT_LOGGING_CONFIG_PATH={place}\n",
}
PLAIN = "from prefect.logging.configuration import setup_logging; setup_logging()"
VERB = """
import urllib.request
from ricochet.flows.servers import up
up.prepare_environment()

from prefect.settings import get_current_settings
assert str(get_current_settings().logging.config_path) != {place!r}
address = str(get_current_settings().api.url)
with urllib.request.urlopen(address + "/health", timeout=120.0) as answer:
    assert answer.status == 200
from prefect.logging.configuration import setup_logging
setup_logging()
"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("prefect.toml", marks=pytest.mark.proof),
        pytest.param("pyproject.toml", marks=pytest.mark.proof),
        pytest.param(".env", marks=pytest.mark.slow),
    ],
)
def test_a_file_in_the_working_directory_runs_nothing(tmp_path, name):
    """Neither in the verb nor in its server; Prefect by itself calls what it names."""
    ran, place = tmp_path / "ran", tmp_path / "logging.yml"
    place.write_text(LOGGING.format(ran=ran))
    (tmp_path / name).write_text(FILES[name].format(place=place))
    with_prefect(tmp_path / "state" / "prefect")
    inherited = {key: each for key, each in os.environ.items() if not key.startswith("PREFECT")}
    own = {"RICOCHET_ARTIFACTS": str(tmp_path / "state"), "PYTHONPATH": os.pathsep.join(sys.path)}
    for program in (VERB.format(place=str(place)), PLAIN):
        assert not ran.exists()
        command = [sys.executable, "-c", program]
        done = subprocess.run(
            command, cwd=tmp_path, env=inherited | own, capture_output=True, text=True
        )
        assert program == PLAIN or done.returncode == 0, done.stderr
    assert ran.exists()
