"""Where too little space is free, no night begins and no session is recorded."""

import shutil

import pytest

from ricochet.flows import capture, cli, nightly
from ricochet.flows.servers import up
from ricochet.models.core.bad_input import BadInput


@pytest.fixture
def nearly_full(monkeypatch, tmp_path):
    """A disk with 2 GB free."""
    usage = shutil.disk_usage(tmp_path)._replace(free=2 * 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(up, "prepare_environment", lambda: None)


def test_a_night_without_the_space_it_needs_is_refused_and_takes_no_step(
    tmp_path, steps, begin_late, nearly_full
):
    begin_late(5)
    line = r"2\.00 GB free, expected at least 5\.00 GB \(nightly\.free_space\)"
    with pytest.raises(BadInput, match=line):
        nightly.nightly.fn(session="tonight", out=str(tmp_path / "out"))
    assert steps == [] and not (tmp_path / "out").exists()
    enough = ["nightly.free_space=1e9"]
    nightly.nightly.fn(session="tonight", out=str(tmp_path / "out"), overrides=enough)
    assert steps[0][0] == "capture"


def test_a_capture_without_the_space_it_needs_is_refused_and_records_nothing(
    tmp_path, rig, published, begin_late, nearly_full, capsys
):
    begin_late(5)
    more = ["capture.free_space=3e9"]
    with pytest.raises(BadInput, match=r"capture\.free_space"):
        capture.capture.fn(session="a", out=str(tmp_path / "out"), overrides=more)
    words = ["--session", "a", "--no-publish", "--out", str(tmp_path / "out"), "--set", *more]
    assert cli.main(["capture", *words]) == 2
    assert "2.00 GB free, expected at least 3.00 GB" in capsys.readouterr().err
    assert rig.takes == 0 and not (tmp_path / "out" / "a").exists()
