"""Aliases behind the gate: `previous`, then `champion`; logged before, undone by one word.

    verify the package -> tag the version -> log "begun" -> previous -> champion -> log "done"

Each step looks first whether it is done already. A process killed between any two leaves both
aliases on versions that were whole when they were pointed at, and a log that says what was under
way: the same call completes it, `ricochet doctor` settles it (done if `champion` had moved,
dropped if not), and `rollback` restores the aliases that the log holds. A version that was rolled
back is promoted only by a call that says `again`.

A tag of the version in the registry says which action made it champion. Lines of the log that no
tag bears out are passed over: they may say what another answered in the registry's place.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import pages, promotion_log, versions
from ricochet.tasks.registry.aliases import CHAMPION, PREVIOUS
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.manifests import OlderSchemaError
from ricochet.tasks.registry.promotion_log import (
    BEGUN,
    DONE,
    DROPPED,
    PROMOTE,
    ROLLBACK,
    AliasPair,
    Entry,
)
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.verdicts import Verdict
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage.files import output_folder

TAGS = {PROMOTE: "ricochet.promotion", ROLLBACK: "ricochet.rollback"}
"""Of a version: the identity of the action that last made it champion, or took it back."""


class RolledBackError(BadInput):
    """The version was champion until a rollback."""


@dataclass(frozen=True)
class Moved:
    """The versions behind the aliases of a name, and whether this call moved one."""

    name: str
    pair: AliasPair
    changed: bool


def present(tracker: Tracker, name: str) -> AliasPair:
    """Look up both aliases."""
    return AliasPair(_version(tracker, name, CHAMPION), _version(tracker, name, PREVIOUS))


def promote(
    tracker: Tracker,
    registered: Registered,
    *,
    kind: PackageKind,
    verdict: Verdict,
    against: str | None,
    validation: str,
    reason: str,
    again: bool = False,
) -> Moved:
    """Make a version the champion, if the gate lets it pass.

    Args:
        against: The version of the champion that it was compared with; None without one.
        validation: Run of the validation.
        again: Whether it may have been rolled back before.

    Raises:
        BadInput: If the gate refuses it, it is not there, its package is not whole, it was rolled
            back, or another version is champion by now.
        BusyError: If another process promotes.
    """
    if not verdict.passed:
        found = f"{len(verdict.refusals)} checks failed; {verdict.refusals[0]}"
        raise BadInput(registered.where, found, "a candidate that passes the gate")
    with lock():
        moved = _finish(tracker, registered, kind)
        if moved is not None:
            return moved
        if not again:
            refuse_rolled_back(tracker, registered)
        versions.load(tracker, registered, kind=kind)
        before = present(tracker, registered.name)
        if not _is_against(tracker, registered.name, before.champion, against, kind):
            found = f"champion {before.champion or 'none'} by now"
            expected = f"{against or 'none'}, with which it was compared"
            raise BadInput(registered.where, found, expected)
        after = AliasPair(registered.version, before.champion)
        begun = Entry(
            action=PROMOTE,
            name=registered.name,
            before=before,
            after=after,
            validation=validation,
            reason=" ".join(reason.split()),
            registry=promotion_log.address(tracker.uri),
        )
        return _complete(tracker, _begin(tracker, begun))


def finish(tracker: Tracker, registered: Registered, *, kind: PackageKind) -> Moved | None:
    """Complete the promotion of a version that a crash interrupted; it had passed the gate.

    Returns:
        The aliases; None where the version is not champion and must be judged first.

    Raises:
        BadInput: If its package is not whole.
        BusyError: If another process promotes.
    """
    with lock():
        return _finish(tracker, registered, kind)


def rollback(tracker: Tracker, name: str, *, kind: PackageKind, reason: str) -> Moved:
    """Restore the aliases of before the last promotion; a second call changes nothing.

    Raises:
        BadInput: If nothing was ever promoted, the aliases are not as the last promotion left them,
            or the package to return to is not whole.
        BusyError: If another process promotes.
    """
    with lock():
        settle(tracker, name)
        done, before = _last_done(tracker, name), present(tracker, name)
        after = done.before if done.action == PROMOTE else done.after
        if before == after:
            return Moved(name, before, changed=False)
        if before != done.after:  # moved by hand since
            left = f"{done.after.words}, as left on {done.when}"
            raise BadInput(f"{name}: {done.registry}", before.words, left)
        if after.champion is not None:
            versions.load(tracker, Registered(name, after.champion), kind=kind)
        begun = Entry(
            action=ROLLBACK,
            name=name,
            before=before,
            after=after,
            validation="",
            reason=" ".join(reason.split()),
            registry=promotion_log.address(tracker.uri),
        )
        _begin(tracker, begun)
        _point(tracker, name, CHAMPION, after.champion)
        _point(tracker, name, PREVIOUS, after.previous)
        promotion_log.settle(begun, DONE)
        return Moved(name, after, changed=True)


def refuse_rolled_back(tracker: Tracker, registered: Registered) -> None:
    """Refuse with a RolledBackError a version that was champion until a rollback."""
    name, version = registered.name, registered.version
    away = promotion_log.rolled_back(entries(tracker, name), version)
    if away is not None:
        found = f"rolled back on {away.when} because {away.reason!r}"
        expected = f"another version, or ricochet promote {name} {version} --again"
        raise RolledBackError(registered.where, found, expected)


def comparable(tracker: Tracker, name: str, champion: str | None, kind: PackageKind) -> str | None:
    """Return the version that a candidate is compared with: a champion that can be read.

    One of an older schema, which no controller can read, counts as none.

    Raises:
        BadInput: If its package is not whole.
    """
    if champion is None:
        return None
    try:
        versions.load(tracker, Registered(name, champion), kind=kind)
    except OlderSchemaError:
        return None
    return champion


def _is_against(
    tracker: Tracker, name: str, champion: str | None, against: str | None, kind: PackageKind
) -> bool:
    """Tell whether a candidate was compared with the champion that there is."""
    if champion == against:
        return True
    return against is None and comparable(tracker, name, champion, kind) is None


def entries(tracker: Tracker, name: str) -> tuple[Entry, ...]:
    """Read the lines of the log on a name that the registry bears out, oldest first.

    Of each action its beginning and its end count once: what stands there again is passed over.
    """
    lines = promotion_log.read(name)
    found = pages.versions(tracker.client, f"name = '{name}'") if lines else ()
    tags = {str(version.version): version.tags for version in found}
    first: dict[tuple[str, bool], Entry] = {}
    for line in lines:
        if tags.get(str(line.version), {}).get(TAGS.get(line.action)) == line.seal:
            first.setdefault((line.seal, line.step == BEGUN), line)
    return tuple(first.values())


def lock() -> AbstractContextManager[object]:
    """Keep other processes from promoting while a block runs; BusyError if one does."""
    return locks.hold(output_folder(promotion_log.place().parent))


def settle(tracker: Tracker, name: str) -> Entry | None:
    """End what a crash interrupted, if anything; return the line of the log that ends it.

    It is done where `champion` had moved, else undone and dropped; only dropped where the aliases
    are as no step of it leaves them.
    """
    begun = promotion_log.unsettled(entries(tracker, name))
    if begun is None:
        return None
    pair = present(tracker, name)
    if not begun.leaves(pair):  # moved by hand since
        return promotion_log.settle(begun, DROPPED)
    if pair.champion == begun.after.champion:
        _point(tracker, name, PREVIOUS, begun.after.previous)
        return promotion_log.settle(begun, DONE)
    _point(tracker, name, PREVIOUS, begun.before.previous)
    return promotion_log.settle(begun, DROPPED)


def _finish(tracker: Tracker, registered: Registered, kind: PackageKind) -> Moved | None:
    name, version = registered.name, registered.version
    begun = promotion_log.unsettled(entries(tracker, name))
    same = begun is not None and (begun.action, begun.version) == (PROMOTE, version)
    if begun is not None and same and begun.leaves(present(tracker, name)):
        versions.load(tracker, registered, kind=kind)
        return _complete(tracker, begun)
    settle(tracker, name)
    pair = present(tracker, name)
    return Moved(name, pair, changed=False) if pair.champion == version else None


def _begin(tracker: Tracker, begun: Entry) -> Entry:
    """Say in the registry, then in the log, what begins."""
    tag, version = TAGS[begun.action], begun.version
    tracker.client.set_model_version_tag(begun.name, version, tag, begun.seal)
    return promotion_log.append(begun)


def _complete(tracker: Tracker, begun: Entry) -> Moved:
    """Move both aliases as a line of the log says, and log that it is done."""
    _point(tracker, begun.name, PREVIOUS, begun.after.previous)
    _point(tracker, begun.name, CHAMPION, begun.after.champion)
    promotion_log.settle(begun, DONE)
    return Moved(begun.name, begun.after, changed=True)


def _last_done(tracker: Tracker, name: str) -> Entry:
    done = promotion_log.last_done(entries(tracker, name))
    if done is None:
        where = str(promotion_log.place())
        raise BadInput(where, f"no promotion of {name!r} here", "one that can be undone")
    return done


def _version(tracker: Tracker, name: str, alias: str) -> str | None:
    found = versions.resolve(tracker, name, alias)
    return None if found is None else found.version


def _point(tracker: Tracker, name: str, alias: str, version: str | None) -> None:
    """Point an alias at a version, or delete it; nothing is written where it is so already."""
    if _version(tracker, name, alias) == version:
        return
    if version is None:
        tracker.client.delete_registered_model_alias(name, alias)
    else:
        tracker.client.set_registered_model_alias(name, alias, version)
