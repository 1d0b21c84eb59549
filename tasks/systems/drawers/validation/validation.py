"""How packages of drawers are validated: measured again, tried on fresh takes, an arm following."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress
from ricochet.tasks.console.progress import bar
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.drawers import packages, recorded_takes, sessions
from ricochet.tasks.systems.drawers.kinds import DRAWER, PREFIX
from ricochet.tasks.systems.drawers.settings import DrawerGate, DrawerSessions
from ricochet.tasks.systems.drawers.validation import fresh_takes, gate, play, report, results
from ricochet.tasks.systems.drawers.validation.fresh_takes import (
    FreshTake,
    RecordedTakes,
    SimulatedTakes,
)
from ricochet.tasks.systems.drawers.validation.gate import DrawerEvidence
from ricochet.tasks.systems.drawers.validation.results import DrawerResult
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.judge import Candidate, RigRequest, RunTrials, Validation
from ricochet.tasks.validation.outcomes import SIMULATED

RECORDED = "recorded"
"""The rig of takes that were recorded before."""
STATED = {
    "speed_coverage_90": ("speed_coverage_90",),
    "dark_coverage_90": ("dark_coverage_90",),
    "dark_error": ("position_rmse", "light_off", "ours"),
}
"""Where a package states a figure."""


def open_simulated(request: RigRequest) -> RunTrials[DrawerResult]:
    """Return what tries contenders on fresh takes of the simulated rig."""
    wanted = request.settings[DrawerSessions]
    drawer = request.name.removeprefix(PREFIX)
    fresh_takes.refuse_drawer(drawer, request.name)
    if wanted.seconds - wanted.light_off < recorded_takes.DARK:
        found = f"{wanted.light_off:g} s of {wanted.seconds:g} s"
        expected = f"{recorded_takes.DARK:g} s of darkness at least after it"
        raise BadInput("drawers.light_off", found, expected)
    takes = partial(
        SimulatedTakes,
        drawer,
        count=request.settings[DrawerGate].takes,
        seconds=wanted.seconds,
        light_off=wanted.light_off,
    )
    return partial(attempt_all, lambda seed: takes(seed=seed), SIMULATED)


def open_recorded(request: RigRequest) -> RunTrials[DrawerResult]:
    """Return what tries contenders on recorded sessions."""
    folders = tuple(Path(each) for each in request.settings[DrawerGate].recordings)
    if not folders:
        expected = "folders of sessions that nothing was learnt from"
        raise BadInput("drawer_gate.recordings", "none", expected)
    for folder in folders:
        if not (folder / MANIFEST).is_file():
            raise BadInput(str(folder / MANIFEST), "nothing", "a session of the drawer")
    drawer = request.name.removeprefix(PREFIX)
    return partial(attempt_all, lambda _: RecordedTakes(folders, drawer), RECORDED)


def measure(
    candidate: Candidate, settings: Settings, seed: int, progress: Progress
) -> DrawerEvidence:
    """Measure a candidate again on the takes that it says were held out.

    Raises:
        BadInput: If its sessions are away or others than it was learnt from, or it states nothing.
    """
    package, where = candidate.package, candidate.registered.where
    manifests = list(candidate.recordings())
    if sessions.digest([file.parent for file in manifests]) != package.data_digest:
        raise BadInput(where, "other sessions", "those that it was learnt from")
    stated = _stated(package, where)
    drawer = packages.from_package(package, where=where)
    held = set(package.settings["takes"]["held_out"])
    folders = tuple(file.parent for file in manifests)
    name = candidate.registered.name.removeprefix(PREFIX)
    every = RecordedTakes(folders, name, whole=False)
    takes = [each for each in every.of(drawer) if each.name in held]
    if len(takes) != len(held):
        raise BadInput(where, f"{len(takes)} of its held-out takes", f"all {len(held)}")
    found = []
    for number, take in enumerate(takes):
        found.append(play.follow(drawer, take))
        progress(number + 1, len(takes))
    errors = np.array([each.dark_error for each in found])
    measured = {
        "speed_coverage_90": float(np.mean([each.speed_held for each in found])),
        "dark_coverage_90": float(np.mean([each.dark_held for each in found])),
        "dark_error": float(np.sqrt((errors**2).mean())),
    }
    return DrawerEvidence(stated, measured, len(takes), settings[DrawerGate].chance)


def attempt_all(
    takes_of: Any, rig: str, contenders: Contenders, seed: int, folder: Path
) -> DrawerResult:
    """Try every contender on the same takes."""
    drawers = {
        role: packages.from_package(package, where=contenders.where(role))
        for role, package in contenders.packages.items()
    }
    takes, trials = takes_of(seed), {}
    for role, drawer in drawers.items():
        with bar(f"{contenders.name}, takes of {role}") as progress:
            done = []
            for take in takes.of(drawer):
                _refuse_learnt(contenders, take)
                done.append(play.attempt(drawer, take))
                progress(len(done), takes.count)
            if not done:
                raise BadInput(contenders.name, "no take", "takes that were lit and then dark")
            trials[role] = tuple(done)
    return DrawerResult(
        contenders.name, contenders.candidate, contenders.champion, rig, seed, trials
    )


def _refuse_learnt(contenders: Contenders, take: FreshTake) -> None:
    """Refuse a take that a contender was learnt from, whatever its name is now."""
    for role, package in contenders.packages.items():
        learnt = (package.settings.get("takes") or {}).get("learnt_from")
        if isinstance(learnt, dict) and take.sound in learnt.values():
            found = f"{take.name}, from which the {role} was learnt"
            raise BadInput("drawer_gate.recordings", found, "takes that nothing was learnt from")


def _stated(package: Package, where: str) -> dict[str, float]:
    """Return what a package states of takes that were held out."""
    found = {}
    for name, keys in STATED.items():
        value: Any = package.checks
        for key in (*keys, "value"):
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, float):
            raise BadInput(where, f"no {name}", "figures of takes that were held out")
        found[name] = value
    return found


VALIDATION = Validation(
    kind=DRAWER,
    refuse=DRAWER.refuse,
    rigs={SIMULATED: open_simulated, RECORDED: open_recorded},
    measure=measure,
    judge_evidence=gate.judge_evidence,
    judge_result=gate.judge_trials,
    report=report.report,
    read=results.from_json,
    line=report.line,
)
"""Of `drawer-<name>`."""
