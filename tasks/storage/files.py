"""Files that are whole or absent: written beside, fsynced, renamed; and their digests.

A reader never meets a half-written file, since the name appears only with the complete content. A
disk that is full or a folder that cannot be written is bad input for the caller, said in one line.
"""

import contextlib
import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.models.core.bad_input import BadInput


def output_folder(path: Path) -> Path:
    """Make a folder for results, parents included.

    Args:
        path: The folder.

    Returns:
        The same folder, absolute.

    Raises:
        BadInput: If it cannot be made or written.
    """
    with _writing(path):
        path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise BadInput(str(path), "a folder without write permission", "a writable output folder")
    return path.resolve()


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it is whole or absent, replacing an older one in one step.

    Args:
        path: The file; its folder must exist.
        content: All of its bytes.

    Raises:
        BadInput: If the disk is full or the place cannot be written.
    """
    with _writing(path):
        handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(partial, 0o644)
            os.replace(partial, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a mapping as indented JSON, whole or absent.

    Args:
        path: The file.
        value: The content; numbers must be finite.

    Raises:
        ValueError: If a number is NaN or infinite, which JSON does not know.
        BadInput: If the place cannot be written.
    """
    write_bytes(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays as a NumPy archive, whole or absent.

    Args:
        path: The `.npz` file.
        arrays: Arrays by name; object arrays are refused, so that none is pickled.

    Raises:
        ValueError: If an array holds Python objects.
        BadInput: If the place cannot be written.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    write_bytes(path, content.getvalue())


def kept_arrays(
    folder: Path,
    name: str,
    key: str,
    make: Callable[[], Mapping[str, NDArray[Any]]],
    *,
    beside: Sequence[Path] = (),
) -> dict[str, NDArray[Any]]:
    """Return what an earlier run made, or make it and keep it in place of what is outdated.

    Args:
        folder: Where it is kept; it must exist.
        name: What it is.
        key: Digest of everything that decides it.
        make: Makes the named arrays.
        beside: Other folders where the same may be kept; nothing is written there.

    Returns:
        The arrays.

    Raises:
        BadInput: If the place cannot be written.
    """
    path = folder / f"{name}-{key[:16]}.npz"
    for place in (folder, *beside):
        with (
            contextlib.suppress(OSError, ValueError, EOFError, zipfile.BadZipFile),
            np.load(place / path.name, allow_pickle=False) as found,
        ):
            return dict(found)
    arrays = dict(make())  # absent or damaged everywhere
    write_arrays(path, arrays)
    for old in folder.glob(f"{name}-*.npz"):
        if old != path:
            old.unlink(missing_ok=True)
    return arrays


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Fill a folder under a hidden name and rename it when the block ends without an error.

    Args:
        path: The folder to appear; an older one is replaced.

    Yields:
        The folder to write into.

    Raises:
        BadInput: If the place cannot be written.
    """
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield partial
        with _writing(path):
            os.chmod(partial, 0o755)
            _replace_folder(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def sha256(path: Path) -> str:
    """Digest a file.

    Args:
        path: The file.

    Returns:
        Its SHA-256 in hexadecimal.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(value: object) -> str:
    """Digest a value that JSON can hold, independent of the order of keys.

    Args:
        value: Mappings, lists, strings and numbers.

    Returns:
        SHA-256 in hexadecimal.
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _replace_folder(partial: Path, path: Path) -> None:
    if path.exists():
        retired = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        os.replace(path, retired / path.name)
        os.replace(partial, path)
        shutil.rmtree(retired, ignore_errors=True)
    else:
        os.replace(partial, path)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        found = error.strerror or str(error)
        raise BadInput(str(path), found.lower(), "a place with room that can be written") from error
