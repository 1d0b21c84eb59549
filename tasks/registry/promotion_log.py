"""The log of promotions: append-only JSON lines, each forced to the disk before anything moves.

    {"step": "begun", "action": "promote", "name": "ping-pong-table", "from": "2", "to": "3",
     "previous_before": "1", "previous": "2", "validation": "<run>", "commit": "..", "reason": "..",
     "registry": "http://127.0.0.1:5000", "when": "2026-11-20T20:13:00+00:00", "identity": ".."}

An action is begun, then done; or dropped, if a crash came before `champion` moved. `from` and `to`
are the versions behind `champion` before and after, `previous_before` and `previous` those behind
`previous`; null is no alias. A line cut by a crash is ignored, and the next starts a new one.
"""

import hashlib
import json
import os
import uuid
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import output_folder, read_bytes, sync, writing
from ricochet.tasks.storage.provenance import artifacts, git_commit

BEGUN, DONE, DROPPED = "begun", "done", "dropped"
PROMOTE, ROLLBACK = "promote", "rollback"
_LATER = 50
"""Bytes that another step or time of an action may have more."""
_SHORTEST = 100
"""Bytes of a line that may be an entry."""


@dataclass(frozen=True)
class AliasPair:
    """The versions behind `champion` and `previous`; None where there is no such alias."""

    champion: str | None
    previous: str | None

    @property
    def words(self) -> str:
        """The pair as a line says it."""
        return f"champion {self.champion or 'none'} and previous {self.previous or 'none'}"


@dataclass(frozen=True)
class Entry:
    """One line of the log.

    Attributes:
        validation: Run of the validation that allowed it; empty for a rollback.
        registry: Address of the registry.
        when: Time in UTC.
        identity: The same for all lines of one action.
    """

    action: str
    name: str
    before: AliasPair
    after: AliasPair
    validation: str
    reason: str
    registry: str = ""
    step: str = BEGUN
    commit: str = field(default_factory=git_commit)
    when: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def line(self) -> str:
        """The entry in words."""
        moved = f"champion {self.before.champion or 'none'} -> {self.after.champion or 'none'}"
        kept = f"previous {self.before.previous or 'none'} -> {self.after.previous or 'none'}"
        return f"{self.when} {self.action} {self.name} {self.step}: {moved}, {kept} ({self.reason})"

    @property
    def version(self) -> str | None:
        """The version that was made champion, or taken back."""
        return self.after.champion if self.action == PROMOTE else self.before.champion

    @property
    def seal(self) -> str:
        """What the registry holds of it, as a tag of its version: a digest of what it moves."""
        moves = (self.before, self.after)
        said = (self.identity, self.action, self.name, self.validation, *map(astuple, moves))
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    def leaves(self, pair: AliasPair) -> bool:
        """Tell whether its steps, however far they came, leave such a pair of aliases."""
        before, after = self.before, self.after
        half = AliasPair(before.champion, after.previous)
        if self.action == ROLLBACK:
            half = AliasPair(after.champion, before.previous)
        return pair in (before, half, after)


def place() -> Path:
    """Return the project's log, `registry/promotions.jsonl` in the folder of outputs."""
    return artifacts() / "registry" / "promotions.jsonl"


def append(entry: Entry) -> Entry:
    """Add a line, on the disk when this returns; BadInput if it is too long or there is no room.

    What begins leaves room for the line that ends it.
    """
    log, line = place(), json.dumps(_to_json(entry))
    if len(line) > limits.LOG_LINE - _LATER:
        found = f"{len(entry.reason)} characters"
        raise BadInput("the reason", found, "fewer, so that its line in the log can be read again")
    room = limits.LOG - (2 if entry.step == BEGUN else 1) * limits.LOG_LINE
    if log.exists() and log.stat().st_size > room:
        raise BadInput(str(log), "a full log", f"at most {room} bytes: move it away, and keep it")
    output_folder(log.parent)
    with writing(log):
        with log.open("a+b") as file:
            file.write((_glue(log) + line + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
        sync(log.parent)
    return entry


def settle(entry: Entry, step: str) -> Entry:
    """Add the line that ends an action, done or dropped, given the one that began it."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return append(replace(entry, step=step, when=now))


def address(uri: str) -> str:
    """Return the address of a registry as the log notes it, without a login.

    >>> address("https://who:secret@lab.example.org:5000/?a=b")
    'https://lab.example.org:5000/'
    """
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def lines(log: Path) -> list[bytes]:
    """Return the lines of a log that may be entries; no file has none.

    Raises:
        BadInput: It is no regular file, or is larger than `limits.LOG`.
    """
    if not log.exists():
        return []
    content = read_bytes(log, "the log of promotions", largest=limits.LOG)
    return [line for line in content.split(b"\n") if _SHORTEST <= len(line) <= limits.LOG_LINE]


def read(name: str | None = None) -> tuple[Entry, ...]:
    """Read the entries of one name, or of all, oldest first; no file is an empty log.

    A line that a crash cut is left out.

    Raises:
        BadInput: As `lines`.
    """
    entries = [entry for entry in map(_from_json, lines(place())) if entry is not None]
    return tuple(entry for entry in entries if name in (None, entry.name))


def unsettled(entries: tuple[Entry, ...]) -> Entry | None:
    """Return the action that a crash interrupted, from the entries of one name."""
    return entries[-1] if entries and entries[-1].step == BEGUN else None


def last_done(entries: tuple[Entry, ...]) -> Entry | None:
    """Return the last action that was done, from the entries of one name."""
    return next((entry for entry in reversed(entries) if entry.step == DONE), None)


def rolled_back(entries: tuple[Entry, ...], version: str) -> Entry | None:
    """Return the rollback that took a version from `champion`, if nothing put it back since."""
    moves = (entry for entry in reversed(entries) if entry.step == DONE)
    last = next((e for e in moves if version in (e.before.champion, e.after.champion)), None)
    away = last is not None and last.action == ROLLBACK and last.after.champion != version
    return last if away else None


def _glue(log: Path) -> str:
    """Return what separates a new line from one that a crash cut."""
    if not log.exists() or not log.stat().st_size:
        return ""
    with log.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return "" if file.read() == b"\n" else "\n"


def _to_json(entry: Entry) -> dict[str, str | None]:
    pairs = {"from": entry.before.champion, "to": entry.after.champion}
    pairs |= {"previous_before": entry.before.previous, "previous": entry.after.previous}
    rest = {key: value for key, value in asdict(entry).items() if key not in ("before", "after")}
    return {**rest, **pairs}


def _from_json(line: bytes) -> Entry | None:
    try:
        content = json.loads(line)
        before = AliasPair(content.pop("from"), content.pop("previous_before"))
        after = AliasPair(content.pop("to"), content.pop("previous"))
        entry = Entry(before=before, after=after, **content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    versions = (before.champion, before.previous, after.champion, after.previous)
    texts = (*content.values(), *(version for version in versions if version is not None))
    means = entry.action in (PROMOTE, ROLLBACK) and entry.step in (BEGUN, DONE, DROPPED)
    return entry if means and all(isinstance(text, str) for text in texts) else None
