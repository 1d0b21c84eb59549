"""Kills at random moments, and the same command again: `python -m benchmarks.random_kills`.

Four commands in a checkout of their own with DVC, a remote and a registry: `capture` of a session,
publication of one that was recorded, `calibrate` of a pair and `train density`. Each runs once to
its end. Then, `--kills` times, in a fresh copy of the same checkout, it and all that it started are
killed by kill -9 after a time that is uniform between 0 and what the whole command took (where it
had ended by then, after nine tenths of that time, and so on); the same command is then run to its
end. A kill is survived where that gives what the uninterrupted command
gave: bit for bit the same recordings, tables, networks, packages and objects of the remote, the
same versions, the same runs in the same states, and no unfinished file. A capture that had begun is
never begun again: it is sealed with the takes that were complete, and what there is of one more,
and that is what it owes; without any it says so in its last line. Exit status 1 otherwise.

What must not differ is compared by content alone: manifests hold times, folders of runs their ids.
"""

import argparse
import contextlib
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from benchmarks import night_lab
from ricochet.tasks.recordings import recorder
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.storage.files import sha256

SETTINGS = [word for each in night_lab.SMALL for word in ("--set", each)]
CAPTURE = ["capture", "--session", "new", "--out", "new", *SETTINGS]
NUMBERS = (".npz", ".safetensors", ".flac", ".wav")
SOONER = 0.9
"""Share of its time after which one is killed that had ended before it could be."""
PLACES = ("artifacts", "data", "new", ".dvc/cache")


@dataclass(frozen=True)
class Command:
    """A command that is killed.

    Attributes:
        words: Of the command line, after `ricochet`.
        before: A command that has run to its end before it, in the same checkout.
    """

    name: str
    words: list[str]
    before: list[str] | None = None


COMMANDS = (
    Command("capture", [*CAPTURE, "--no-publish"]),
    Command("publish", CAPTURE, before=[*CAPTURE, "--no-publish"]),
    Command("calibrate", ["calibrate", "data/sample", "--seed", "1", *SETTINGS]),
    Command("train", ["train", "density", "--seed", "1", *SETTINGS]),
)

EMPTY = "new: found no take, expected at least one"
"""What a capture ends in that was begun by one that was killed before its first take."""

Outcome = tuple[Counter[tuple[str, str]], list[tuple[str, ...]], list[tuple[str, str]]]
"""Names and digests of files, runs with their states, and versions."""


def started(root: Path, words: list[str]) -> subprocess.Popen[bytes]:
    """Start a verb in a checkout."""
    return subprocess.Popen(
        [sys.executable, "-m", "ricochet.flows.cli", *words],
        cwd=root,
        env=night_lab.environment(root),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def ended(root: Path, words: list[str]) -> str:
    """Run a verb, and the servers that it started, to their end.

    Returns:
        Its last line where it failed.
    """
    process = started(root, words)
    _, errors = process.communicate()
    night_lab.wait(lambda: not _in(root), seconds=60.0)  # a database is closed by its name
    return "" if process.returncode == 0 else errors.decode().strip().splitlines()[-1]


def _in(root: Path) -> list[int]:
    """Return the processes that work in a checkout."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cwd() == str(root):
                found.append(process.pid)
    return found


def killed(root: Path, words: list[str], seconds: float) -> bool:
    """Kill a verb and all that it started after a time; returns whether it still ran."""
    process = started(root, words)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=seconds)
    alive = process.poll() is None
    for each in [process, *_started_by(process.pid)]:  # servers of its own too
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    process.communicate()
    return alive


def _started_by(process: int) -> list[psutil.Process]:
    try:
        return psutil.Process(process).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def outcome(root: Path) -> Outcome:
    """Return what is compared of a checkout."""
    client = tracking.connect(store=root / "artifacts" / "mlflow").client
    experiments = {found.experiment_id: found.name for found in client.search_experiments()}
    found_runs = sorted(
        (experiments[run.info.experiment_id], run.info.run_name, run.info.status)
        for run in client.search_runs(list(experiments))
    )
    versions = sorted((each.name, each.version) for each in client.search_model_versions())
    return Counter(_contents(root)), found_runs, versions


def _contents(root: Path) -> list[tuple[str, str]]:
    """Return the files that must be the same, and the names of those that are not finished."""
    found = []
    for path in (each for place in PLACES for each in (root / place).rglob("*") if each.is_file()):
        kept = path.is_relative_to(root / "artifacts" / "published")
        name = f"new/{path.name}" if path.is_relative_to(root / "new") else path.name
        if kept or path.suffix in NUMBERS or path.is_relative_to(root / ".dvc" / "cache"):
            found.append((name, sha256(path)))
        elif any(part.startswith(".") for part in path.relative_to(root).parts[1:]):
            found.append((path.name, "a hidden file"))
    return found


def owed(root: Path, whole: Outcome) -> Outcome:
    """Return what a command must give after a kill, of which a checkout holds what it left."""
    begun = root / "new" / ".new.partial"
    if not any((begun / name).exists() for name in (recorder.PLAN, MANIFEST)):
        return whole
    complete = {f"new/{path.name}" for path in begun.glob("take-*.flac")}
    files = Counter(
        {
            file: count
            for file, count in whole[0].items()
            if not file[0].startswith("new/") or file[0] in complete
        }
    )
    return files, *whole[1:]


def differences(expected: Outcome, found: Outcome, *, interrupted: bool = False) -> list[str]:
    """Return in a line each what differs; one take more is what there was of an interrupted one."""
    lines = [f"lost: {name}" for name, _ in (expected[0] - found[0])]
    more = sorted((found[0] - expected[0]).elements())
    takes = [file for file in more if interrupted and file[0].startswith("new/")]
    lines += [f"left over: {file[0]}" for file in more if file not in takes[:1]]
    for kind, old, new in zip(("runs", "versions"), expected[1:], found[1:], strict=True):
        lines += [f"{kind}: found {new}, expected {old}"] * (old != new)
    return lines


def prepare(root: Path) -> None:
    """Make the checkout that all are copies of: one session, calibrated and registered."""
    night_lab.prepare(root)
    if line := ended(root, ["calibrate", "data/sample", *SETTINGS]):
        raise SystemExit(f"calibrate: {line}")


def fresh(source: Path, root: Path) -> None:
    """Make a copy of a checkout, at the same place each time."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(source, root, symlinks=True)


def kept(root: Path, name: str) -> Path:
    """Put a checkout away under a name; the registry in it knows the place where it was made."""
    place = root.with_name(name)
    shutil.rmtree(place, ignore_errors=True)
    return root.rename(place)


def whole(ready: Path, root: Path, command: Command) -> tuple[float, Outcome]:
    """Run a command to its end in a copy; returns the time that it took, s, and its outcome."""
    fresh(ready, root)
    began = time.monotonic()
    if line := ended(root, command.words):
        raise SystemExit(f"{command.name}: {line}")
    return time.monotonic() - began, outcome(root)


def one_kill(
    ready: Path, root: Path, command: Command, moment: float, expected: Outcome
) -> tuple[bool, list[str]]:
    """Kill a command after some seconds, and run it again.

    Returns:
        Whether it still ran, and what differs then.
    """
    fresh(ready, root)
    alive, due = killed(root, command.words, moment), owed(root, expected)
    line, found = ended(root, command.words), outcome(root)
    begun = due is not expected
    lines = [line] if line and not (begun and line == EMPTY and not _takes(found)) else []
    return alive, lines or differences(due, found, interrupted=begun)


def _takes(found: Outcome) -> list[str]:
    return [name for name, _ in found[0] if name.startswith("new/") and name.endswith(".flac")]


def tried(template: Path, root: Path, command: Command, shares: list[float]) -> list[list[str]]:
    """Return what differed after each kill, whose moments are shares of the whole command."""
    fresh(template, root)
    if command.before and (line := ended(root, command.before)):
        raise SystemExit(f"{command.name}: {line}")
    ready = kept(root, "ready")
    seconds, expected = whole(ready, root, command)
    rows = []
    for share in shares:
        moment, alive = share * seconds / SOONER, False
        while not alive:
            moment *= SOONER
            alive, found = one_kill(ready, root, command, moment, expected)
        rows.append(found)
        said = "; ".join(found) or "survived"
        print(
            f"{command.name:10} killed after {moment:5.1f} of {seconds:5.1f} s: {said}", flush=True
        )
    return rows


def main() -> None:
    """Kill each command some times and print how many kills were survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=8, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("artifacts/random_kills"))
    given = parser.parse_args()
    folder, draw = given.folder.resolve(), np.random.default_rng(given.seed)
    shutil.rmtree(folder, ignore_errors=True)
    root = folder / "checkout"
    prepare(root)
    template = kept(root, "template")
    rows = []
    for command in COMMANDS:
        moments = draw.uniform(0.0, 1.0, given.kills).tolist()
        rows += tried(template, root, command, moments)
    survived = sum(not row for row in rows)
    print(f"{survived} of {len(rows)} kills survived: nothing lost, nothing left over")
    if survived < len(rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
