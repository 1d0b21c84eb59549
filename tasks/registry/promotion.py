"""Aliases behind the gate: `previous`, then `champion`; logged before, undone by one word.

    verify the package -> log "begun" -> previous -> champion -> log "done"

Each step looks first whether it is done already. A process killed between any two leaves both
aliases on versions that were whole when they were pointed at, and a log that says what was under
way: the same call completes it, `ricochet doctor` settles it (done if `champion` had moved,
dropped if not), and `rollback` restores the aliases that the log holds. A version that was rolled
back is promoted only by a call that says `again`.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from mlflow.exceptions import MlflowException

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion_log, verdicts, versions
from ricochet.tasks.registry.aliases import CHAMPION, PREVIOUS
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.promotion_log import DONE, DROPPED, PROMOTE, ROLLBACK, AliasPair, Entry
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.verdicts import Verdict
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage.files import output_folder


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
    validation: str,
    reason: str,
    again: bool = False,
) -> Moved:
    """Make a version the champion, if the gate lets it pass.

    Args:
        validation: Run of the validation.
        again: Whether it may have been rolled back before.

    Raises:
        BadInput: If the gate refuses it, it is not there, its package is not whole, or it was
            rolled back.
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
        after = AliasPair(registered.version, before.champion)
        why = " ".join(reason.split())
        begun = Entry(
            action=PROMOTE,
            name=registered.name,
            before=before,
            after=after,
            validation=validation,
            reason=why,
            registry=promotion_log.address(tracker.uri),
        )
        return _complete(tracker, promotion_log.append(begun))


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
        why = " ".join(reason.split())
        where = promotion_log.address(tracker.uri)
        begun = Entry(ROLLBACK, name, before, after, "", why, where)
        promotion_log.append(begun)
        _point(tracker, name, CHAMPION, after.champion)
        _point(tracker, name, PREVIOUS, after.previous)
        promotion_log.settle(begun, DONE)
        return Moved(name, after, changed=True)


def refuse_rolled_back(tracker: Tracker, registered: Registered) -> None:
    """Refuse with a RolledBackError a version that was champion until a rollback."""
    name, version = registered.name, registered.version
    away = promotion_log.rolled_back(promotion_log.read_of(tracker.uri, name), version)
    if away is not None:
        found = f"rolled back on {away.when} because {away.reason!r}"
        expected = f"another version, or ricochet promote {name} {version} --again"
        raise RolledBackError(registered.where, found, expected)


def lock() -> AbstractContextManager[object]:
    """Keep other processes from promoting while a block runs; BusyError if one does."""
    return locks.hold(output_folder(promotion_log.place().parent))


def settle(tracker: Tracker, name: str) -> Entry | None:
    """End what a crash interrupted, if anything; return the line of the log that ends it.

    It is done where `champion` had moved, else undone and dropped; only dropped where the aliases
    are not as it leaves them.
    """
    begun = promotion_log.unsettled(promotion_log.read_of(tracker.uri, name))
    if begun is None:
        return None
    pair = present(tracker, name)
    if not begun.leaves(pair):
        return promotion_log.settle(begun, DROPPED)
    if pair.champion == begun.after.champion:
        _point(tracker, name, PREVIOUS, begun.after.previous)
        return promotion_log.settle(begun, DONE)
    _point(tracker, name, PREVIOUS, begun.before.previous)
    return promotion_log.settle(begun, DROPPED)


def _finish(tracker: Tracker, registered: Registered, kind: PackageKind) -> Moved | None:
    name, version = registered.name, registered.version
    begun = promotion_log.unsettled(promotion_log.read_of(tracker.uri, name))
    if begun is not None and begun.after.champion == version and _is_borne_out(tracker, begun):
        versions.load(tracker, registered, kind=kind)
        return _complete(tracker, begun)
    settle(tracker, name)
    pair = present(tracker, name)
    return Moved(name, pair, changed=False) if pair.champion == version else None


def _is_borne_out(tracker: Tracker, begun: Entry) -> bool:
    """Tell whether a registry holds what the promotion that a line of the log began stood on."""
    if begun.action != PROMOTE or not begun.leaves(present(tracker, begun.name)):
        return False
    try:
        run = tracker.client.get_run(begun.validation)
    except MlflowException as error:
        if error.error_code not in versions.ABSENT:
            raise
        return False
    expected = verdicts.compared(begun.name, str(begun.after.champion), begun.before.champion)
    expected[verdicts.GATE] = verdicts.PASSED
    return run.info.status == "FINISHED" and expected.items() <= run.data.tags.items()


def _complete(tracker: Tracker, begun: Entry) -> Moved:
    """Move both aliases as a line of the log says, and log that it is done."""
    _point(tracker, begun.name, PREVIOUS, begun.after.previous)
    _point(tracker, begun.name, CHAMPION, begun.after.champion)
    promotion_log.settle(begun, DONE)
    return Moved(begun.name, begun.after, changed=True)


def _last_done(tracker: Tracker, name: str) -> Entry:
    done = promotion_log.last_done(promotion_log.read_of(tracker.uri, name))
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
