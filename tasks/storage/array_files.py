"""NumPy archives (`.npz`) from anywhere; nothing is allocated before its size is known to be true.

An archive is read member by member: only stored or deflated ones, whose sizes are bounded in sum
and by the size of the archive; of each the header first, which must give the type and the shape of
just as many bytes as the member holds. Objects, which would be unpickled, are refused.
"""

import io
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.models.core.bad_input import BadInput

MOST_MEMBERS = 100
MOST_GROWTH = 100
"""Times the size of an archive that it may unpack to, ..."""
SMALL = 2**20
"""... or so many bytes."""
LARGEST_DIRECTORY = 2**17
"""Bytes of the list of members."""
_END, _END_SIGN, _LARGE_SIGN = 22, b"PK\5\6", b"PK\6\7"
_KINDS = "biufU"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER = 4096  # bytes in which a header ends
_FIRST = (1, 0)  # version of the format, that of arrays without fields
_ENDING = ".npy"
_EXPECTED = "an archive of NumPy's (.npz)"


def parse(content: bytes, where: str, *, largest: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive by name.

    Args:
        where: What a line names.
        largest: Bytes that all of them may have.

    Raises:
        BadInput: It is no archive, is damaged, or holds something else.
    """
    try:
        _check_directory(content, where)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _members(archive, len(content), where, largest)
            return {name: _array(archive, member, where) for name, member in members.items()}
    except BadInput:
        raise
    except Exception as error:  # of hostile bytes the parsers raise nearly anything
        found = f"no archive of numbers ({type(error).__name__})"
        raise BadInput(where, found, _EXPECTED) from error


def _check_directory(content: bytes, where: str) -> None:
    """Refuse a list of members that is too long before it is read."""
    at = len(content) - _END
    if content[at : at + 4] != _END_SIGN or content[-2:] != b"\0\0":  # a remark comes after it
        at = content.rfind(_END_SIGN)
    if at < 0 or at + _END > len(content):
        raise BadInput(where, "no archive of numbers", _EXPECTED)
    size = int.from_bytes(content[at + 12 : at + 16], "little")
    if size > LARGEST_DIRECTORY or content[max(0, at - 20) :].startswith(_LARGE_SIGN):
        raise BadInput(where, f"a list of arrays of {size} bytes", f"at most {LARGEST_DIRECTORY}")


def _members(
    archive: zipfile.ZipFile, packed: int, where: str, largest: int
) -> dict[str, zipfile.ZipInfo]:
    """Return the members of an archive by the names of their arrays."""
    found = archive.infolist()
    if len(found) > MOST_MEMBERS:
        raise BadInput(where, f"{len(found)} arrays", f"at most {MOST_MEMBERS}")
    size, most = sum(member.file_size for member in found), max(SMALL, MOST_GROWTH * packed)
    if size > min(largest, most):
        raise BadInput(where, f"{size} bytes unpacked", f"at most {min(largest, most)}")
    if len({member.filename for member in found}) < len(found):
        raise BadInput(where, "an array twice", "each name once")
    for member in found:
        if not member.filename.endswith(_ENDING) or member.compress_type not in _METHODS:
            raise BadInput(_within(where, member), "something else", "an array, as is or deflated")
    return {member.filename.removesuffix(_ENDING): member for member in found}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> NDArray[Any]:
    """Return the array of a member whose header gives its size."""
    with archive.open(member) as file:
        header = io.BytesIO(file.read(_HEADER))
    if np.lib.format.read_magic(header) != _FIRST:
        raise BadInput(_within(where, member), "another version", "version 1.0 of the format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(header, max_header_size=_HEADER)
    if dtype.kind not in _KINDS or min(shape, default=0) < 0:
        raise BadInput(_within(where, member), f"{dtype} of shape {shape}"[:60], "numbers")
    size = header.tell() + math.prod(shape) * dtype.itemsize
    if size != member.file_size:
        found = f"{member.file_size} bytes"
        raise BadInput(_within(where, member), found, f"{size:.4g} by its shape")
    with archive.open(member) as file:  # to its end, where its checksum is held against it
        return np.lib.format.read_array(io.BytesIO(file.read()), allow_pickle=False)


def _within(where: str, member: zipfile.ZipInfo) -> str:
    return f"{where}: {member.filename[:60]!r}"
