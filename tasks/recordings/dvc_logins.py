"""A login for a DVC remote goes where whoever stated it says, not where a clone says.

DVC joins its files of settings by the names of remotes: the login of one that stands in a file of
one's own is sent to the address that Git brings for that name, and to another after the next pull.
So a remote with a login is described in one file, and none is described by the name of another.
"""

import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings.dvc_repository import CONFIGURATION, OWN, settings
from ricochet.tasks.storage import login_transport

Remotes = Mapping[str, Mapping[str, Any]]
"""What a file says of each remote, by its name and in words of small letters."""
SECRET = re.compile(r"(?!ask_).*(?:password|secret|token|_key|connection_string).*")
"""Words of a remote that are a login, or a part of one."""
HARMLESS = {"jobs", "checksum_jobs", "no_traverse", "verify", "connect_timeout", "read_timeout"}
"""Words that say neither who is sent a login nor how; Git may bring them for a remote with one."""
KINDS = ("", "ssh", "s3", "http", "https")
"""Of addresses that Git may bring: what is asked with logins of the environment is not among them,
but for S3, to which no secret is sent."""
_NO = ("false", "0", "no", "off")


def refuse_lent(folder: Path) -> None:
    """Refuse a login of which Git says where or how it goes, or that goes over plain http.

    What Git brings counts over this user's settings and this machine's, and `config.local` over it.

    Args:
        folder: Of DVC's in a repository.

    Raises:
        BadInput: So it is, or a remote is described by another, or asked in another way than those
            of `KINDS`; the line names the command that states all in one file, or what may be sent
            a login.
    """
    brought, last = _remotes(folder / CONFIGURATION), folder / OWN
    files = [*_everywhere(), last]
    found = [_remotes(file) for file in files]
    for name, words in brought.items():
        _check_kind(folder / CONFIGURATION, name, words)
    for file, remotes in zip(files, found, strict=True):
        for name, own in remotes.items():
            _check_kind(file, name, own, own=True)
            if any(SECRET.fullmatch(word) for word in own):
                git = brought.get(name, {})
                count = own.keys() if file == last else {w for w in own if git.get(w) == own[w]}
                _refuse_words(file, name, git.keys() - count - HARMLESS)
    _refuse_plain([*found[:-1], brought, found[-1]])


def _check_kind(file: Path, name: str, words: Mapping[str, Any], *, own: bool = False) -> None:
    """Refuse the address of a remote that leads to another remote, or to what is not offered."""
    scheme = urllib.parse.urlsplit(str(words.get("url", ""))).scheme
    if scheme == "remote" or not (own or scheme in KINDS):
        found = f"{scheme}:// for the url of the remote {name}"
        raise BadInput(str(file), found, "a folder, ssh://, s3:// or https://")


def _refuse_words(file: Path, name: str, lent: set[str]) -> None:
    if lent:
        said = f"a login of the remote {name}, whose {min(lent)} is in {CONFIGURATION}"
        expected = f"both in one: `dvc remote modify --local {name} {min(lent)} ..`"
        raise BadInput(str(file), said, expected)


def _refuse_plain(files: Sequence[Remotes]) -> None:
    """Refuse a login over plain http to another machine, or in an address; the last file counts.

    What is asked by S3's ways is sent one, of the environment or of this user's where no file has
    it.
    """
    merged: dict[str, dict[str, Any]] = {}
    for remotes in files:
        for name, words in remotes.items():
            merged.setdefault(name, {}).update(words)
    for name, words in merged.items():
        url, endpoint = str(words.get("url", "")), str(words.get("endpointurl", ""))
        asked = url.startswith("s3:")
        sent = asked or any(SECRET.fullmatch(word) for word in words)
        login_transport.check(f"url of the remote {name}", url, sent=sent)
        login_transport.check(f"endpointurl of the remote {name}", endpoint, sent=sent)
        if asked and not endpoint and str(words.get("use_ssl", "true")).lower() in _NO:
            raise BadInput(f"use_ssl of the remote {name}", "false", "true, as there is a login")


def _everywhere() -> Iterator[Path]:
    """Yield this machine's file and this user's, which counts where both say something."""
    from dvc.config import Config

    for level in ("system", "global"):
        if place := Config.get_dir(level):
            yield Path(place) / CONFIGURATION


def _remotes(file: Path) -> Remotes:
    """Return what a file says of each remote, by its name; nothing where there is none."""
    found: dict[str, Mapping[str, Any]] = {}
    for title, section in (settings(file) if file.exists() else {}).items():
        kind, _, name = title.strip("'").partition(" ")
        if kind.lower() == "remote" and isinstance(section, Mapping):
            found[name.strip('"').lower()] = {word.lower(): section[word] for word in section}
    return found
