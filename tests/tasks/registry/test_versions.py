"""The registry never points at a package that did not come back whole."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages, runs, versions
from ricochet.tasks.registry.manifests import OlderSchemaError
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR


def begin(tracker, key):
    return runs.open_run(tracker, "registry", key, name=key, tags={}).run_id


def test_registering_twice_adds_one_version_and_the_candidate_is_what_was_written(
    tracker, tmp_path, package
):
    package = dataclasses.replace(package, name="ball-a")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    run_id = begin(tracker, "twice")
    first = versions.register(
        tracker, "ball-a", tmp_path / "package", kind=POSTERIOR, run_id=run_id, tags={}
    )
    again = versions.register(
        tracker, "ball-a", tmp_path / "package", kind=POSTERIOR, run_id=run_id, tags={}
    )
    assert first == again == versions.resolve(tracker, "ball-a")
    assert len(tracker.client.search_model_versions("name = 'ball-a'")) == 1
    found = versions.load(tracker, first, kind=POSTERIOR)
    np.testing.assert_array_equal(found.arrays["log_density"], package.arrays["log_density"])


def test_a_new_run_makes_a_new_version_and_an_old_one_does_not_take_the_alias_back(
    tracker, tmp_path, package
):
    package = dataclasses.replace(package, name="ball-b")
    packages.write_package(tmp_path / "old", package, reader=GRID)
    packages.write_package(
        tmp_path / "new", dataclasses.replace(package, checks={"n": 2}), reader=GRID
    )
    old, new = begin(tracker, "old"), begin(tracker, "new")
    versions.register(tracker, "ball-b", tmp_path / "old", kind=POSTERIOR, run_id=old, tags={})
    latest = versions.register(
        tracker, "ball-b", tmp_path / "new", kind=POSTERIOR, run_id=new, tags={}
    )
    versions.register(tracker, "ball-b", tmp_path / "old", kind=POSTERIOR, run_id=old, tags={})
    assert versions.resolve(tracker, "ball-b") == latest


def test_a_run_has_one_version_where_an_answer_was_lost_and_the_client_asked_again(
    tracker, tmp_path, package, monkeypatch
):
    """The second was registered, and the first found by whoever asked later."""
    package = dataclasses.replace(package, name="ball-lost")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    create = tracker.client.create_model_version

    def twice(*positional, **named):
        create(*positional, **named)
        return create(*positional, **named)

    monkeypatch.setattr(tracker.client, "create_model_version", twice)
    run_id = begin(tracker, "lost")
    registered = versions.register(
        tracker, "ball-lost", tmp_path / "package", kind=POSTERIOR, run_id=run_id, tags={}
    )
    assert registered == versions.of_run(tracker, "ball-lost", run_id)
    assert registered == versions.resolve(tracker, "ball-lost")
    assert registered.version == "1"


def test_a_package_damaged_on_the_way_gets_no_alias(tracker, tmp_path, package, monkeypatch):
    package = dataclasses.replace(package, name="ball-c")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    whole = versions.download_artifacts

    def damage(**arguments):
        place = whole(**arguments)
        with open(f"{place}/checks.json", "a") as file:
            file.write(" ")
        return place

    monkeypatch.setattr(versions, "download_artifacts", damage)
    with pytest.raises(BadInput, match="sha256"):
        versions.register(
            tracker,
            "ball-c",
            tmp_path / "package",
            kind=POSTERIOR,
            run_id=begin(tracker, "damaged"),
            tags={},
        )
    assert versions.resolve(tracker, "ball-c") is None


def test_a_damaged_package_is_not_even_uploaded(tracker, tmp_path, package):
    package = dataclasses.replace(package, name="ball-d")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    (tmp_path / "package" / "extra.pkl").write_bytes(b"x")
    run_id = begin(tracker, "extra")
    with pytest.raises(BadInput, match="only posterior"):
        versions.register(
            tracker, "ball-d", tmp_path / "package", kind=POSTERIOR, run_id=run_id, tags={}
        )
    assert tracker.client.list_artifacts(run_id) == []
    assert tracker.client.search_model_versions("name = 'ball-d'") == []


def test_the_package_of_another_ball_is_neither_registered_nor_loaded(tracker, tmp_path, package):
    """The second version's files are those of another name, put there behind Ricochet's back."""
    packages.write_package(tmp_path / "package", package, reader=GRID)
    run_id = begin(tracker, "another")
    with pytest.raises(BadInput, match="the package of ball-table, expected that of ball-e"):
        versions.register(
            tracker, "ball-e", tmp_path / "package", kind=POSTERIOR, run_id=run_id, tags={}
        )
    assert tracker.client.search_model_versions("name = 'ball-e'") == []
    tracker.client.log_artifacts(run_id, str(tmp_path / "package"), versions.FOLDER)
    tracker.client.create_registered_model("ball-e")
    source = f"runs:/{run_id}/{versions.FOLDER}"
    digest = {versions.DIGEST: sha256(tmp_path / "package" / GRID.manifest)}
    tracker.client.create_model_version("ball-e", source=source, run_id=run_id, tags=digest)
    with pytest.raises(BadInput, match="the package of ball-table"):
        versions.load(tracker, versions.Registered("ball-e", "1"), kind=POSTERIOR)


def test_a_version_of_another_store_is_refused_before_anything_is_fetched(
    tracker, tmp_path, package, monkeypatch
):
    """As whoever may write to the registry can make one."""
    package = dataclasses.replace(package, name="ball-elsewhere")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    create = tracker.client.create_model_version
    tracker.client.create_registered_model("ball-elsewhere")
    monkeypatch.setattr(versions, "download_artifacts", lambda **_: pytest.fail("fetched"))
    for source in ("s3://bucket/package", str(tmp_path / "package"), "http://page.example/a"):
        made = create("ball-elsewhere", source=source)
        with pytest.raises(BadInput, match="expected files of the registry's own store"):
            versions.load(
                tracker, versions.Registered("ball-elsewhere", str(made.version)), kind=POSTERIOR
            )


def test_a_place_of_files_that_cannot_be_one_is_refused(tracker, tmp_path, package, monkeypatch):
    package = dataclasses.replace(package, name="ball-nowhere")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    run = runs.open_run(tracker, "places", "nowhere", name="nowhere", tags={})
    words = {"kind": POSTERIOR, "run_id": run.run_id, "tags": {}}
    made = versions.register(tracker, "ball-nowhere", tmp_path / "package", **words)
    place = f"{tracker.artifacts}/a\0b"
    monkeypatch.setattr(tracker.client, "get_model_version_download_uri", lambda *_: place)
    with pytest.raises(BadInput, match="expected files of the registry's own store"):
        versions.load(tracker, made, kind=POSTERIOR)


def test_what_is_no_package_by_its_size_is_not_fetched(tracker, tmp_path, package, monkeypatch):
    package = dataclasses.replace(package, name="ball-large")
    packages.write_package(tmp_path / "package", package, reader=GRID)
    made = versions.register(
        tracker,
        "ball-large",
        tmp_path / "package",
        kind=POSTERIOR,
        run_id=begin(tracker, "f"),
        tags={},
    )
    monkeypatch.setattr(versions, "download_artifacts", lambda **_: pytest.fail("fetched"))
    monkeypatch.setattr(versions, "LARGEST", 1000)
    with pytest.raises(BadInput, match="expected at most 5 files of 1000 bytes"):
        versions.load(tracker, made, kind=POSTERIOR)


@pytest.mark.parametrize(
    "said", ["", "0", "1/../../.ssh", "/../../.ssh", "..", "1\n", "\u0661", "9" * 10, "None"]
)
def test_what_a_server_names_as_a_version_is_a_number_or_refused(said):
    """Files of a validation are named by it, and uploaded."""
    client = SimpleNamespace(get_model_version_by_alias=lambda *_: SimpleNamespace(version=said))
    with pytest.raises(BadInput, match="its version"):
        versions.resolve(SimpleNamespace(client=client), "ball")


def test_a_package_that_was_exchanged_since_it_was_registered_is_not_loaded(
    tracker, tmp_path, package
):
    """Who may write in a run has a good one judged, and puts the bad one back."""
    name = "ball-exchanged"
    for number in range(2):
        made = dataclasses.replace(package, name=name, checks={"n": number})
        packages.write_package(tmp_path / str(number), made, reader=GRID)
    run = begin(tracker, "exchanged")
    found = versions.register(tracker, name, tmp_path / "0", kind=POSTERIOR, run_id=run, tags={})
    assert versions.load(tracker, found, kind=POSTERIOR).checks == {"n": 0}
    tracker.client.log_artifacts(run, str(tmp_path / "1"), versions.FOLDER)
    with pytest.raises(BadInput, match=r"expected that of its tag package\.sha256"):
        versions.load(tracker, found, kind=POSTERIOR)


def test_a_manifest_of_an_older_schema_in_place_of_another_is_no_older_package(
    tracker, tmp_path, package
):
    """Else a champion that somebody wrote over counts as none, and is compared with nothing."""
    name = "ball-older"
    packages.write_package(tmp_path / "0", dataclasses.replace(package, name=name), reader=GRID)
    run = begin(tracker, "older")
    found = versions.register(tracker, name, tmp_path / "0", kind=POSTERIOR, run_id=run, tags={})
    manifest = (tmp_path / "0" / GRID.manifest).read_text()
    (tmp_path / GRID.manifest).write_text(manifest.replace("posterior/2", "posterior/1"))
    tracker.client.log_artifact(run, str(tmp_path / GRID.manifest), versions.FOLDER)
    with pytest.raises(BadInput, match="expected that of its tag") as refused:
        versions.load(tracker, found, kind=POSTERIOR)
    assert not isinstance(refused.value, OlderSchemaError)
