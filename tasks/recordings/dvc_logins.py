"""A login for a DVC remote goes where whoever stated it says, not where a clone says.

DVC joins its files of settings by the names of remotes: the login of one that stands in a file of
one's own is sent to the address that Git brings for that name, and to another after the next pull.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings.dvc_repository import CONFIGURATION, OWN, settings

SECRET = re.compile(
    r"(?!ask_).*(?:password|secret|token|access_key|account_key|connection_string).*"
)
"""Words of a remote that are a login, or a part of one."""
ADDRESSES = ("url", "endpointurl", "ssl_verify")
"""Words that say who is sent it."""


def refuse_lent(folder: Path) -> None:
    """Refuse a login whose remote has its address in another file than the login.

    Args:
        folder: Of DVC's in a repository.

    Raises:
        BadInput: So it is; the line names the command that states both in one file.
    """
    brought = _remotes(folder / CONFIGURATION)
    for file in (folder / OWN, *_everywhere()):
        for name, own in _remotes(file).items():
            lent = {word for word in ADDRESSES if word in brought.get(name, {})} - own.keys()
            if lent and any(SECRET.fullmatch(word) for word in own):
                found = f"a login of the remote {name}, whose {min(lent)} is in {CONFIGURATION}"
                expected = f"both in one: `dvc remote modify --local {name} {min(lent)} ..`"
                raise BadInput(str(file), found, expected)


def _everywhere() -> Iterator[Path]:
    """Yield the files of this user's and of this machine's."""
    from dvc.config import Config

    for level in ("global", "system"):
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
