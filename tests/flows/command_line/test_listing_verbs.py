"""list and show: what is registered, read without a server and without writing."""

import json
import time

import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.flows.command_line import listing_verbs
from ricochet.flows.servers import up
from ricochet.tasks.registry import packages, versions
from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.validation import listing, record
from tests import grid_packages, stores
from tests.tasks.conftest import package  # noqa: F401

NAME = "golf-concrete"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr(up, "prepare_environment", lambda: None)
    return tmp_path


@pytest.fixture
def registry(place, migrated_store):
    """A registry of one posterior, a candidate that was refused once."""
    stores.copied(migrated_store, place / "artifacts" / "mlflow")
    tracker = tracking.connect()
    made = grid_packages.narrow(NAME, (0.8, 3.0), (1e-3, 0.2))
    packages.write_package(place / "package", made, reader=GRID)
    run = tracking.open_run(tracker, "calibrate", "key", name=NAME, tags={})
    tracker.client.log_dict(run.run_id, {"sessions": ["monday", "tuesday"]}, "result.json")
    tags = {"data.digest": "0" * 32 + ".dir"}
    versions.register(
        tracker, NAME, place / "package", kind=POSTERIOR, run_id=run.run_id, tags=tags
    )
    tracking.finish(tracker, run.run_id)
    tags = {"ricochet.name": NAME, "ricochet.candidate": "1", "ricochet.champion": "none"}
    tags |= {"ricochet.gate": "refused"}
    run = tracking.open_run(tracker, record.EXPERIMENT, "trial", name="x", tags=tags)
    tracking.finish(tracker, run.run_id)
    sealed = f"{run.run_id} {'0' * 64} refused"
    tracker.client.set_model_version_tag(NAME, "1", f"{record.VALIDATED}none", sealed)
    return run.run_id


def said(capsys, *words, status=0):
    assert cli.main(words) == status
    return capsys.readouterr()


def census(place):
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in (place / "artifacts").rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def test_an_empty_registry_is_one_line_and_stays_absent(place, capsys, monkeypatch):
    out = ["--out", str(place / "out")]
    looked_at = f"the registry in {place / 'artifacts'} is empty"
    assert looked_at in said(capsys, "list", *out).out
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")
    assert looked_at in said(capsys, "list", *out).out
    assert json.loads(said(capsys, "list", "--json", *out).out)["names"] == []
    refused = said(capsys, "show", NAME, *out, status=2).err
    assert "an empty registry" in refused.splitlines()[-1]
    assert not (place / "artifacts").exists()


def test_list_and_show_say_what_is_registered_and_change_nothing(place, registry, capsys):
    out, before = ["--out", str(place / "out")], census(place)
    header, line, after = said(capsys, "list", *out).out.splitlines()
    assert after == "next: ricochet show golf-concrete"
    assert header.split()[:2] == ["name", "aliases"]
    assert line.startswith("golf-concrete  candidate 1")
    assert "restitution 0.8000 +- 0.0010, log10_concentration 3.00 +- 0.20" in line
    assert "refused 20" in line and line.endswith("  0.0")
    shown = said(capsys, "show", NAME, *out).out
    draws = grid_packages.narrow(NAME, (0.8, 3.0), (1e-3, 0.2)).arrays["samples"][:, 0]
    for part in (
        "monday, tuesday",
        "0123456789abcdef0123456789abcdef.dir",
        "90 %: {:.6g} to {:.6g}".format(*np.quantile(draws, [0.05, 0.95])),
        "refused 20",
        registry,
        "validations as candidate: 1",
        "controllers read the alias champion, which there is not",
        f"/#/models/{NAME}/versions/1",
        "made by                 ricochet calibrate",
    ):
        assert part in shown
    assert census(place) == before


def test_a_name_without_a_version_to_show_leads_to_its_own_page(place, registry, capsys):
    tracking.connect().client.delete_registered_model_alias(NAME, "candidate")
    shown = said(capsys, "show", NAME, "--out", str(place / "out")).out
    assert f"/#/models/{NAME}?" in shown and "None" not in shown


def test_a_run_that_no_version_names_is_no_validation(place, registry, capsys):
    """Whoever may write to the experiment makes one, which passed a year ahead."""
    tracker = tracking.connect()
    tags = {"ricochet.name": NAME, "ricochet.candidate": "1", "ricochet.gate": "passed"}
    experiment = tracker.client.get_experiment_by_name(record.EXPERIMENT).experiment_id
    ahead = int((time.time() + 3e7) * 1000)
    made = tracker.client.create_run(experiment, start_time=ahead, tags=tags, run_name="x")
    tracking.finish(tracker, made.info.run_id)
    (listed,) = json.loads(said(capsys, "list", "--json", "--out", str(place / "out")).out)["names"]
    assert listed["validation"]["run"] == registry


def test_what_others_write_into_a_validation_is_not_believed(place, registry, capsys):
    """The run is the right one; whoever may write to its experiment changes what it says."""
    client = tracking.connect().client
    for key, value in (("gate", "passed"), ("candidate", "77"), ("champion", "x" * 4000)):
        client.set_tag(registry, f"ricochet.{key}", value)
    out = ["--out", str(place / "out")]
    (listed,) = json.loads(said(capsys, "list", "--json", *out).out)["names"]
    assert listed["validation"]["gate"] == "refused"
    assert listed["validation"]["versions"] == {"candidate": "1", "champion": "none"}
    experiment = client.get_run(registry).info.experiment_id
    tags = {"ricochet.name": NAME, "ricochet.candidate": "1"}
    client.create_run(experiment, tags=tags, run_name="x")
    assert "validations as candidate: 1\n" in said(capsys, "show", NAME, *out).out


def test_sessions_are_said_in_one_line(place, registry, capsys):
    tracker = tracking.connect()
    run = tracker.client.get_model_version(NAME, "1").run_id
    tracker.client.log_dict(run, {"sessions": ["a\nb\x1b[2K", "c" * 10_000]}, "result.json")
    shown = said(capsys, "show", NAME, "--out", str(place / "out")).out
    (line,) = [line for line in shown.splitlines() if "a b" in line]
    assert "\x1b" not in line and len(line) < 400


def test_sessions_that_are_no_list_are_none(place, registry, capsys):
    tracker = tracking.connect()
    run = tracker.client.get_model_version(NAME, "1").run_id
    tracker.client.log_dict(run, {"sessions": "monday"}, "result.json")
    shown = said(capsys, "show", NAME, "--json", "--out", str(place / "out")).out
    assert json.loads(shown)["sessions"] == []


def test_json_holds_what_the_lines_say(place, registry, capsys):
    out = ["--json", "--out", str(place / "out")]
    (listed,) = json.loads(said(capsys, "list", *out).out)["names"]
    shown = json.loads(said(capsys, "show", NAME, *out).out)
    assert shown["schema"] == "ricochet.show/1" and shown["sessions"] == ["monday", "tuesday"]
    assert shown["validation"]["run"] == registry
    for key in ("name", "aliases", "version", "numbers", "validation"):
        assert shown[key] == listed[key]


def test_a_name_that_is_not_registered_is_refused_with_those_that_are(place, registry, capsys):
    refused = said(capsys, "show", "golf-sand", "--out", str(place / "out"), status=2).err
    assert "expected one of golf-concrete" in refused.splitlines()[-1]


def test_a_name_that_stands_for_nothing_is_listed_without_what_a_terminal_would_obey(
    place, registry, capsys
):
    tracking.connect().client.create_registered_model("owned\x1b]0;x\x07\u202e")
    listed = said(capsys, "list", "--out", str(place / "out")).out
    assert all(line.isprintable() for line in listed.splitlines())
    odd = next(line for line in listed.splitlines() if line.startswith("owned"))
    assert "unreadable" in odd and "\\x1b" in odd and odd.endswith("  -")  # its age
    assert "restitution 0.8000 +- 0.0010" in listed
    found = json.loads(said(capsys, "list", "--json", "--out", str(place / "out")).out)["names"]
    assert [each["age_days"] is None for each in found] == [False, True]


def test_the_age_of_what_states_no_time_is_not_said(place, registry, capsys, monkeypatch):
    """It was 20787.5 days."""
    monkeypatch.setattr(listing.ModelVersion, "creation_timestamp", 0)
    out = ["--out", str(place / "out")]
    assert said(capsys, "list", *out).out.splitlines()[1].endswith("  -")
    assert "1, at a time not known" in said(capsys, "show", NAME, *out).out


@pytest.mark.parametrize("seconds", [1e305, -1e305, float("nan"), 1e12])
def test_a_time_in_no_year_is_said(seconds):
    assert listing_verbs._date(seconds).startswith("at a time in no year")


def test_a_damaged_package_is_listed_with_its_fault(place, registry, capsys):
    (manifest,) = (place / "artifacts").rglob("posterior.json")
    manifest.write_text("{}")
    line = said(capsys, "list", "--out", str(place / "out")).out.splitlines()[1]
    assert "unreadable: " in line
