"""Which version is in use, as a server or a file says it: checked before it is believed or shown.

A version is a short text of digits (MLflow counts from 1), or the start of a digest where packages
lie in a plain folder; a run is an id of MLflow; a digest is a sha256; a time lies in this century.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line

DIGEST = "package.sha256"
"""Tag of a version: the digest of its package's manifest."""
MOST_TAGS = 1000
EARLIEST, LATEST = 946_684_800.0, 4_102_444_800.0  # 2000 and 2100
NUMBER, _VERSION = re.compile(r"[1-9][0-9]{0,8}"), re.compile(r"[0-9a-f]{1,12}")
_RUN, _SHA256 = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Pointer:
    """The version behind the alias.

    Attributes:
        digest: SHA-256 of its manifest.
        registered: When it was registered, s since 1970.
        run: The run whose files hold the package, or its name in a plain folder; empty where a
            controller has kept it.
    """

    version: str
    digest: str
    registered: float
    run: str = ""


def of_answer(answer: Mapping[str, Any], where: str) -> Pointer:
    """Return what MLflow says of the version behind an alias; `BadInput` where it means nothing."""
    found = answer.get("model_version")
    if not isinstance(found, dict):
        raise BadInput(where, "no version", "one")
    made: Any = found.get("creation_timestamp")
    return Pointer(
        version=_text(f"{where}: version", found.get("version"), NUMBER, "a number"),
        digest=_text(f"{where}: {DIGEST}", _tag(found.get("tags"), where), _SHA256, "a sha256"),
        registered=time_of(where, made / 1000.0 if type(made) in (int, float) else made),
        run=_text(f"{where}: run_id", found.get("run_id"), _RUN, "32 hexadecimal digits"),
    )


def of_file(facts: Mapping[str, Any], where: str) -> Pointer:
    """Return what a controller has kept of the version in use; `BadInput` if it means nothing."""
    version = _text(f"{where}: version", facts.get("version"), _VERSION, "that of a package")
    digest = _text(f"{where}: digest", facts.get("digest"), _SHA256, "a sha256")
    return Pointer(version, digest, time_of(where, facts.get("registered")))


def time_of(where: str, seconds: Any) -> float:
    """Return a time, s since 1970; `BadInput` for one in no year that a registration can be of."""
    if type(seconds) not in (int, float) or not EARLIEST <= seconds <= LATEST:
        raise BadInput(f"{where}: time", one_line(repr(seconds), longest=40), "one of this century")
    return float(seconds)


def _text(where: str, value: Any, pattern: re.Pattern[str], expected: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise BadInput(where, one_line(repr(value), longest=80), expected)
    return value


def _tag(tags: Any, where: str) -> Any:
    """Return the value of the tag of the digest; None without one."""
    if tags is None:
        return None
    if not isinstance(tags, list) or len(tags) > MOST_TAGS:
        raise BadInput(f"{where}: tags", one_line(repr(tags)[:80]), f"at most {MOST_TAGS}")
    found = [tag.get("value") for tag in tags if isinstance(tag, dict) and tag.get("key") == DIGEST]
    return found[0] if len(found) == 1 else None
