r"""Signatures of packages by an ed25519 key of the laboratory; `cryptography` checks them.

The file `posterior.signature` is a JSON object of `schema`, `signed` (whole s since 1970), `key`
(the public half) and `signature`, both hexadecimal. What is signed are 61 bytes,

    ricochet.signature/1\0    the time, 8 bytes, big-endian    the sha256 of the manifest, 32 bytes

and the manifest has the name of the package and the digests of all its other files. The time is
that of the registration: a server that states another one makes no old package look fresh.
"""

import math
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import pointers
from ricochet.tasks.registry.bounded_json import parse_object
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.storage.files import read_regular, sha256

SCHEMA = "ricochet.signature/1"
SIGNING_KEY, PUBLIC_KEY = "RICOCHET_SIGNING_KEY", "RICOCHET_PUBLIC_KEY"
"""Environment: the file of the private half signs what is registered; the public half, a file or 64
hexadecimal digits, is demanded of what is loaded, from the registry or for a controller."""
UNSIGNED = "unsigned"
"""In place of a key: packages of one's own, that nobody has signed, are taken."""
KEYS = {"schema", "signed", "key", "signature"}
Key = bytes | Path | str
"""A public half, a PEM file or 64 hexadecimal digits of one, or `UNSIGNED`."""
LARGEST = 16 * 2**10
"""Bytes of a key or a signature."""
_HEXADECIMAL = set("0123456789abcdef")


@dataclass(frozen=True)
class Signature:
    """A signature whose form is right; whose it is, `verify` says."""

    signed: int
    key: bytes
    value: bytes


def read(folder: Path, reader: Reader) -> Signature | None:
    """Return the signature of a package; None without one, `BadInput` if it is malformed."""
    path = folder / reader.signature
    if not path.is_symlink() and not path.exists():
        return None
    found = parse_object(str(path), read_regular(path, "a signature", largest=LARGEST))
    if set(found) != KEYS or found["schema"] != SCHEMA:
        raise BadInput(str(path), "other entries", f"those of {SCHEMA}")
    if type(found["signed"]) is not int:
        raise BadInput(str(path), "a time that is no whole number", "s since 1970")
    pointers.time_of(str(path), found["signed"])
    key, value = (_bytes(str(path), found[name], n) for name, n in (("key", 32), ("signature", 64)))
    return Signature(found["signed"], key, value)


def verify(folder: Path, reader: Reader, key: bytes | None) -> float:
    """Return when a package was signed, s since 1970; infinity without a key.

    Args:
        key: The public half; None takes unsigned ones, and looks at the form of a signature alone.

    Raises:
        BadInput: It is malformed, or with a key: it is unsigned, of another key, or the signature
            is not that of its manifest.
    """
    path, found = folder / reader.signature, read(folder, reader)
    if key is None:
        return math.inf
    if found is None:
        raise BadInput(str(folder), "no signature", f"one of key {key.hex()}")
    if found.key != key:
        raise BadInput(str(path), f"one of key {found.key.hex()}", f"one of key {key.hex()}")
    keys, invalid = _library()
    try:
        signed = _message(folder / reader.manifest, found.signed)
        keys.Ed25519PublicKey.from_public_bytes(key).verify(found.value, signed)
    except (invalid, ValueError) as error:
        raise BadInput(
            str(path), "a signature of something else", "that of its manifest"
        ) from error
    return float(found.signed)


def sign(
    folder: Path, reader: Reader, private: Path, *, now: float | None = None
) -> dict[str, Any]:
    """Return the content of a package's signature.

    Args:
        private: PEM file of the private half, that only its owner can read.
        now: Time of the signature, s since 1970; None takes the clock's.

    Raises:
        BadInput: There is no such key, or others can read it.
    """
    key = _private(private)
    signed = int(time.time() if now is None else now)
    return {
        "schema": SCHEMA,
        "signed": signed,
        "key": key.public_key().public_bytes_raw().hex(),
        "signature": key.sign(_message(folder / reader.manifest, signed)).hex(),
    }


def public_key(source: Path | str) -> bytes:
    """Return the public half, given as 64 hexadecimal digits or as a PEM file; else `BadInput`."""
    text = str(source)
    if len(text) == 64 and not set(text.lower()) - _HEXADECIMAL:
        return bytes.fromhex(text)
    content = read_regular(Path(source), "a public key, or its 64 digits", largest=LARGEST)
    keys, _ = _library()
    from cryptography.hazmat.primitives import serialization

    try:
        key = serialization.load_pem_public_key(content)
    except Exception as error:  # it names none of its own
        raise BadInput(text, "no key", "the PEM file of a public ed25519 key") from error
    if not isinstance(key, keys.Ed25519PublicKey):
        raise BadInput(text, f"a key of type {type(key).__name__}", "ed25519")
    return bytes(key.public_bytes_raw())


def demanded(key: Key | None = None) -> bytes | None:
    """Return the public half by which a package must be signed; None where it need not be.

    Args:
        key: None asks the environment for one, which may name none.

    Raises:
        BadInput: It is no key.
    """
    if key is None:
        named = os.environ.get(PUBLIC_KEY)
        return public_key(named) if named else None
    if isinstance(key, bytes):
        return key
    return None if key == UNSIGNED else public_key(key)


def signing_key() -> Path | None:
    """Return the file of the private half that the environment names; None where it names none."""
    source = os.environ.get(SIGNING_KEY)
    return Path(source) if source else None


def _private(path: Path) -> Any:
    content = read_regular(path, "a private key", largest=LARGEST)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise BadInput(str(path), "a private key that others can read", "mode 600 (chmod 600)")
    keys, _ = _library()
    from cryptography.hazmat.primitives import serialization

    try:
        key = serialization.load_pem_private_key(content, password=None)
    except Exception as error:  # it names none of its own
        raise BadInput(str(path), "no key", "a PEM file without a password") from error
    if not isinstance(key, keys.Ed25519PrivateKey):
        raise BadInput(str(path), f"a key of type {type(key).__name__}", "ed25519")
    return key


def _library() -> tuple[Any, type[Exception]]:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        needed = 'pip install "ricochet-lab[signing]"'
        raise BadInput("signatures", "no package cryptography", needed) from error
    return ed25519, InvalidSignature


def _message(manifest: Path, signed: int) -> bytes:
    digest = bytes.fromhex(sha256(manifest))
    return SCHEMA.encode() + b"\0" + signed.to_bytes(8, "big") + digest


def _bytes(where: str, text: Any, count: int) -> bytes:
    if not isinstance(text, str) or len(text) != 2 * count or set(text) - _HEXADECIMAL:
        raise BadInput(where, "no key and signature", f"{2 * count} hexadecimal digits")
    return bytes.fromhex(text)
