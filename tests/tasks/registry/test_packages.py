"""A package returns as written; what hostile ones meet is in tests/crash."""

import json

import numpy as np
import pytest
import safetensors.numpy

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests.crash import measured


@pytest.fixture
def written(tmp_path, package):
    packages.write_package(tmp_path / "package", package, reader=GRID)
    return tmp_path / "package"


def test_a_package_returns_as_written(written, package):
    found = packages.read_package(written, reader=GRID)
    assert found.parameters == package.parameters
    assert (found.kind, found.data_digest, found.git_commit) == (
        "grid",
        package.data_digest,
        "unknown",
    )
    assert found.checks == package.checks
    for name, array in package.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)


def test_writing_twice_gives_the_same_bytes(tmp_path, package):
    first = packages.write_package(tmp_path / "a", package, reader=GRID)
    assert packages.write_package(tmp_path / "a", package, reader=GRID) == first
    assert packages.write_package(tmp_path / "b", package, reader=GRID) == first


def reference(folder, **outputs):
    """Put other outputs into a package, its digest made good."""
    path = folder / GRID.content[2]
    arrays = safetensors.numpy.load(path.read_bytes())
    arrays |= {f"output.{name}": array for name, array in outputs.items()}
    path.write_bytes(safetensors.numpy.save(arrays))
    manifest = json.loads((folder / GRID.manifest).read_text())
    manifest["files"][path.name] = sha256(path.read_bytes())
    (folder / GRID.manifest).write_text(json.dumps(manifest))


@pytest.mark.parametrize("shape", [(7,), (400_000, 1), (1,), (), (0,), (1, 1, 3)])
def test_outputs_of_another_shape_are_refused_and_not_made_larger(written, shape):
    """Compared with those of a grid, 400,000 rows become 1.2 million, or billions."""
    reference(written, log_density=np.zeros(shape))
    answer = measured.answered(
        "it", lambda: packages.read_package(written, reader=GRID), most=50_000_000
    )
    assert not answer.fault and "self-test" in answer.line, answer


def test_a_signature_is_looked_at_before_any_array(written, monkeypatch):
    monkeypatch.setattr(packages, "_arrays", lambda *words: pytest.fail("an array was read"))
    with pytest.raises(BadInput, match="no signature"):
        packages.read_package(written, reader=GRID, key=bytes(32))


@pytest.mark.parametrize("own", ["setup.py", "posterior.json"])
def test_what_is_no_package_is_not_replaced(tmp_path, package, own):
    """Somebody's folder of that name, in the folder where results were asked for."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / own).touch()
    with pytest.raises(BadInput, match="what is no package"):
        packages.write_package(tmp_path / "package", package, reader=GRID)
    packages.remove_package(tmp_path / "package")
    assert (tmp_path / "package" / own).exists()


def test_a_file_or_a_link_in_its_place_is_not_replaced(tmp_path, written, package):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(written)
    for name in ("file", "link"):
        with pytest.raises(BadInput, match="what is no package"):
            packages.write_package(tmp_path / name, package, reader=GRID)
    packages.remove_package(tmp_path / "link")
    assert packages.is_package(written)
    packages.remove_package(written)
    assert not written.exists()
