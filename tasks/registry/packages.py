"""Posterior packages, `ricochet.posterior/2`: what the registry holds and a controller loads.

    posterior.json         schema, name, kind, parameters, prior, data digest, git commit, sha256s
    posterior.safetensors  the arrays
    checks.json            what was measured about the posterior
    reference.safetensors  fixed inputs and outputs; a loader must reproduce the outputs, and those
                           under `further.` if it knows how (`Reader.further`)
    posterior.signature    optional: by a key of the laboratory, of the manifest (`signatures`)

Reading needs numpy and safetensors alone and runs no code from the package: these names are the
only ones allowed, links are not followed, every byte is digested before it is parsed, and the size
of a header is bounded before it is trusted.
"""

import itertools
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import manifests, signatures
from ricochet.tasks.registry.bounded_json import LARGEST_TEXT, parse_object
from ricochet.tasks.registry.kinds import Evaluate, Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.storage.files import (
    read_regular,
    sha256,
    whole_folder,
    write_bytes,
    write_json,
)

MANIFEST = "posterior.json"
LARGEST_FILE, LARGEST_REFERENCE = 64 * 2**20, 4 * 2**20
"""Bytes of the arrays, and of the inputs and outputs of the self-test."""
LARGEST_HEADER = 64 * 2**10

UNREADABLE = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, RuntimeError)
"""What reading arrays that mean nothing may raise."""
_MOST_ENTRIES = 10
OF_ALL_KINDS = ("checks.json", "reference.safetensors")
"""Files that a package of any kind has, beside manifest, arrays and perhaps a signature."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Package:
    """A posterior with all that a reader must know about it.

    Attributes:
        kind: How the arrays are to be read, such as `grid`, `family` or `conditional-density`.
        name: In the registry, such as `golf-concrete`.
        parameters: The parameters in the order of the arrays' axes.
        inputs: Fixed inputs for the self-test.
        checks: What was measured about the posterior.
        data_digest: Digest of what it was learnt from.
    """

    kind: str
    name: str
    parameters: tuple[Parameter, ...]
    arrays: Arrays
    inputs: Arrays
    checks: Mapping[str, Any]
    data_digest: str
    git_commit: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def write_package(folder: Path, package: Package, *, reader: Reader) -> dict[str, Any]:
    """Write a package, whole or absent, read it back and return the manifest.

    An older package in the folder is replaced.

    Raises:
        BadInput: If the place holds anything else, cannot be written, or reading back disagrees.
    """
    refuse_other(folder)
    arrays, checks, expected = reader.content
    reference = _prefixed("input.", package.inputs)
    for prefix, evaluate in _outputs(reader):
        reference |= _prefixed(prefix, evaluate(package.arrays, package.inputs))
    with whole_folder(folder) as partial:
        write_bytes(partial / arrays, _serialized(package.arrays))
        write_json(partial / checks, package.checks)
        write_bytes(partial / expected, _serialized(reference))
        manifest = _manifest(package, partial, reader)
        write_json(partial / reader.manifest, manifest)
        read_package(partial, reader=reader)
    return manifest


def is_package(folder: Path) -> bool:
    """Return whether a folder holds the files of a package, of whatever kind, and nothing else."""
    if not folder.is_dir() or folder.is_symlink():
        return False
    found = {entry.name for entry in itertools.islice(folder.iterdir(), _MOST_ENTRIES)}
    return found >= {*OF_ALL_KINDS} and len(found) <= len(OF_ALL_KINDS) + 3


def refuse_other(folder: Path) -> None:
    """Refuse a place of a package that holds anything else: `BadInput`."""
    empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not empty and not is_package(folder):
        raise BadInput(str(folder), "what is no package", "nothing there, or an earlier package")


def remove_package(folder: Path) -> None:
    """Remove a folder if it is a package; anything else is left."""
    if is_package(folder):
        shutil.rmtree(folder, ignore_errors=True)


def read_package(
    folder: Path, *, reader: Reader, name: str | None = None, key: bytes | None = None
) -> Package:
    """Read a package, checked; see `read_signed`."""
    package, _ = read_signed(folder, reader=reader, name=name, key=key)
    return package


def read_signed(
    folder: Path, *, reader: Reader, name: str | None = None, key: bytes | None = None
) -> tuple[Package, float]:
    """Read a package after checking names, sizes, digests, its meaning and the self-test.

    Args:
        name: That of the package that was asked for; None takes any.
        key: Public half of the key by which it must be signed, which is looked at before any
            array; None takes unsigned ones.

    Returns:
        The package, and when it was signed, s since 1970; infinity without a key.

    Raises:
        BadInput: If anything in the folder is not exactly what the manifest promises.
    """
    _check_names(folder, reader)
    signed = signatures.verify(folder, reader, key)
    path = folder / reader.manifest
    manifest = manifests.parse(path, _regular(path, LARGEST_TEXT), reader, name=name)
    digests, (numbers, checks, expected) = manifest["files"], reader.content
    reference = _arrays(folder / expected, digests[expected], LARGEST_REFERENCE)
    package = Package(
        kind=manifest["kind"],
        name=manifest["name"],
        parameters=manifest["parameters"],
        arrays=_arrays(folder / numbers, digests[numbers], LARGEST_FILE),
        inputs=_unprefixed("input.", reference),
        checks=_object(folder / checks, digests[checks]),
        data_digest=manifest["data_digest"],
        git_commit=manifest["git_commit"],
        settings=manifest["settings"],
    )
    with np.errstate(all="ignore"):  # numbers without bound are refused, not warned of
        _check_meaning(folder, package, reader)
        for prefix, evaluate in _outputs(reader):
            _self_test(folder, package, _unprefixed(prefix, reference), evaluate)
    tested = _unprefixed("output.", reference).values()
    if not tested or not all(array.size for array in tested):
        raise BadInput(str(folder), "a self-test without outputs", "reference outputs")
    return package, signed


def check_names(package: Package, names: Iterable[str], where: str) -> None:
    """Refuse arrays that are missing, and ones beside those that a kind has: `BadInput`."""
    if other := sorted(set(package.arrays) ^ set(names)):
        listed = ", ".join(other)[:200]
        raise BadInput(f"{where}: arrays", f"{listed} missing or beside", "those of the kind")


def _manifest(package: Package, folder: Path, reader: Reader) -> dict[str, Any]:
    return {
        "schema": reader.schema,
        "name": package.name,
        "kind": package.kind,
        "parameters": [vars(parameter) for parameter in package.parameters],
        "prior": manifests.prior_of(package.parameters),
        "data_digest": package.data_digest,
        "git_commit": package.git_commit,
        "settings": dict(package.settings),
        "files": {name: sha256(folder / name) for name in reader.content},
    }


def _check_names(folder: Path, reader: Reader) -> None:
    if not folder.is_dir():
        raise BadInput(str(folder), "no folder", f"a package with {reader.manifest}")
    names = (reader.manifest, *reader.content)
    entries = (entry.name for entry in folder.iterdir())
    found = sorted(itertools.islice(entries, _MOST_ENTRIES))
    if sorted({*found} - {reader.signature}) != sorted(names):
        expected = f"only {', '.join((*names, reader.signature))}"
        raise BadInput(str(folder), ", ".join(found)[:300], expected)


def _regular(path: Path, largest: int) -> bytes:
    return read_regular(path, "a regular file", largest=largest)


def _verified(path: Path, digest: str, largest: int) -> bytes:
    content = _regular(path, largest)
    found = sha256(content)
    if found != digest:
        raise BadInput(str(path), f"sha256 {found}", f"sha256 {digest}")
    return content


def _object(path: Path, digest: str) -> dict[str, Any]:
    return parse_object(str(path), _verified(path, digest, LARGEST_TEXT))


def _arrays(path: Path, digest: str, largest: int) -> Arrays:
    """Read arrays; the bytes of the file go as soon as they are parsed."""
    return _parse_arrays(path, _verified(path, digest, largest))


def _parse_arrays(path: Path, content: bytes) -> Arrays:
    length = int.from_bytes(content[:8], "little") if len(content) >= 8 else -1
    if not 2 <= length <= min(LARGEST_HEADER, len(content) - 8):
        limit = f"a safetensors header of at most {LARGEST_HEADER} bytes"
        raise BadInput(str(path), f"a header of {length} bytes", limit)
    try:
        arrays = safetensors.numpy.load(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise BadInput(str(path), f"unreadable arrays ({error})", "a safetensors file") from error
    return dict(arrays)


def _outputs(reader: Reader) -> tuple[tuple[str, Evaluate], ...]:
    """Return what a reader evaluates, each under the prefix of its outputs in the reference."""
    further = () if reader.further is None else (("further.", reader.further),)
    return (("output.", reader.evaluate), *further)


def _check_meaning(folder: Path, package: Package, reader: Reader) -> None:
    """Refuse arrays and inputs that are no numbers, and what the kind refuses."""
    for name, array in (*package.arrays.items(), *package.inputs.items()):
        if array.dtype.kind not in "biuf" or np.isnan(array).any():
            raise BadInput(f"{folder}: {name[:80]}", f"{array.dtype}, or NaN", "numbers")
    if reader.check is not None:
        try:
            reader.check(package, str(folder))
        except BadInput:
            raise
        except UNREADABLE as error:
            raise BadInput(str(folder), f"no {package.kind} ({error})"[:300], "one") from error


def _self_test(folder: Path, package: Package, outputs: Arrays, evaluate: Evaluate) -> None:
    try:
        found = evaluate(package.arrays, package.inputs)
    except UNREADABLE as error:
        text = f"a posterior that cannot be evaluated ({error})"
        raise BadInput(str(folder), text, f"kind {package.kind}") from error
    same = set(found) == set(outputs) and all(
        _is_reproduced(found[name], expected) for name, expected in outputs.items()
    )
    for name, values in found.items():
        if np.isnan(values).any() or (values == np.inf).any():
            raise BadInput(f"{folder}: {name}"[:300], "outputs without bound", "finite ones")
    if not same:
        raise BadInput(str(folder), "a failed self-test", "the reference outputs, reproduced")


def _is_reproduced(found: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Tell whether an output is that of the reference; of another shape it would be made large."""
    if np.shape(found) != expected.shape or expected.dtype.kind not in "biuf":
        return False
    return bool(np.allclose(found, expected, rtol=1e-5, atol=1e-6))


def _serialized(arrays: Arrays) -> bytes:
    return safetensors.numpy.save({key: np.ascontiguousarray(a) for key, a in arrays.items()})


def _prefixed(prefix: str, arrays: Arrays) -> Arrays:
    return {prefix + name: array for name, array in arrays.items()}


def _unprefixed(prefix: str, arrays: Arrays) -> Arrays:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
