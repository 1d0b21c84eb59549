"""The recordings that a posterior was learnt from, and which parts of them it was not.

A package states the digest of its files, the rate, and the pieces: their span and instants. Files
are read again only if their digest is that one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.storage.files import digest_of, sha256
from ricochet.tasks.systems.rigid_bodies import motion_files, motion_inference, pendulum_inference
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded


@dataclass(frozen=True)
class Learnt:
    """What a package says that it was learnt from.

    Attributes:
        rate: Frames a second.
        span: Seconds of each piece.
        instants: At which pieces begin, s.
        particles: Chains of its draws.
    """

    rate: float
    span: float
    instants: tuple[float, ...]
    particles: int


@dataclass(frozen=True)
class HeldOut:
    """Instants of a recording from which on it can be watched and predicted.

    Attributes:
        now: Frames at which watching ends.
    """

    run: Recorded
    now: tuple[int, ...]


def learnt(package: Package) -> Learnt:
    """Return what a package says; `BadInput` if it does not say it, or not in numbers."""
    try:
        of = package.settings["pendulum"]
        found = Learnt(
            float(package.settings["rate"]),
            float(of["span"]),
            tuple(float(each) for each in of["instants"]),
            int(of["particles"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        expected = "rate, span, instants and particles of the inference"
        raise BadInput("package: settings", f"{type(error).__name__} {error}", expected) from error
    count = len(package.arrays["samples"])
    if found.particles < 1 or count % found.particles or not found.instants or not found.span > 0.0:
        what = f"{count} draws of {found.particles} particles, {len(found.instants)} instants"
        raise BadInput("package: settings", what, "whole rounds of particles, learnt from pieces")
    return found


def read(package: Package, files: Sequence[Path]) -> dict[str, Recorded]:
    """Read the recordings of a package.

    Raises:
        BadInput: If a file is away or is none, or all of them are not those of the package.
    """
    expected = f"those of digest {package.data_digest}"
    if not files:
        raise BadInput("recordings", "none", expected)
    away = [str(file) for file in files if not file.is_file()]
    if away:
        raise BadInput(", ".join(away), "no such file", f"a recording, {expected}")
    digest = digest_of([sha256(file) for file in files])
    if digest != package.data_digest:
        named = ", ".join(map(str, files))
        raise BadInput(named, f"recordings of digest {digest}", expected)
    rate = learnt(package).rate
    return motion_inference.read(partial(motion_files.read, rate=rate), files)[0]


def held_out(
    runs: Mapping[str, Recorded], of: Learnt, *, watched: float, ahead: float
) -> tuple[HeldOut, ...]:
    """Return places that share no frame with any piece that was learnt from, nor with each other.

    Args:
        watched: Seconds before each place that are looked at.
        ahead: And after it.
    """
    problem = pendulum_inference.problem()
    shooting, _ = motion_inference.windows_of(problem, runs, of.span, of.instants)
    piece = shooting.windows * shooting.steps
    found = []
    for run in runs.values():
        before, after = round(watched * run.rate), round(ahead * run.rate)
        begins = [round(each * run.rate) for each in of.instants]
        taken = [(b - problem.width, b + piece + problem.width) for b in begins]
        found.append(HeldOut(run, _places(len(run.states), taken, before, after)))
    return tuple(found)


def _places(
    frames: int, taken: Sequence[tuple[int, int]], before: int, after: int
) -> tuple[int, ...]:
    """Return frames whose surroundings are free, from the first on."""
    found, begin = [], 0
    while begin + before + after < frames:
        end = begin + before + after
        over = [last for first, last in taken if first <= end and begin <= last]
        if over:
            begin = max(over) + 1
        else:
            found.append(begin + before)
            begin = end + 1
    return tuple(found)
