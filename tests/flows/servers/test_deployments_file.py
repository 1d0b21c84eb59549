"""A file of deployments that has none is refused before a server is started for it.

And what deploys it is waited for no longer than its servers run.
"""

import contextlib
import re
import subprocess
import sys

import pytest

from ricochet.flows import cli
from ricochet.flows.servers import deployments
from ricochet.models.core.bad_input import BadInput
from tests.checkouts import ROOT


def test_the_projects_own_is_one():
    assert deployments.check(ROOT / "prefect.yaml") is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "deployments: {}",
        "deployments: []",
        "deployments: [a]",
        "deployments: [{name: a}]",
        "deployments: [{name: a, entrypoint: 7}]",
        "deployments: [{name: '', entrypoint: b}]",
    ],
)
def test_others_are_refused(tmp_path, content):
    (tmp_path / "prefect.yaml").write_text(content)
    with pytest.raises(BadInput, match=r"prefect.yaml: .*expected deployments, each with a name"):
        deployments.check(tmp_path / "prefect.yaml")


def test_nothing_is_started_for_a_file_that_is_not_there(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "state"))
    words = ["up", "--deployments", str(tmp_path / "absent.yaml"), "--state", str(tmp_path / "s")]
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "absent.yaml" in said
    assert not (tmp_path / "s" / "servers").exists()


@contextlib.contextmanager
def programs(*words):
    """Run programs of Python until the block ends."""
    with contextlib.ExitStack() as stack:
        found = []
        for each in words:
            found.append(stack.enter_context(subprocess.Popen([sys.executable, "-c", each])))
            stack.callback(found[-1].kill)
        yield found


STAYS, FAILS = "import time; time.sleep(60)", "raise SystemExit(3)"


def test_what_deploys_is_waited_for(tmp_path):
    with programs("", STAYS) as (process, server):
        deployments.await_end(process, [server], tmp_path / "deploy.log", 60.0)
        assert process.returncode == 0 and server.poll() is None


@pytest.mark.parametrize(
    ("deploys", "serves", "patience", "said"),
    [
        (FAILS, STAYS, 60.0, r"Prefect refused; see .*/deploy\.log"),
        (STAYS, FAILS, 60.0, r"a server ended while flows were deployed; see \S+"),
        (STAYS, STAYS, 0.2, r"flows were not deployed within 0\.2 s; see .*/deploy\.log"),
    ],
)
def test_why_nothing_is_deployed_is_said_in_a_line(tmp_path, deploys, serves, patience, said):
    with programs(deploys, STAYS, serves) as (process, *servers):
        with pytest.raises(RuntimeError) as caught:
            deployments.await_end(process, servers, tmp_path / "deploy.log", patience)
        assert re.fullmatch(said, str(caught.value))
