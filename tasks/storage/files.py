"""Files that are whole or absent: written under a hidden name, forced to the disk, renamed.

A reader never meets a half-written file, since the name appears only with the complete content,
even after a loss of power. A disk that is full or a folder that cannot be written is bad input for
the caller, said in one line.
"""

import contextlib
import errno
import hashlib
import io
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import array_files, limits

_LARGEST = 2**31
"""Bytes of a file that is digested."""
_LARGEST_KEPT = 2**28
"""Bytes of arrays that are kept, packed and unpacked; more are made anew."""
_SHOWN = 300
"""Characters of a path in a line."""
_ENTRIES = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}
_SEAL = "seal"
"""The array of a kept file that names its key and the digest of the others."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says of a place that is written in the block into bad input."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        expected = "free space on the disk" if full else "a place that can be written"
        found = (error.strerror or str(error)).lower()
        raise BadInput(str(path), found, expected) from error


def output_folder(path: Path) -> Path:
    """Make a folder for results, parents included; return its absolute path, or raise BadInput.

    A link that another user put on the way is refused: it would choose whose files are replaced.
    """
    for each in (path.absolute(), *path.absolute().parents):
        if each.is_symlink() and (owner := each.lstat().st_uid) not in (0, os.geteuid()):
            raise BadInput(str(each), f"a link of user {owner}", "a folder, or a link of yours")
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise BadInput(str(path), "a folder without write permission", "a writable output folder")
    return path.resolve()


def read_bytes(path: Path, expected: str, *, largest: int = limits.TEXT) -> bytes:
    """Read a regular file of bounded size, or one that a link leads to.

    Args:
        expected: What the line says should be there where it cannot be read.
        largest: Bytes.

    Raises:
        BadInput: It is none (a pipe, a device, a folder), cannot be read, or is larger.
    """
    with regular(path, expected, largest=largest) as file:
        return _bounded(path, file, largest)


def read_regular(path: Path, expected: str, *, largest: int) -> bytes:
    """Read a regular file of bounded size, as `read_bytes`; a link is refused too."""
    with regular(path, expected, largest=largest, links=False) as file:
        return _bounded(path, file, largest)


@contextlib.contextmanager
def regular(
    path: Path, expected: str, *, largest: int, links: bool = True
) -> Iterator[BufferedReader]:
    """Open a regular file, whoever put it there, without ever waiting for it.

    Args:
        expected: What the line says should be there where it cannot be opened.
        largest: Bytes.
        links: Whether links are followed.

    Raises:
        BadInput: It is no regular file, cannot be opened, or is larger.
    """
    handle = _handle(path, expected, 0 if links else os.O_NOFOLLOW)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            found = "a folder" if stat.S_ISDIR(facts.st_mode) else "no regular file"
            raise BadInput(shown(path), found, expected)
        if facts.st_size > largest:
            raise BadInput(shown(path), f"{facts.st_size} bytes", f"at most {largest} bytes")
        with open(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def _handle(path: Path, expected: str, flags: int) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    except (OSError, ValueError) as error:  # a ValueError of a path with a NUL
        linked = flags and isinstance(error, OSError) and error.errno == errno.ELOOP
        found = "a link" if linked else getattr(error, "strerror", None) or str(error)
        raise BadInput(shown(path), found, expected) from error


def _bounded(path: Path, file: BufferedReader, largest: int) -> bytes:
    """Read a file that may grow while it is read."""
    content = file.read(min(os.fstat(file.fileno()).st_size, largest) + 1)
    if len(content) > largest:
        raise BadInput(shown(path), f"more than {largest} bytes", f"at most {largest} bytes")
    return content


def what_lies_at(path: Path) -> str:
    """Say in words what lies at a path where a file is expected."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except OSError:
        return "a link that leads nowhere" if path.is_symlink() else "nothing there"
    return _ENTRIES.get(kind, "no regular file")


def shown(path: Path) -> str:
    """Return a path as a line can hold it: no control characters, no end of a line, not endless."""
    text = str(path)
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}.. ({len(text)} characters)"


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it is whole or absent, replacing an older one in one step.

    Raises:
        BadInput: If the disk is full or the place cannot be written, here and below; nothing is
            left behind.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with writing(path):
        try:
            with partial.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.rename(path)
            sync(path.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            raise


def sync(path: Path) -> None:
    """Force a file, or the entries of a folder, to the disk, where the file system can."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS):
            raise
    finally:
        os.close(handle)


def write_json(path: Path, value: object, *, indent: int = 2) -> None:
    """Write indented JSON, whole or absent.

    Raises:
        ValueError: If a number is NaN or infinite, which JSON does not know.
    """
    write_bytes(path, (json.dumps(value, indent=indent, allow_nan=False) + "\n").encode())


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays as a NumPy archive (`.npz`), whole or absent.

    Raises:
        ValueError: If an array holds Python objects, which would be pickled.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    write_bytes(path, content.getvalue())


def cached_arrays(
    folder: Path,
    name: str,
    key: str,
    make: Callable[[], Mapping[str, NDArray[Any]]],
    *,
    fallbacks: Sequence[Path] = (),
) -> dict[str, NDArray[Any]]:
    """Return what an earlier run made, or make it and keep it in place of what is outdated.

    A file counts by what it says of itself, the whole key and the digest of its arrays, not by its
    name.

    Args:
        folder: Where it is kept; it must exist.
        key: Digest of everything that decides it.
        fallbacks: Other folders where the same may be kept; nothing is written there.
    """
    path = folder / f"{name}-{key[:16]}.npz"
    for place in (folder, *fallbacks):
        found = _kept(place / path.name, key)
        if found is not None:
            return found
    arrays = dict(make())  # absent, damaged or of another key everywhere
    seal = np.array([key, _digest_of_arrays(arrays)])
    write_arrays(path, {**arrays, _SEAL: seal})
    for old in folder.glob(f"{name}-*.npz"):
        if old != path:
            old.unlink(missing_ok=True)
    return arrays


def _kept(path: Path, key: str) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of a file whose seal says that they are those of a key."""
    try:
        content = read_regular(path, "kept arrays", largest=_LARGEST_KEPT)
        arrays = array_files.parse(content, str(path), largest=_LARGEST_KEPT)
        sealed = arrays.pop(_SEAL).tolist()
    except (ValueError, KeyError):  # absent or damaged, or a seal that is no text
        return None
    return arrays if sealed == [key, _digest_of_arrays(arrays)] else None


def _digest_of_array(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).hexdigest()


def _digest_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the digest of names, types, shapes and bytes."""
    facts = [
        [name, array.dtype.str, list(array.shape), _digest_of_array(array)]
        for name, array in sorted(arrays.items())
    ]
    return digest_of(facts)


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Fill a folder under a hidden name and rename it when the block ends without an error.

    The hidden one is given to the block; an older one of the name is replaced.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield partial
        with writing(path):
            os.chmod(partial, 0o755)
            _replace_folder(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def sha256(source: Path | bytes, *, largest: int = _LARGEST) -> str:
    """Return the digest of some bytes or of a regular file up to a size, in hexadecimal."""
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with regular(source, "a file", largest=largest) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(value: object) -> str:
    """Return the SHA-256 of a value that JSON can hold, whatever the order of its keys."""
    return sha256(json.dumps(value, sort_keys=True).encode())


def _replace_folder(partial: Path, path: Path) -> None:
    if path.exists():
        retired = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        os.replace(path, retired / path.name)
        os.replace(partial, path)
        shutil.rmtree(retired, ignore_errors=True)
    else:
        os.replace(partial, path)
