"""Publishing: a sealed session goes under `data/`, into `data.dvc` and to a DVC remote.

Only what a session consists of goes there: its manifest, what that names, and how it was made. A
folder that holds anything else, a link among it, is refused, so that nothing leaves this machine by
mistake or by somebody else's doing.

There is one writer and one `data.dvc`: the session is added to it by itself, whether or not the
other recordings are at hand. The remote then holds all that `data.dvc` names. DVC's word is not
taken for it: the session is fetched into an empty folder and compared with its own digests. Nothing
here commits `data.dvc`. It is the checkout's own, from wherever a command is called, as the
recordings that are calibrated are those of the checkout.

A remote may be away for some nights. What is sealed stays, and `published.json` beside the sealed
sessions says which of them have been published, so that the others are not forgotten.
"""

import contextlib
import json
import logging
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import importing, manifests, recorder, sessions
from ricochet.tasks.recordings.dvc_commands import Dvc, PublicationError
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import regular, sha256, shown, sync, write_json, writing
from ricochet.tasks.storage.provenance import git, workplace

logger = logging.getLogger(__name__)

DATA = "data"
PUBLISHED = "published.json"
SAMPLE_REMOTE = "sample"
LARGEST = 2**31
"""Bytes of a file of a session."""
FILES_OF_TAKES = ("file", "vision", "motion")
"""Keys of a take that name files."""


def publish(session: Path, *, remote: str, root: Path | None = None) -> str:
    """Publish a sealed session and return the digest by which DVC names all recordings.

    Doing it again changes nothing.

    Args:
        remote: Name of the DVC remote; never the sample's, which travels with the repository.
        root: Folder of `data.dvc`; the checkout when absent, as in all functions here.

    Raises:
        BadInput: There is no DVC, the folder is no session or holds anything else, another
            session has its name, or the remote is wrong.
        PublicationError: DVC failed, or the remote gave back something else.
    """
    root = check_repository(root)
    dvc = Dvc(root)
    found = _remotes(dvc)
    if remote not in found or remote == SAMPLE_REMOTE:
        known = [name for name in found if name != SAMPLE_REMOTE]
        raise BadInput("remote", repr(remote), "one of " + (", ".join(known) or "none yet"))
    identity = manifests.identity(session)
    if identity.lower().endswith(".dvc"):
        expected = "one that DVC takes for no file of its own"
        raise BadInput(f"{session / manifests.MANIFEST}: id", identity, expected)
    before = sessions.data_digest(root / sessions.DATA_FILE)
    _place(session, root / DATA / identity)
    dvc.run("--wait-for-lock", "add", f"{DATA}/{identity}")
    _push(dvc, remote)
    _verify(dvc, identity, found[remote])
    digest = sessions.data_digest(root / sessions.DATA_FILE)
    if digest is None:
        raise PublicationError(f"{root / sessions.DATA_FILE}: DVC left no digest")
    if digest != before:
        logger.warning("%s names session %s now: commit it", sessions.DATA_FILE, identity)
    return digest


def check_repository(root: Path | None = None) -> Path:
    """Return the folder of `data.dvc`; `BadInput` where there is no DVC that could publish."""
    root = (root or workplace()).resolve()
    if not (root / ".dvc").is_dir():
        expected = "one (`git init && dvc init`, `dvc remote add published DIR`), or --no-publish"
        raise BadInput(str(root), "no DVC repository", expected)
    return root


def waiting(folder: Path) -> list[Path]:
    """Return the sealed sessions in a folder that are not known to be published, by name."""
    done = _published(folder)
    sealed = (path.parent for path in folder.glob(f"[!.]*/{manifests.MANIFEST}"))
    return sorted(path for path in sealed if path.name not in done)


def remember(session: Path, digest: str) -> None:
    """Write down that a session is published, and the digest of all recordings with it."""
    done = _published(session.parent) | {session.name: digest}
    write_json(session.parent / PUBLISHED, dict(sorted(done.items())))


def pull(root: Path | None = None) -> None:
    """Put what `data.dvc` names under `data/`, from the cache or whichever remotes have it."""
    dvc = Dvc((root or workplace()).resolve())
    with contextlib.suppress(PublicationError):
        dvc.run("checkout", str(sessions.DATA_FILE))
        return
    faults = _gather(dvc)
    try:
        dvc.run("checkout", str(sessions.DATA_FILE))
    except PublicationError as error:
        raise type(error)("; ".join([str(error), *faults])) from error


def remotes(root: Path) -> dict[str, str]:
    """Return the address of each DVC remote by its name."""
    return {name: options["url"] for name, options in _remotes(Dvc(root)).items()}


def awaits_commit(root: Path | None = None) -> bool:
    """Tell whether `data.dvc` differs from what Git holds; without Git it does not."""
    return bool(
        git("status", "--porcelain", "--", str(sessions.DATA_FILE), root=root or workplace())
    )


def differs(root: Path | None = None) -> bool:
    """Tell whether `data/` differs from what `data.dvc` names."""
    status = Dvc((root or workplace()).resolve()).run("status", "--json", str(sessions.DATA_FILE))
    return bool(json.loads(status or "{}"))


def manifest(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a session's folder, and no digest of anything else."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.name: sha256(path) if path.is_file() else "" for path in found}


def files(session: Path) -> list[Path]:
    """Return the files of a session; BadInput where its folder holds anything else."""
    found = sorted(session.iterdir())
    for path in found:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise BadInput(shown(path), "a link, folder or special file", "regular files alone")
    takes = checked_json.load(session / manifests.MANIFEST, "a session's file").get("takes")
    rows = [row for row in takes if isinstance(row, dict)] if isinstance(takes, list) else []
    named = [row.get(key) for row in rows for key in FILES_OF_TAKES]
    named += [manifests.MANIFEST, recorder.REPORT, importing.REPORT]
    for path in found:
        if path.name not in named:
            expected = f"only what {manifests.MANIFEST} names: move it elsewhere"
            raise BadInput(shown(path), "a file that is no part of the session", expected)
        if path.name.startswith(".") or path.suffix.lower() not in manifests.FILES:
            expected = f"one of {', '.join(manifests.FILES)}"
            raise BadInput(shown(path), "a name that DVC or another program may read", expected)
    return found


def _published(folder: Path) -> dict[str, str]:
    """Read what was published; without the file nothing was, and doing it again does no harm."""
    try:
        return checked_json.load(folder / PUBLISHED, "what was published")
    except (OSError, ValueError, TypeError):
        return {}


def _place(session: Path, target: Path) -> None:
    """Copy a session under `data/`, complete or not at all."""
    own = files(session)
    if target.exists():
        if manifest(target) != manifest(session):
            raise BadInput(str(target), "another session of this name", "the same one, or none")
        return
    partial = target.with_name(f".{target.name}.partial")
    with writing(target):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for path in own:
            _copy(path, partial / path.name)
        partial.rename(target)
        sync(target.parent)


def _copy(source: Path, target: Path) -> None:
    """Copy a regular file to the disk, never through a link."""
    found = regular(source, "a session's file", largest=LARGEST, links=False)
    with found as file, target.open("xb") as copy:
        shutil.copyfileobj(file, copy)
    sync(target)


def _gather(dvc: Dvc) -> list[str]:
    """Bring all that `data.dvc` names into the local cache, from whichever remote has it.

    Returns:
        What DVC says of the remotes that do not have all, or are away.
    """
    faults = []
    for remote in _remotes(dvc):
        try:
            dvc.ask("fetch", "-r", remote, str(sessions.DATA_FILE))
        except PublicationError as error:
            faults.append(f"remote {remote}: {error}")
    return faults


def _push(dvc: Dvc, remote: str) -> None:
    """Make a remote hold all that `data.dvc` names, and ask it whether it does."""
    arguments = ("-r", remote, str(sessions.DATA_FILE))
    dvc.ask("push", *arguments, check=False)
    if _lacking(dvc, remote):
        _gather(dvc)
        dvc.ask("push", *arguments)
        if lacking := _lacking(dvc, remote):
            raise PublicationError(f"remote {remote}: lacks {len(lacking)} files, {lacking[0]}")


def _lacking(dvc: Dvc, remote: str) -> list[str]:
    """Return the files that a remote does not hold."""
    status = dvc.ask("status", "--cloud", "-r", remote, "--json", str(sessions.DATA_FILE))
    return list(json.loads(status or "{}"))


def _verify(dvc: Dvc, identity: str, options: Mapping[str, str]) -> None:
    """Fetch a session into an empty folder and compare every byte with what was published."""
    with tempfile.TemporaryDirectory(prefix="ricochet-verify-") as name:
        folder = Path(name)
        (folder / ".dvc").mkdir()
        (folder / ".dvc" / "config").write_text("[core]\nno_scm = true\n")
        lines = ["[core]", "remote = fresh", "['remote \"fresh\"']"]
        lines += [f"{key} = {value}" for key, value in options.items()]
        (folder / ".dvc" / "config.local").write_text("\n".join(lines) + "\n")
        shutil.copy(dvc.root / sessions.DATA_FILE, folder)
        replace(dvc, root=folder).run("pull", f"{DATA}/{identity}")
        if manifest(folder / DATA / identity) != manifest(dvc.root / DATA / identity):
            raise PublicationError(f"remote {options['url']}: gave back a different {identity}")


def _remotes(dvc: Dvc) -> dict[str, dict[str, str]]:
    """Return what DVC knows of each remote, its address and how to log in, those of one's own too.

    Remotes without an address are left out.
    """
    found: dict[str, dict[str, str]] = {}
    for row in dvc.run("config", "--list").splitlines():
        key, _, value = row.partition("=")
        if key.startswith("remote."):
            name, _, option = key.removeprefix("remote.").rpartition(".")
            found.setdefault(name, {})[option] = value
    return {name: options for name, options in found.items() if "url" in options}
