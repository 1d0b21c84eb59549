"""Addresses of PostgreSQL whose password goes to that database, and to nobody who took its place.

Its clients send the password in the clear to whatever answers and asks for it so, and another user
of this machine may listen on the port of a database that is down. A socket in a folder of the
database's own user, or a certificate that is compared, leaves no place to take.
"""

import re
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from ricochet.models.core.bad_input import BadInput

FORM = "postgresql://USER@HOST:PORT/NAME or postgresql://USER@/NAME?host=FOLDER"
COMPARED = ("verify-ca", "verify-full")
"""Values of `sslmode` by which a certificate is compared; others encrypt for whoever answers."""
UNENCRYPTED = "disable"
"""What PGSSLMODE may be too: nobody says it unawares."""
ELSEWHERE = ("PGHOSTADDR", "PGSERVICE", "PGSERVICEFILE")
"""Variables that lead to another host than the one in an address."""
PORT = 5432
SERVER = "postgres"
"""Who owns the folder of the socket, beside root and oneself."""

_HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:-]*")  # `%2F` begins a folder
_FOLDER = re.compile(r"/[\w/.+-]*")  # libpq takes a comma for the beginning of another


def check(where: str, address: str, environment: Mapping[str, str], *, passwords: str) -> None:
    """Refuse an address to which no password may be sent, without showing what may be one.

    Args:
        where: What holds the address.
        environment: Variables that libpq reads.
        passwords: Where a password belongs.

    Raises:
        BadInput: It is none of PostgreSQL's, holds a password or words of which not all are known,
            leads to a socket that others may replace, or to a port without a certificate.
    """
    parts = _split(where, address)
    words = urllib.parse.parse_qs(f"{parts.query}&{parts.fragment}", keep_blank_values=True)
    if parts.password is not None or any("pass" in word.lower() for word in words):
        raise BadInput(where, "a password", f"an address without it; it belongs into {passwords}")
    if parts.scheme != "postgresql" or len(parts.path) < 2 or parts.port == 0 or "#" in address:
        raise BadInput(where, repr(address), FORM)
    if set_ := [name for name in ELSEWHERE if name in environment]:
        raise BadInput(where, f"{set_[0]} in the environment", f"an address alone: {FORM}")
    if parts.hostname is None:
        _check_socket(where, address, words)
    else:
        if not _HOST.fullmatch(parts.hostname):
            raise BadInput(where, repr(address), "the name or the number of one host")
        _check_port(where, address, words, environment.get("PGSSLMODE", ""))


def place(address: str) -> str:
    """Return where a database is, without who connects to it.

    >>> place("postgresql://ricochet@db.example.org:5432/mlflow?sslmode=verify-full")
    'db.example.org:5432/mlflow'
    >>> place("postgresql://ricochet@/mlflow?host=/run/postgresql")
    '/run/postgresql:5432/mlflow'
    """
    parts = urllib.parse.urlsplit(address)
    folder = urllib.parse.parse_qs(parts.query).get("host", [""])[0]
    return f"{parts.hostname or folder}:{parts.port or PORT}{parts.path}"


def for_asyncpg(address: str) -> str:
    """Return an address as SQLAlchemy's driver of asyncpg reads it.

    >>> for_asyncpg("postgresql://a@b/c?sslmode=verify-full")
    'postgresql+asyncpg://a@b/c?ssl=verify-full'
    """
    name, _, words = address.partition("?")
    kept = words.replace("sslmode=", "ssl=", 1)
    return name.replace("postgresql:", "postgresql+asyncpg:", 1) + (f"?{kept}" if words else "")


def _split(where: str, address: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise BadInput(where, "no address", FORM) from error
    return parts


def _check_socket(where: str, address: str, words: Mapping[str, list[str]]) -> None:
    folders = words.get("host", [])
    if words.keys() != {"host"} or len(folders) != 1 or not _FOLDER.fullmatch(folders[0]):
        raise BadInput(where, repr(address), "?host=FOLDER alone, as in ?host=/run/postgresql")
    from ricochet.tasks.storage import secret_files  # with numpy, for which no help waits

    secret_files.refuse_shared_way(Path(folders[0]))
    place = Path(folders[0]).resolve()
    made = next(each for each in (place, *place.parents) if each.exists())
    secret_files.refuse_foreign(made, users=(SERVER,))


def _check_port(where: str, address: str, words: Mapping[str, list[str]], mode: str) -> None:
    if words and words not in [{"sslmode": [each]} for each in COMPARED]:
        raise BadInput(where, repr(address), f"no words but sslmode={' or '.join(COMPARED)}")
    if not words and mode not in (*COMPARED, UNENCRYPTED):
        expected = "?sslmode=verify-full behind it, PGSSLMODE, or ?host=FOLDER of a socket"
        raise BadInput(where, f"{address!r}, which does not say who answers", expected)
