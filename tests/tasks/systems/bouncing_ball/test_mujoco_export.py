"""An exported package is played by its own files alone."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.tasks.registry.packages import write_package
from ricochet.tasks.systems.bouncing_ball import contact_package, mujoco_export
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests.models.systems.bouncing_ball import test_mujoco_playback
from tests.tasks.systems.bouncing_ball.test_contact_package import draws

SCRIPT = """
import mujoco, numpy as np
from contact_player import Draws, Player
model = mujoco.MjModel.from_xml_path("scene.xml")
data, generator = mujoco.MjData(model), np.random.default_rng(0)
player = Player(model, data, Draws.load("draws.npz").sample(generator), draw=generator)
while not (bounce := player.step()):
    pass
print(bounce.time)
"""

THOUSAND = """
import mujoco, numpy as np
from contact_player import Draws, Player
model = mujoco.MjModel.from_xml_path("scene.xml")
data, generator, rows = mujoco.MjData(model), np.random.default_rng(6), []
draws = Draws.load("draws.npz")
player = Player(model, data, draws.sample(generator), draw=generator)
for _ in range(1000):
    mujoco.mj_resetData(model, data)
    data.qvel[:2] = 0.1 * generator.standard_normal(2)
    player.contact, bounces = draws.sample(generator), []
    while len(bounces) < 3:
        if bounce := player.step():
            bounces.append([bounce.time, *bounce.place, *bounce.velocity])
    rows.append(bounces)
np.save("rows.npy", rows)
"""


@pytest.fixture
def folder(package, tmp_path):
    place = tmp_path / "tennis-table"
    family = contact_package.with_contacts(package, draws())
    write_package(place / "package", family, reader=GRID)
    return place


def test_the_exported_files_play_alone(folder, tmp_path, capsys):
    out = tmp_path / "out"
    words = ["export", str(folder), "--to", "mujoco", "--out", str(out)]
    assert cli.main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"next: cat {out}/README.txt"
    assert json.loads((out / "result.json").read_text())["files"] == list(mujoco_export.FILES)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=out,
        capture_output=True,
        text=True,
        check=True,
        env=plain(),
    )
    # 0.26 m in air of at most 0.01 / m: k h / 6 = 0.05 % late
    assert float(done.stdout) == pytest.approx(np.sqrt(2.0 * 0.26 / 9.81), rel=1e-3)


def plain():
    """Return the environment of a user, who takes modules of the current folder."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}


@pytest.mark.proof
def test_a_thousand_balls_of_the_files_give_the_posterior_predictive_back(package, tmp_path):
    """In a process of their own, which sees nothing but the exported folder."""
    draws = test_mujoco_playback.posterior(500)
    family = contact_package.with_contacts(package, draws)
    mujoco_export.export(family, "marble-glass", tmp_path)
    subprocess.run([sys.executable, "-c", THOUSAND], cwd=tmp_path, check=True, env=plain())
    test_mujoco_playback.compare(np.load(tmp_path / "rows.npy"), draws)


def test_the_draws_are_those_of_the_package(folder, tmp_path):
    cli.main(["export", str(folder / "package"), "--to", "mujoco", "--out", str(tmp_path / "out")])
    with np.load(tmp_path / "out" / "draws.npz") as found:
        for name, column in vars(draws().contact).items():
            np.testing.assert_array_equal(found[name], column.numpy())
        np.testing.assert_array_equal(found["viscoelastic"], draws().viscoelastic.numpy())


def test_a_package_of_three_bounces_is_played_too(package, tmp_path):
    samples = {"samples": np.array([[0.8, 3.0], [0.81, 3.1]])}
    paper = replace(package, arrays=package.arrays | samples)
    assert mujoco_export.export(paper, "clay-floor", tmp_path).draws == 2
    assert "not known" in (tmp_path / "README.txt").read_text()


@pytest.mark.parametrize("name", ["nowhere", "shooting-nominal"])
def test_what_cannot_be_exported_is_refused_with_exit_2(name, tmp_path, capsys):
    assert cli.main(["export", name, "--to", "mujoco", "--out", str(tmp_path)]) == 2
    assert name in capsys.readouterr().err
