"""A package cannot run code and cannot differ from its manifest without being refused."""

import hashlib
import json
import os
import pickle

import numpy as np
import pytest
import safetensors.numpy

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID


class Trap:
    def __reduce__(self):
        return os.mkdir, ("trap-sprung",)


@pytest.fixture
def written(tmp_path, package):
    packages.write_package(tmp_path / "package", package, reader=GRID)
    return tmp_path / "package"


def put(folder, name, content):
    """Replace a file and forge its digest, as an attacker would."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "posterior.json").read_text())
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "posterior.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", GRID.content)
def test_a_pickle_in_place_of_a_file_is_refused_and_not_run(written, name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    put(written, name, pickle.dumps(Trap()))
    with pytest.raises(BadInput):
        packages.read_package(written, reader=GRID)
    assert not (tmp_path / "trap-sprung").exists()


@pytest.mark.parametrize("name", ["model.pkl", "loader.py", "MLmodel", ".hidden"])
def test_an_extra_file_is_refused(written, name):
    (written / name).write_text("x")
    with pytest.raises(BadInput, match="only posterior"):
        packages.read_package(written, reader=GRID)


@pytest.mark.parametrize("name", ["posterior.json", *GRID.content])
def test_a_missing_file_is_refused(written, name):
    (written / name).unlink()
    with pytest.raises(BadInput, match="only posterior"):
        packages.read_package(written, reader=GRID)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../checks.json"])
def test_a_path_out_of_the_package_is_refused(written, name):
    manifest = json.loads((written / "posterior.json").read_text())
    manifest["files"][name] = manifest["files"].pop("checks.json")
    (written / "posterior.json").write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="alone"):
        packages.read_package(written, reader=GRID)


@pytest.mark.parametrize("name", ["posterior.json", *GRID.content])
def test_a_link_is_refused_even_to_the_right_bytes(written, tmp_path, name):
    (written / name).rename(tmp_path / "elsewhere")
    (written / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="a regular file"):
        packages.read_package(written, reader=GRID)


def test_a_pipe_is_refused_without_waiting_for_a_writer(written):
    (written / "checks.json").unlink()
    os.mkfifo(written / "checks.json")
    with pytest.raises(BadInput, match="a regular file"):
        packages.read_package(written, reader=GRID)


@pytest.mark.parametrize("name", GRID.content)
def test_a_flipped_bit_is_refused(written, name):
    content = bytearray((written / name).read_bytes())
    content[len(content) // 2] ^= 1
    (written / name).write_bytes(content)
    with pytest.raises(BadInput, match="sha256"):
        packages.read_package(written, reader=GRID)


@pytest.mark.parametrize("length", [2**63, 2**40, packages.LARGEST_HEADER + 1, 0])
def test_a_header_of_dishonest_size_is_refused(written, length):
    content = (written / "posterior.safetensors").read_bytes()
    put(written, "posterior.safetensors", length.to_bytes(8, "little") + content[8:] + bytes(2**17))
    with pytest.raises(BadInput, match=f"a header of {length} bytes"):
        packages.read_package(written, reader=GRID)


def test_a_file_past_the_limit_is_refused_before_it_is_read(written, monkeypatch):
    monkeypatch.setattr(packages, "LARGEST_FILE", 1000)
    put(written, "posterior.safetensors", bytes(1001))
    with pytest.raises(BadInput, match="1001 bytes"):
        packages.read_package(written, reader=GRID)


def test_other_numbers_under_right_digests_fail_the_self_test(written, package):
    other = package.arrays | {"log_density": package.arrays["log_density"] + 1e-3}
    put(written, "posterior.safetensors", safetensors.numpy.save(other))
    with pytest.raises(BadInput, match="self-test"):
        packages.read_package(written, reader=GRID)


def test_arrays_that_the_kind_does_not_know_are_refused_in_one_line(written):
    put(written, "posterior.safetensors", safetensors.numpy.save({"x": np.zeros(3)}))
    with pytest.raises(BadInput) as refusal:
        packages.read_package(written, reader=GRID)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("key", ["schema", "kind", "data_digest", "files", "parameters"])
def test_an_incomplete_manifest_is_refused(written, key):
    manifest = json.loads((written / "posterior.json").read_text())
    del manifest[key]
    (written / "posterior.json").write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="posterior"):
        packages.read_package(written, reader=GRID)
