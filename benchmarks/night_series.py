"""What many nights leave in the machine, night by night: its trend and its picture."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

WARM_UP = 10
"""Nights after each start of the servers that are left out of a trend: caches fill."""
MOST = {
    "processes": 1.0,
    "descriptors": 10.0,
    "memory": 30e6,
    "recordings": 150e6,
    "results": 120e6,
    "databases": 60e6,
    "logs": 2e6,
}
"""What 100 nights may add. What should stand still gains in a year 4 processes, 37 open files and
110 MB; disk is used by what a night of this size makes: a recording of 0.25 MB lies in four places.
"""
_ROUNDS = 20


@dataclass(frozen=True)
class Night:
    """What there was after a night.

    Attributes:
        start: Which start of the servers it belongs to, counted from 0.
        state: State of its flow run.
        kill: What was killed in it: `run`, `machine` or nothing.
        seconds: Time from its start to its end.
        processes: Number of `up`, the servers, the worker and all that they started.
        descriptors: Open files of all of them.
        memory: Their resident memory, bytes.
        up: That of `up` alone, bytes.
        recordings: Bytes of sealed sessions: outputs, `data`, DVC's cache and the remote.
        results: Bytes of packages, runs' files and other outputs.
        databases: Bytes of the databases of MLflow and Prefect.
        logs: Bytes of the servers' logs.
    """

    number: int
    start: int
    state: str
    kill: str
    seconds: float
    processes: int
    descriptors: int
    memory: int
    up: int
    recordings: int
    results: int
    databases: int
    logs: int


STEADY = ("processes", "descriptors", "memory")
"""What must have no trend."""
GROWING = ("recordings", "results", "databases", "logs")
"""What grows by what each night adds."""


def append(path: Path, night: Night) -> None:
    """Add a night to a file of JSON lines."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(night)) + "\n")


def read(path: Path) -> list[Night]:
    """Read the nights of a file; `SystemExit` where an earlier version wrote it."""
    names = {field.name for field in fields(Night)}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    if any(not names <= row.keys() for row in rows):
        raise SystemExit(f"{path}: found nights of an earlier version: move the file away")
    return [Night(**{key: row[key] for key in names}) for row in rows]


def steady(nights: Sequence[Night]) -> list[Night]:
    """Return the nights after each start's warm-up."""
    firsts: dict[int, int] = {}
    for night in nights:
        firsts.setdefault(night.start, night.number)
    return [night for night in nights if night.number - firsts[night.start] >= WARM_UP]


def trend(nights: Sequence[Night], name: str) -> tuple[float, float]:
    """Return the change a night and half its 95 % interval, every start of the servers apart.

        y_n = a_start + b n + e_n,    e_n = r e_(n-1) + d_n

    with independent d, by least squares of y_n - r y_(n-1) and of e_n on e_(n-1) in turn (Cochrane
    and Orcutt 1949). Errors about a line fitted to m of them keep (2 + 4 r) / m less of each other
    than they do (Marriott and Pope 1954), which is put right: r = (m r' + 2) / (m - 4). Memory that
    stays where it came to has r near 1: then b is the mean step.
    """
    starts = sorted({night.start for night in nights})
    numbers = np.array([float(night.number) for night in nights])
    apart = np.array([[night.start == start for start in starts] for night in nights], float)
    design = np.column_stack([numbers, apart])
    values = np.array([float(getattr(night, name)) for night in nights])
    after = np.flatnonzero([a.start == b.start for a, b in itertools.pairwise(nights)]) + 1
    if len(after) <= design.shape[1]:
        return float("nan"), float("nan")
    each, kept, found, half = len(nights) / len(starts), 0.0, 0.0, 0.0
    for _ in range(_ROUNDS):
        rows = design[after] - kept * design[after - 1]
        found, half, coefficients = _first_of(rows, values[after] - kept * values[after - 1])
        errors = values - design @ coefficients
        before = float(errors[after - 1] @ errors[after - 1])
        kept = float(errors[after] @ errors[after - 1]) / before if before > 0.0 else 0.0
        kept = min(max((each * kept + 2.0) / max(each - 4.0, 1.0), 0.0), 1.0)
    return found, half


def _first_of(
    rows: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[float, float, NDArray[np.float64]]:
    """Return the first coefficient of least squares, half its 95 % interval, and all of them."""
    coefficients, _, rank, _ = np.linalg.lstsq(rows, values, rcond=None)
    free = len(values) - int(rank)
    variance = float(((values - rows @ coefficients) ** 2).sum()) / free
    spread = np.sqrt(variance * np.linalg.pinv(rows.T @ rows)[0, 0])
    return float(coefficients[0]), float(student.ppf(0.975, free) * spread), coefficients


def growing(nights: Sequence[Night]) -> list[str]:
    """Return what may grow too much: more than `MOST` lies in its 95 % interval."""
    trends = {name: trend(steady(nights), name) for name in MOST}
    return [name for name, ends in trends.items() if not 100.0 * sum(ends) <= MOST[name]]


def failed(nights: Sequence[Night]) -> list[int]:
    """Return the numbers of the nights that ended as none should.

    They complete; one that is killed is found to have crashed, or had completed before.
    """
    right = {True: ("CRASHED", "COMPLETED"), False: ("COMPLETED",)}
    return [night.number for night in nights if night.state not in right[bool(night.kill)]]


def lines(nights: Sequence[Night]) -> list[str]:
    """Return what is printed: how the nights ended, and each trend."""
    after = steady(nights)
    states = {night.state for night in nights}
    ended = ", ".join(
        f"{sum(n.state == state for n in nights)} {state}" for state in sorted(states)
    )
    killed = sum(bool(night.kill) for night in nights)
    rows = [f"{len(nights)} nights, {killed} of them with a kill: {ended}"]
    for name in (*STEADY, "up", "seconds", *GROWING):
        slope, half = trend(after, name)
        unit, per = ("MB", 1e6) if name in ("memory", "up", *GROWING) else ("", 1.0)
        last = getattr(nights[-1], name) / per
        rows.append(
            f"{name:12} {100 * slope / per:+9.2f} +- {100 * half / per:.2f} {unit} in 100 nights;"
            f" at the end {last:.1f} {unit}".rstrip()
        )
    return rows


def draw(nights: Sequence[Night], path: Path) -> None:
    """Draw all series over the nights; the nights with a kill are marked."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 2, figsize=(9.0, 7.5), sharex=True, layout="constrained")
    numbers = np.array([night.number for night in nights])
    panels = [
        *((name,) for name in STEADY),
        ("seconds",),
        ("databases", "logs"),
        ("recordings", "results"),
    ]
    for axis, names in zip(axes.T.flat, panels, strict=True):
        for name in names:
            axis.plot(numbers, _scaled(nights, name), marker=".", lw=0.8, label=name)
        for kill, colour in (("run", "tab:orange"), ("machine", "tab:red")):
            for night in (n for n in nights if n.kill == kill):
                axis.axvline(night.number, color=colour, lw=0.8, alpha=0.6)
        axis.set_ylabel(", ".join(names) + _unit(names[0]))
        axis.set_ylim(bottom=0.0)
        if len(names) > 1:
            axis.legend(fontsize="small")
    for axis in axes[-1]:
        axis.set_xlabel("night (orange: its run killed; red: everything killed and started anew)")
        axis.xaxis.label.set_size("x-small")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _unit(name: str) -> str:
    return " / s" if name == "seconds" else " / MB" if name in ("memory", *GROWING) else ""


def _scaled(nights: Sequence[Night], name: str) -> NDArray[np.float64]:
    values = np.array([float(getattr(night, name)) for night in nights])
    return values / 1e6 if name in ("memory", *GROWING) else values
