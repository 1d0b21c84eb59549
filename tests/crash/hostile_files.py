"""What may lie where a file is expected: no file, one without end, and one of another kind."""

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

Put = Callable[[Path], object]
"""Makes what lies at a path."""


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)


def _sparse(size: int) -> Put:
    def put(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return put


def _text(content: bytes) -> Put:
    return lambda path: path.write_bytes(content)


IRREGULAR: Mapping[str, Put] = {
    "nothing": lambda path: None,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to /dev/urandom": lambda path: path.symlink_to("/dev/urandom"),
    "a link to nothing": lambda path: path.symlink_to("absent"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to a folder": lambda path: path.symlink_to("/proc"),
    "2 GB": _sparse(2**31),
    "a terabyte": _sparse(2**40),
}
SENSELESS: Mapping[str, Put] = {
    "no bytes": _text(b""),
    "zeros": _text(bytes(10_000)),
    "bytes": _text(bytes(range(256)) * 40),
    "no UTF-8": _text(b"\xff\xfe{}"),
    "a bracket": _text(b"["),
    "deep lists": _text(b"[" * 200_000),
    "deep lists that end": _text(b"[" * 50_000 + b"]" * 50_000),
    "deep objects": _text(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "a number of 5000 digits": _text(b"1" * 5000),
    "null": _text(b"null"),
    "a text": _text(b'"text"'),
    "a number": _text(b"1"),
    "a list": _text(b"[]"),
    "an object": _text(b"{}"),
    "not a number": _text(b"NaN"),
    "a key twice": _text(b'{"a": 1, "a": 2}'),
    "an escape": _text(b'{"\x1b[31m": 1}'),
    "a long key": _text(b'{"' + b"k" * 1_000_000 + b'": 1}'),
    "many quotes": _text(b'"' + b'\\"' * 1_000_000),
}
"""Nothing in any format that is read."""
