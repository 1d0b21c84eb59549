"""A file of deployments that has none is refused before a server is started."""

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
