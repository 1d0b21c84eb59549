"""The verbs that keep a lab from losing what it cannot make again: backup and restore."""

import argparse
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ricochet.flows.command_line.verb import Call, Ended, Takes, Verb
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce, bar

if TYPE_CHECKING:
    from ricochet.tasks.backups.contents import Stated
    from ricochet.tasks.backups.manifests import Backup
    from ricochet.tasks.backups.restore import Restored

BACKUP, RESTORE = "ricochet.backup-made/1", "ricochet.restored/1"
INCOMPLETE = 1
"""Exit status of `backup` where versions have no package in it, and not by the lab's own choice."""


def backup(call: Call) -> Mapping[str, Any]:
    """Copy databases, packages, log, recordings and settings to a folder that is not there.

    Exit status 1 where the packages of versions are not among them.
    """
    given = call.arguments
    announce("looking for what is to be kept ...")
    from ricochet.tasks.backups import backup as backups
    from ricochet.tasks.backups import held_packages

    stated = _stated(call)
    since = None if given.since is None else given.since.resolve()
    with bar(f"backup to {given.folder}") as progress:
        made = backups.make(given.folder.resolve(), since=since, stated=stated, progress=progress)
    call.report_line(f"{given.folder}: {len(made.files)} files, {made.size / 1e6:.1f} MB")
    call.report_line(_counted(made.counts))
    for place, count in made.left_out.items():
        call.report_line(f"{place}: {count} files left out, which no manifest can name")
    without = held_packages.missing(given.folder, made)
    whole = without == 0 or (stated is not None and bool(stated.bucket))  # as far as one can be
    if without:
        versions = f"{without} of {made.counts['versions']} versions"
        call.report_line(f"{'' if whole else 'not complete: '}{versions} without their packages")
    for line in _uncommitted(made):
        call.report_line(line)
    folder = shlex.quote(str(given.folder))
    elsewhere = "--state ELSEWHERE   (to try it)"
    if stated is not None and stated.servers:
        elsewhere = f"--config {shlex.quote(str(given.config))}   (into empty databases)"
    call.report_next(f"ricochet restore {folder} {elsewhere}")
    facts = {"folder": str(given.folder.resolve()), "without_package": without}
    result = {"schema": BACKUP, **facts, **_facts(made)}
    if not whole:
        raise Ended(INCOMPLETE, result)
    return result


def restore(call: Call) -> Mapping[str, Any]:
    """Put a backup back, all of it or nothing."""
    given = call.arguments
    announce("comparing the backup with its manifest ...")
    from ricochet.flows.servers import children
    from ricochet.tasks.backups import restore as backups
    from ricochet.tasks.storage.provenance import artifacts

    stated = _stated(call)
    state = (given.state or artifacts()).resolve()

    def refuse_servers() -> None:
        for each in (state,) if stated is None else (state, artifacts().resolve()):
            if children.ledger(each) is not None:
                raise BadInput(str(each), "servers that run", "none: stop `ricochet up` first")

    refuse_servers()
    with bar(f"restore to {state}") as progress:
        done = backups.put_back(
            given.folder.resolve(),
            state,
            replace=given.replace,
            stated=stated,
            progress=progress,
            refuse=refuse_servers,
        )
    call.report_line(f"{state}: {len(done.backup.files)} files of {done.backup.when}")
    call.report_line(_counted(done.counts))
    for line in _other_counts(done):
        call.report_line(line)
    for aside in filter(None, (done.aside, done.packages_aside)):
        call.report_line(f"what was there before is now {aside}")
    for put in done.undone:
        call.report_line(f"what a restore that was killed had put in place is now {put}")
    if given.state is None:
        _bring_recordings_back(call, state)
    for line in _to_compare(done):
        call.report_line(line)
    call.report_next(_after_restore(given, state))
    return {
        "schema": RESTORE,
        "state": str(state),
        "aside": None if done.aside is None else str(done.aside),
        "packages_aside": None if done.packages_aside is None else str(done.packages_aside),
        "undone": [str(put) for put in done.undone],
        **_facts(done.backup),
        "counts": dict(done.counts),
    }


def _bring_recordings_back(call: Call, state: Path) -> None:
    """Copy recordings to where DVC looks for them, and say so; or say what is to be copied."""
    from ricochet.tasks.backups import contents, published_recordings

    try:
        with bar("recordings") as progress:
            found = published_recordings.bring_back(state, progress=progress)
    except (BadInput, OSError, RuntimeError) as error:
        kept = state / contents.REMOTE
        call.report_line(f"recordings are in {kept}, and not where DVC looks for them: {error}")
        return
    if found is not None:
        remote, count = found
        call.report_line(f"{remote}: {count} files of recordings that it lacked")


def _after_restore(given: argparse.Namespace, state: Path) -> str:
    """Return the command that may follow."""
    from ricochet.tasks.registry import lab_state

    place = "" if given.state is None else f"RICOCHET_ARTIFACTS={shlex.quote(str(state))} "
    if not lab_state.is_marked(state):
        return f"{place}ricochet doctor"
    file = "FILE" if given.config is None or given.state is not None else str(given.config)
    return f"{place}ricochet up --config {shlex.quote(file)}"


def _stated(call: Call) -> "Stated | None":
    """Read the lab's file, if one is named; its state is then the folder of outputs."""
    if call.arguments.config is None:
        return None
    from ricochet.flows.servers import lab
    from ricochet.tasks.backups import contents
    from ricochet.tasks.backups.postgres import Server
    from ricochet.tasks.storage.provenance import ARTIFACTS

    found = lab.load(call.arguments.config)
    os.environ[ARTIFACTS] = str(found.state)
    for name in ("MLFLOW_TRACKING_URI", "PREFECT_HOME"):
        os.environ.pop(name, None)
    addresses = {contents.MLFLOW: found.mlflow_database, contents.PREFECT: found.prefect_database}
    passwords = found.secrets_folder / "pgpass"
    servers = {name: Server(each, passwords) for name, each in addresses.items() if each}
    store = found.artifact_store
    if "://" in store:
        call.report_line(f"{store}: not in the backup; it is kept by its own means")
        return contents.Stated(servers, bucket=store)
    return contents.Stated(servers, Path(store) if store else None)


def _facts(made: "Backup") -> dict[str, Any]:
    facts = {"when": made.when, "commit": made.commit, "counts": dict(made.counts)}
    files = {"files": len(made.files), "bytes": made.size, "left_out": dict(made.left_out)}
    return {**facts, **files}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _other_counts(done: "Restored") -> list[str]:
    """Return where what was put back is more or less than its manifest says."""
    stated = done.backup.counts
    return [
        f"{name}: {count}, though the backup says {stated[name]}"
        for name, count in done.counts.items()
        if stated.get(name, count) != count
    ]


def _uncommitted(made: "Backup") -> list[str]:
    """Return what of the checkout is in no commit, and so in no clone."""
    from ricochet.tasks.recordings import dvc_publish

    lines = []
    if made.commit.endswith("-dirty"):
        lines.append("the checkout has changes that are not committed; they are not in the backup")
    if dvc_publish.awaits_commit():
        lines.append("data.dvc has changed, to be committed by hand; the backup holds a copy")
    return lines


def _to_compare(done: "Restored") -> list[str]:
    """Return the settings in the backup that differ from those of the checkout."""
    from ricochet.tasks.backups.contents import CHECKOUT, SETTINGS
    from ricochet.tasks.storage.provenance import workplace

    kept = {name: done.state / SETTINGS / name for name in CHECKOUT}
    return [
        f"{name}: not as in the backup; to be compared by hand with {path}"
        for name, path in kept.items()
        if path.is_file() and _bytes(path) != _bytes(workplace() / name)
    ]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="FILE", help="the servers of a lab")


def _backup_options(parser: argparse.ArgumentParser) -> None:
    _config_option(parser)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to; it must not exist")
    parser.add_argument(
        "--since", type=Path, metavar="OLDER", help="earlier backup; what it holds too is linked"
    )


def _restore_options(parser: argparse.ArgumentParser) -> None:
    _config_option(parser)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a backup")
    parser.add_argument(
        "--state", type=Path, metavar="DIR", help="where to (default: the folder of outputs)"
    )
    parser.add_argument(
        "--replace", action="store_true", help="even if something is there; that stays beside it"
    )


VERBS = (
    Verb(
        ("backup",),
        "copy what a lab cannot make again to a folder, while everything runs",
        "ricochet backup /mnt/backups/2026-11-26",
        backup,
        _backup_options,
        takes=Takes.JSON,
    ),
    Verb(
        ("restore",),
        "put a backup back, all of it or nothing, here or at another place",
        "ricochet restore /mnt/backups/2026-11-26",
        restore,
        _restore_options,
        takes=Takes.JSON,
        unfinished=True,
    ),
)
