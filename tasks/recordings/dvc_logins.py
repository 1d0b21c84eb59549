"""A login for a DVC remote goes where whoever stated it says, not where a clone says.

DVC joins its files of settings by the names of remotes: the login of one that stands in a file of
one's own is sent to the address that Git brings for that name, and to another after the next pull.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings.dvc_repository import CONFIGURATION, OWN, settings
from ricochet.tasks.storage import login_transport

SECRET = re.compile(
    r"(?!ask_).*(?:password|secret|token|access_key|account_key|connection_string).*"
)
"""Words of a remote that are a login, or a part of one."""
ADDRESSES = ("url", "endpointurl", "ssl_verify")
"""Words that say who is sent it."""


def refuse_lent(folder: Path) -> None:
    """Refuse a login whose remote has its address in another file than the login, or plain http.

    Args:
        folder: Of DVC's in a repository.

    Raises:
        BadInput: So it is; the line names the command that states both in one file, or what may be
            sent one.
    """
    brought = _remotes(folder / CONFIGURATION)
    files = (*_everywhere(), folder / OWN)
    found = [(file, _remotes(file)) for file in files]
    _refuse_plain([remotes for _, remotes in found[:-1]] + [brought, found[-1][1]])
    for file, remotes in found:
        for name, own in remotes.items():
            lent = {word for word in ADDRESSES if word in brought.get(name, {})} - own.keys()
            if lent and any(SECRET.fullmatch(word) for word in own):
                said = f"a login of the remote {name}, whose {min(lent)} is in {CONFIGURATION}"
                expected = f"both in one: `dvc remote modify --local {name} {min(lent)} ..`"
                raise BadInput(str(file), said, expected)


def _refuse_plain(files: Sequence[Mapping[str, Mapping[str, Any]]]) -> None:
    """Refuse a login over plain http to another machine, or in an address; the last file counts."""
    merged: dict[str, dict[str, Any]] = {}
    for remotes in files:
        for name, words in remotes.items():
            merged.setdefault(name, {}).update(words)
    for name, words in merged.items():
        sent = any(SECRET.fullmatch(word) for word in words)
        login_transport.check(f"url of the remote {name}", str(words.get("url", "")), sent=sent)


def _everywhere() -> Iterator[Path]:
    """Yield this machine's file and this user's, which counts where both say something."""
    from dvc.config import Config

    for level in ("system", "global"):
        if place := Config.get_dir(level):
            yield Path(place) / CONFIGURATION


def _remotes(file: Path) -> dict[str, Mapping[str, Any]]:
    """Return what a file says of each remote, by its name; nothing where there is none."""
    found: dict[str, Mapping[str, Any]] = {}
    for title, section in (settings(file) if file.exists() else {}).items():
        kind, _, name = title.strip("'").partition(" ")
        if kind.lower() == "remote" and isinstance(section, Mapping):
            found[name.strip('"').lower()] = {word.lower(): section[word] for word in section}
    return found
