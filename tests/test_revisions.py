"""DVC compares what the stages gave at different settings: experiments, and revisions in Git."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkouts import copy, python_path, tracked

SMALL = ["density.simulations=600", "density.hidden=16", "density.components=2", "density.trials=0"]


def run(root: Path, *words: str) -> str:
    """Run a command in the checkout with its own `ricochet` on the path."""
    settings = {"PYTHONPATH": python_path(root), "RICOCHET_ARTIFACTS": str(root / "artifacts")}
    settings |= {"PATH": f"{root.parent / 'bin'}:{os.environ['PATH']}", "DVC_NO_ANALYTICS": "1"}
    settings |= {f"GIT_{role}_{key}": f"{key}@example.org" for role in ("AUTHOR", "COMMITTER")
                 for key in ("NAME", "EMAIL")}  # fmt: skip
    done = subprocess.run(
        words, cwd=root, env=os.environ | settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def dvc(root: Path, *words: str) -> str:
    return run(root, sys.executable, "-m", "dvc", *words)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What Git tracks, committed to a repository of its own, and its command."""
    root, command = tmp_path / "checkout", tmp_path / "bin" / "ricochet"
    root.mkdir()
    copy(tracked(), root)
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ricochet.flows.cli "$@"\n')
    command.chmod(0o755)
    run(root, "git", "init", "-q")
    run(root, "git", "add", "-A")
    run(root, "git", "commit", "-q", "-m", "All")
    return root


@pytest.mark.proof
@pytest.mark.slow
def test_two_settings_are_two_experiments_whose_numbers_compare(checkout: Path) -> None:
    given = [word for setting in SMALL for word in ("-S", setting)]
    found = {}
    for epochs in (1, 3):
        words = ["-q", "-n", f"epochs-{epochs}", *given, "-S", f"density.epochs={epochs}"]
        dvc(checkout, "exp", "run", *words, "density")
        found[epochs] = json.loads((checkout / "metrics" / "density.json").read_text())[
            "held_out_nats"
        ]
    assert found[1] != found[3]
    changed = json.loads(dvc(checkout, "metrics", "diff", "--json", "epochs-1", "epochs-3"))
    row = changed["metrics/density.json"]["held_out_nats"]
    assert (row["old"], row["new"]) == (found[1], found[3])
    shown = dvc(checkout, "exp", "show", "--csv", "--only-changed")
    assert "epochs-1" in shown and "epochs-3" in shown and str(found[1]) in shown


@pytest.mark.proof
def test_an_experiment_in_a_copy_leaves_the_checkout_as_it_is(checkout: Path) -> None:
    """One epoch of a small network is far from the network of HEAD, if its settings are used."""
    given = [word for setting in (*SMALL, "density.epochs=1") for word in ("-S", setting)]
    dvc(checkout, "exp", "run", "-q", "--temp", "-n", "aside", *given, "density")
    assert run(checkout, "git", "status", "--short") == ""
    changed = json.loads(dvc(checkout, "metrics", "diff", "--json", "HEAD", "aside"))
    assert changed["metrics/density.json"]["held_out_nats"]["diff"] > 0.5


def test_the_numbers_of_all_stages_are_in_git() -> None:
    """Metrics that lie elsewhere are lost to whoever clones; a sample alone has none."""
    import yaml

    from tests.checkouts import ROOT

    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())
    names = {name for name in tracked() if name.startswith("metrics/")}
    expected = set()
    for stage in stages["stages"].values():
        for metric in stage.get("do", stage).get("metrics", ()):
            ((path, options),) = metric.items()
            assert options == {"cache": False}
            items = stages["vars"][0]["sample"] if "foreach" in stage else [""]
            expected |= {path.replace("${item}", item) for item in items}
    assert names == expected
    assert all(json.loads((ROOT / name).read_text()) for name in names)
