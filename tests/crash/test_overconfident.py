"""An overconfident posterior is refused, the honest one is accepted; whatever the package states.

The overconfident one is the honest package squeezed about its mean to half of every deviation, a
quarter of the variance: table, draws and covariance alike, its manifest, digests, self-test and
`checks.json` as good as those of the honest one.
"""

import dataclasses
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.calibration import calibrate
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import posterior
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.settings import Gate
from ricochet.tasks.systems.bouncing_ball.validation import audit, gate
from tests.checkouts import python_path
from tests.oracles.planted_sessions import PING_PONG, session

SMALL = ["density.simulations=1500", "density.epochs=3", "density.hidden=16"]
SMALL += ["calibrate.check_sessions=1", "calibrate.whole_takes=0", "gate.sessions=12"]


def squeeze(package: Package, *, division: float) -> Package:
    """Divide the variance of a posterior by a linear map about its mean."""
    arrays, mean = package.arrays, package.arrays["mean"]
    share = division**-0.5
    changed = {
        "rows": mean[1] + share * (arrays["rows"] - mean[1]),
        "low": mean[0] + share * (arrays["low"] - mean[0]),
        "high": mean[0] + share * (arrays["high"] - mean[0]),
        "log_density": arrays["log_density"] + np.log(division),
        "samples": mean + share * (arrays["samples"] - mean),
        "covariance": arrays["covariance"] / division,
    }
    inputs = {"theta": changed["samples"][:32]}
    return dataclasses.replace(package, arrays=arrays | changed, inputs=inputs)


def package_of(drops) -> Package:
    """Calibrate drops and package the posterior as `ricochet calibrate` does."""
    found = calibrate.calibrate(drops, draw=torch.Generator().manual_seed(1))
    request = SimpleNamespace(settings=catalogue.load_settings(), seed=1)
    checked = ProductChecks(np.array([0.5]), np.array([[0.5, 0.5]]), 10)
    target = SimpleNamespace(name="ball-table", digest="0" * 32)
    return posterior._package(target, request, found, {"findings": []}, checked)


def failures(stated: Package, drops, *, sessions: int) -> set[str]:
    settings = catalogue.load_settings(None, [f"gate.sessions={sessions}"])
    evidence = audit.audit_drops(audit.claim(stated), drops, settings=settings, seed=2)
    return {check.name for check in gate.judge_evidence(evidence) if not check.passed}


@pytest.mark.proof
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_package_of_its_own_drops_passes_and_the_same_squeezed_does_not(seed):
    """The method is checked on two sessions alone here: nothing can be refused for so few."""
    drops = session(PING_PONG, 10, seed)
    honest = package_of(drops)
    assert failures(honest, drops, sessions=2) == set()
    refused = failures(squeeze(honest, division=4.0), drops, sessions=2)
    assert refused >= {f"package's regions at {level} %" for level in (50, 80, 90, 95)}
    assert refused >= {"package's covariance", "package's draws, levels"}


@pytest.mark.proof
def test_squeezed_draws_with_an_honest_table_are_refused_too():
    drops = session(PING_PONG, 10, 6)
    honest = package_of(drops)
    draws = squeeze(honest, division=4.0).arrays["samples"]
    mixed = dataclasses.replace(honest, arrays=honest.arrays | {"samples": draws})
    assert "package's draws, levels" in failures(mixed, drops, sessions=2)


def ricochet(place, *words):
    kept = {"RICOCHET_ARTIFACTS": str(place / "artifacts"), "PYTHONPATH": python_path()}
    command = [sys.executable, "-m", "ricochet.flows.cli", *map(str, words), "--no-publish"]
    done = subprocess.run(command, cwd=place, env=os.environ | kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.proof
def test_from_recordings_to_the_gate(tmp_path):
    """Capture, calibrate, then judge the package by detection on its recordings again."""
    small = [word for setting in SMALL for word in ("--set", setting)]
    drops = ["--set", "capture.drops=10", "--seed", "7"]
    ricochet(tmp_path, "capture", "--session", "s", "--out", "new", *drops)
    ricochet(tmp_path, "calibrate", "new/s", "--out", "out", *small)
    honest = packages.read_package(tmp_path / "out" / "package", reader=GRID)
    settings, recordings = catalogue.load_settings(None, SMALL), [tmp_path / "new" / "s"]
    found = audit.audit(honest, recordings, settings=settings)
    assert [check.line for check in gate.judge_evidence(found) if not check.passed] == []
    packages.write_package(tmp_path / "narrow", squeeze(honest, division=4.0), reader=GRID)
    narrow = packages.read_package(tmp_path / "narrow", reader=GRID)
    assert json.dumps(dict(narrow.checks)) == json.dumps(dict(honest.checks))
    claim = audit.claim(narrow)
    lines = gate.judge_evidence(
        dataclasses.replace(found, agreement=again(claim, recordings, settings))
    )
    assert {f"package's regions at {level} %" for level in (50, 80, 90, 95)} <= {
        check.name for check in lines if not check.passed
    }


def again(claim, recordings, settings):
    """Hold another claim against the same recordings, without simulating sessions anew."""
    less = settings.changed(Gate, sessions=1)
    from ricochet.tasks.systems.bouncing_ball.calibration import detections

    drops = detections.measured(detections.detect(recordings), release_sd=5e-3)
    return audit.audit_drops(claim, drops, settings=less).agreement


def test_other_recordings_than_its_own_are_refused(tmp_path, package):
    from tests.tasks.recordings import small_sessions

    folder = small_sessions.write_session(
        small_sessions.plan(tmp_path / "s"), [small_sessions.noise(1)]
    ).folder
    with pytest.raises(BadInput, match="those of digest"):
        audit.check_recordings(package, [folder])
    with pytest.raises(BadInput, match="recordings: found none"):
        audit.check_recordings(package, [])


def test_what_is_no_posterior_of_a_ball_is_refused(package):
    bare = {name: package.arrays[name] for name in ("rows", "low", "high", "log_density")}
    with pytest.raises(BadInput, match="kind 'grid' with"):
        audit.claim(dataclasses.replace(package, arrays=bare))
    moments = {"mean": np.array([0.8, np.nan]), "covariance": np.eye(2)}
    full = package.arrays | moments | {"samples": np.zeros((5, 2))}
    with pytest.raises(BadInput, match="finite"):
        audit.claim(dataclasses.replace(package, arrays=full))
    turned = full | {"mean": np.zeros(2), "rows": full["rows"][::-1]}
    with pytest.raises(BadInput, match="ascending"):
        audit.claim(dataclasses.replace(package, arrays=turned))
