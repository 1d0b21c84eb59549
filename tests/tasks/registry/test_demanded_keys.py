"""Where the environment names a key, all that makes a controller of a package demands it."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import ricochet
from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages, signatures
from ricochet.tasks.systems.air_hockey.policies import agents as shooting
from ricochet.tasks.systems.air_hockey.policies import packages as shooters
from ricochet.tasks.systems.batting import agents as batting
from ricochet.tasks.systems.batting import packages as batters
from ricochet.tasks.systems.drawers import controllers
from ricochet.tasks.systems.drawers import packages as drawers
from ricochet.tasks.systems.rigid_bodies import particle_packages
from tests.crash import whole_packages
from tests.tasks.registry.test_signatures import new_key


def followed(folder, **words):
    """Return what a controller holds that follows the packages of a folder."""
    kept = folder.parent / "kept"
    return ricochet.champion(folder.name, ricochet.Folder(folder.parent), kept, **words).current()


LOADERS = {
    "load_posterior": ("family", ricochet.load_posterior),
    "champion": ("family", followed),
    "particles": ("particles", particle_packages.read),
    "drawer": ("drawer", controllers.load),
    "drawer's package": ("drawer", drawers.read),
    "batting": ("batting", batting.load),
    "batting's package": ("batting", batters.read),
    "shooting": ("shooting", shooting.load),
    "shooting's package": ("shooting", shooters.read),
}


@pytest.fixture(params=LOADERS)
def loaded(request, tmp_path, monkeypatch):
    """A loader, an unsigned package of its kind, and the laboratory's key in the environment."""
    kind, load = LOADERS[request.param]
    package, reader = whole_packages.made(kind, tmp_path / "made"), whole_packages.READERS[kind]
    folder = tmp_path / "shelf" / package.name
    packages.write_package(folder, package, reader=reader)
    private, public = new_key(tmp_path, "ours")
    monkeypatch.setenv(signatures.PUBLIC_KEY, public.hex())
    return SimpleNamespace(load=load, folder=folder, reader=reader, private=private, public=public)


def test_an_unsigned_package_is_refused_unless_it_is_asked_for(loaded):
    with pytest.raises((BadInput, ricochet.NoPosteriorError)):
        loaded.load(loaded.folder)
    assert loaded.load(loaded.folder, key="unsigned")


def test_a_package_of_the_demanded_key_is_taken_and_of_no_other(loaded, monkeypatch):
    content = signatures.sign(loaded.folder, loaded.reader, loaded.private)
    (loaded.folder / loaded.reader.signature).write_text(json.dumps(content))
    assert loaded.load(loaded.folder)
    with pytest.raises((BadInput, ricochet.NoPosteriorError)):
        loaded.load(loaded.folder, key="ab" * 32)
    monkeypatch.setenv(signatures.PUBLIC_KEY, "ab" * 32)
    with pytest.raises((BadInput, ricochet.NoPosteriorError)):
        loaded.load(loaded.folder)
    assert loaded.load(loaded.folder, key=loaded.public)


def test_without_a_key_in_the_environment_unsigned_packages_are_taken(loaded, monkeypatch):
    monkeypatch.delenv(signatures.PUBLIC_KEY)
    assert loaded.load(loaded.folder)


def test_the_environment_cannot_ask_for_unsigned_packages(loaded, monkeypatch):
    monkeypatch.setenv(signatures.PUBLIC_KEY, signatures.UNSIGNED)
    with pytest.raises(BadInput, match="expected a public key"):
        loaded.load(loaded.folder)


def test_a_folder_is_exported_if_it_is_signed_or_said_to_be_unsigned(tmp_path, monkeypatch, capsys):
    folder = Path(tmp_path, "tennis-table")
    package = whole_packages.made("family", tmp_path / "made")
    packages.write_package(folder, package, reader=whole_packages.GRID)
    monkeypatch.setenv(signatures.PUBLIC_KEY, "ab" * 32)
    words = ["export", str(folder), "--to", "mujoco", "--out", str(tmp_path / "out")]
    assert cli.main(words) == 2
    assert "found no signature, expected one of key abab" in capsys.readouterr().err
    assert cli.main([*words, "--unsigned"]) == 0
