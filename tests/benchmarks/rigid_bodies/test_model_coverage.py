"""The benchmark of intervals of a MuJoCo model's numbers: its recordings, and its lines."""

from pathlib import Path

import mujoco
import numpy as np

from benchmarks.rigid_bodies import model_coverage
from benchmarks.rigid_bodies.model_coverage import Job, Outcome
from ricochet.tasks.systems.rigid_bodies import model_parameters, model_recordings


def test_recordings_are_of_carts_within_the_limits_and_the_same_again(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(model_coverage.CART)
    (tmp_path / "cart.yaml").write_text(model_coverage.PARAMETERS)
    unknown = model_parameters.read(tmp_path / "cart.yaml", model)
    found = []
    for name in ("a.csv", "b.csv"):
        theta = model_coverage.recorded(tmp_path / name, model, unknown, Job(3, 8, 20, 5e-4))
        found.append((theta, (tmp_path / name).read_text()))
    assert found[0][1] == found[1][1] and (found[0][0] == found[1][0]).all()
    assert (found[0][0] >= unknown.limits.low.numpy()).all()
    assert (found[0][0] <= unknown.limits.high.numpy()).all()
    run = model_recordings.read(tmp_path / "a.csv", model)
    assert run.states.shape == (81, 4) and np.isfinite(run.states).all()
    assert np.abs(run.inputs).max() > 2.0


def test_lines_count_intervals_that_hold_the_truth() -> None:
    shares = np.linspace(0.005, 0.995, 100)
    even = [Outcome(share, [share] * 3, [0.1] * 3, 1.05, 2.0) for share in shares]
    lines = model_coverage.lines(even)
    assert lines[1] == "90 % regions of all three hold the truth: 0.90"
    assert lines[2].endswith("friction: 0.90 0.90 0.90")
