"""Any MuJoCo model: a simulated cart comes back, by the command too, and faults end in a line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies import (
    infer_model,
    model_compiling,
    model_inference,
    model_packages,
    model_parameters,
    model_recordings,
    motion_inference,
    publish,
)
from ricochet.tasks.systems.rigid_bodies.kinds import MODEL
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from tests.models.systems.rigid_bodies import swings
from tests.tasks.systems.rigid_bodies import carts
from tests.tasks.systems.rigid_bodies.carts import SITES, written

QUICK = ("--set", "model.particles=8", "--set", "model.instants=[0]", "--set", "model.span=0.8")


ROD = swings.ROD.format(integrator="Euler").replace("0.001", "0.005", 1)


def called(folder: Path, *words: str, model: str = "cart.xml") -> int:
    """Run the command in a folder of its own."""
    named = ["infer", "--model", str(folder / model), *words]
    return cli.main([*named, "--out", str(folder / "out")])


def result_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "out" / "result.json").read_text())


@pytest.mark.proof
def test_a_simulated_cart_comes_back_and_its_future_too(tmp_path: Path, capsys) -> None:
    """All three intervals of 90 % hold the truth in 0.73 of such runs; the seed is fixed."""
    carts.model_in(tmp_path)
    learnt = written(tmp_path / "a.csv", carts.moved(10, 0.8))
    later = written(tmp_path / "b.csv", carts.moved(1, 1.2), SITES)
    short = written(tmp_path / "c.csv", carts.moved(2, 0.4))
    status = called(tmp_path, str(learnt), "--predict", str(later), str(short), *QUICK)
    assert status == 0
    result, shown = result_of(tmp_path), capsys.readouterr().out
    with np.load(tmp_path / "out" / "samples.npz") as arrays:
        draws = arrays["theta"]
    for place, (name, truth) in enumerate(carts.TRUTH.items()):
        low, high = np.quantile(draws[:, place], (0.05, 0.95))
        assert low < truth < high, name
        assert high - low < 0.2 * (result["high"][place] - result["low"][place]), name
    assert result["rank"] == 3
    assert result["units"] == ["kg", "N/m", "N m s"]
    assert result["joints"] == {"slide": "m", "hinge": "rad"}
    assert result["timestep"] == pytest.approx(0.005)
    assert [len(result["noise"][name]) for name in ("observation", "departure")] == [2, 4]
    assert result["prediction"][str(later)]["error"]["0.25"]["hinge"] < 0.02
    assert result["not_predicted"] == [str(short)]
    made = packages.read_package(tmp_path / "out" / "package", reader=model_packages.READER)
    assert (made.kind, [each.name for each in made.parameters]) == ("draws", list(carts.TRUTH))
    assert all((tmp_path / "out" / f"{name}.png").is_file() for name in ("posterior", "fit"))
    assert "the motion tells all parameters" in shown
    assert "b.csv: off by slide" in shown
    assert f"note: {short} is too short to predict" in shown


def recorded(frames: int, inputs: int) -> Recorded:
    draw = np.random.default_rng(0)
    return Recorded(draw.normal(size=(frames, 4)), 100.0, draw.normal(size=(frames, inputs)))


def test_each_window_has_the_controls_of_its_own_frames(tmp_path: Path) -> None:
    carts.model_in(tmp_path)
    unknown = model_parameters.read(tmp_path / "cart.yaml", swings.cart())
    problem, run = model_inference.problem(swings.cart(), unknown, 0.05), recorded(201, 1)
    shooting, _ = motion_inference.windows_of(problem, {"a": run}, 0.5, (0.0, 1.0))
    controls = shooting.simulate.controls
    assert controls.shape == (20, 5, 1)
    np.testing.assert_array_equal(controls[:10].flatten(), run.inputs[:50, 0])
    np.testing.assert_array_equal(controls[10:].flatten(), run.inputs[100:150, 0])


@pytest.fixture
def tried_once(monkeypatch) -> None:
    """Try a model in a process of its own once, not at each call of the verb."""
    tried_apart, tried = model_compiling._try_apart, set()

    def once(file: Path) -> None:
        content = (file, file.read_bytes())
        if content not in tried:
            tried_apart(file)
            tried.add(content)

    monkeypatch.setattr(model_compiling, "_try_apart", once)


def test_faults_end_in_a_line_and_leave_nothing(tmp_path: Path, capsys, tried_once) -> None:
    carts.model_in(tmp_path)
    good = written(tmp_path / "a.csv", carts.moved(0, 0.3))
    bad = written(tmp_path / "b.csv", carts.moved(0, 0.3), ("time", "slide"))
    again = written(tmp_path / "c.csv", carts.moved(0, 0.3))
    (tmp_path / "bare.xml").write_text(swings.CART)
    faults = {
        (str(bad),): "no column hinge",
        (str(good), "--predict", str(bad)): "no column hinge",
        (str(good), str(good)): "the file named twice",
        (str(good), "--predict", str(again)): "c.csv: found the motion of",
        (str(good), "--rate", "50"): "expected the 50 Hz that are stated",
        (str(good), "--parameters", str(bad)): "found str, expected names",
        (str(good), "--set", "model.window=0"): "model.window",
        (str(good), "--set", "model.smoothing=8"): "model.smoothing: found 8, expected an odd",
        (str(tmp_path / "none.csv"),): "No such file",
    }
    for words, expected in faults.items():
        assert called(tmp_path, *words) == 2
        said = capsys.readouterr().err.splitlines()
        assert expected in said[-1]
    assert called(tmp_path, str(good), model="bare.xml") == 2
    assert "bare.yaml: found no such file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_limits_that_make_steps_long_end_in_a_line(tmp_path: Path, capsys) -> None:
    carts.model_in(tmp_path)
    (tmp_path / "cart.xml").write_text(carts.late(20, 3.0))
    (tmp_path / "cart.yaml").write_text("place: {of: body cart pos x, low: -1, high: 3}")
    assert called(tmp_path, str(written(tmp_path / "a.csv", carts.moved(0, 0.3)))) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "cart.yaml: found steps of" in said
    assert "at place 3, expected narrower limits, at most 0.002 s" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.proof
def test_a_pendulum_of_one_joint_and_one_parameter_comes_back(tmp_path: Path, capsys) -> None:
    (tmp_path / "rod.xml").write_text(ROD)
    (tmp_path / "rod.yaml").write_text(
        "friction: {of: joint hinge damping, low: 1e-3, high: 1, unit: N m s, logarithmic: true}"
    )
    files = [str(swung(tmp_path / f"{seed}.csv", seed)) for seed in (0, 1)]
    few = ("--set", "model.rounds=2", "--set", "model.window=0.2", "--set", "model.span=0.4")
    words = (files[0], "--rate", "100", "--predict", files[1], *QUICK[:4], *few)
    assert called(tmp_path, *words, model="rod.xml") == 0
    result = result_of(tmp_path)
    assert result["mean"] == [pytest.approx(0.02, rel=0.1)]
    assert list(result["prediction"][files[1]]["error"]["0.25"]) == ["hinge"]
    assert all((tmp_path / "out" / f"{name}.png").is_file() for name in ("posterior", "fit"))
    assert "off by hinge" in capsys.readouterr().out


def swung(file: Path, seed: int) -> Path:
    """Write how the rod swings for a second, seen with errors of half a milliradian."""
    draw, model = np.random.default_rng(seed), mujoco.MjModel.from_xml_string(ROD)
    data, lines = mujoco.MjData(model), ["hinge"]
    data.qpos[0] = draw.uniform(0.8, 1.2)
    for _ in range(121):
        lines.append(f"{data.qpos[0] + 5e-4 * draw.normal():.6f}")
        for _ in range(2):
            mujoco.mj_step(model, data)
    file.write_text("\n".join(lines))
    return file


def test_a_control_that_was_not_recorded_is_noted_without_its_file(tmp_path: Path) -> None:
    """Read once: a pipe that stands there meanwhile would be waited for."""
    carts.model_in(tmp_path)
    unknown = model_parameters.read(tmp_path / "cart.yaml", swings.cart())
    run = replace(recorded(101, 1), unrecorded=("push",))
    read = infer_model._Read(swings.cart(), unknown, {"a.csv": recorded(101, 1)}, {"gone.csv": run})
    expected = ["gone.csv has no column push: its control is taken as 0"]
    assert infer_model._notes(read, 100.0) == expected


def test_a_joint_that_does_not_move_is_named(tmp_path: Path) -> None:
    run = recorded(101, 1)
    run.states[:, 2] = 0.0
    carts.model_in(tmp_path)
    unknown = model_parameters.read(tmp_path / "cart.yaml", swings.cart())
    problem = model_inference.problem(swings.cart(), unknown, 0.05)
    with pytest.raises(BadInput, match="slide' / \\(m/s\\) that is constant in 1 s"):
        motion_inference.windows_of(problem, {"a.csv": run}, 1.0)


def test_what_is_taken_otherwise_is_said() -> None:
    result = {
        "notes": ["a step of 0.002 s"], "parameters": ["a", "b"], "mean": [1.0, 2.0],
        "covariance": [[1.0, 0.0], [0.0, 4.0]], "rank": 1, "at_limits": ["a low"],
        "misfit": ["x"], "joints": {"j": "rad"}, "not_predicted": [],
        "prediction": {name: {"error": {"0.25": {"j": 0.1}}, "coverage_90": {"0.25": 1.0}}
                       for name in ("f/a.csv", "b.csv")},
        "prediction_together": {"error": {"0.25": {"j": 0.2}}, "coverage_90": {"0.25": 0.5}},
    }  # fmt: skip
    lines = infer_model.lines(result)
    assert lines[0] == "note: a step of 0.002 s"
    assert "the motion tells 1 of 2 directions; of the other 1 only the limits are known" in lines
    assert "a.csv: off by j 0.1 rad after 0.25 s; 90 % intervals hold 1.00" in lines
    assert lines[-1] == "all of them: off by j 0.2 rad after 0.25 s; 90 % intervals hold 0.50"


def package() -> packages.Package:
    draw = np.random.default_rng(0)
    samples = draw.normal(size=(50, 2))
    arrays = {
        "samples": samples, "observation": np.ones((50, 4)), "departure": np.ones((50, 4)),
        "mean": samples.mean(0), "covariance": np.cov(samples.T),
    }  # fmt: skip
    parameters = tuple(Parameter(name, "kg", -9.0, 9.0) for name in ("a", "b"))
    inputs = model_packages.inputs()
    return packages.Package(
        kind="draws",
        name="model-cart",
        parameters=parameters,
        arrays=arrays,
        inputs=inputs,
        checks={},
        data_digest="0" * 64,
        git_commit="0" * 40,
    )


BROKEN = {
    "a mean of others": {"mean": np.zeros(2)},
    "draws that are none": {"samples": np.full((50, 2), np.nan)},
    "too few": {"samples": np.zeros((5, 2))},
    "noise of nothing": {"observation": np.zeros((50, 4))},
    "noise of others": {"departure": np.ones((49, 4))},
    "more observed than there is": {"observation": np.ones((50, 5))},
    "single precision": {"samples": np.ones((50, 2), dtype=np.float32)},
    "a row": {"samples": np.ones(50)},
}


@pytest.mark.parametrize("values", BROKEN.values(), ids=BROKEN)
def test_arrays_that_are_no_posterior_are_refused(values: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError):
        model_packages.evaluate({**package().arrays, **values}, model_packages.inputs())


def test_a_posterior_is_registered_once_under_a_name_of_its_kind(
    tracker,
    tmp_path: Path,
) -> None:
    packages.write_package(tmp_path / "package", package(), reader=model_packages.READER)
    (tmp_path / "posterior.png").write_bytes(b"picture")
    result = {
        "files": {"a.csv": 3}, "rate": 100.0, "span": 1.0, "pieces": 1, "particles": 8,
        "fit_rmse": 0.1, "starts_at_best": 1.0, "mixing": 1.0, "rank": 2,
        "prediction_together": {"error": {"0.25": {"j": 0.2}}, "coverage_90": {"0.25": 0.5}},
    }  # fmt: skip
    first, again = (
        publish.publish_posterior(tracker, "model-cart", tmp_path, result, kind=MODEL)
        for _ in range(2)
    )
    assert first == again
    assert first.result == {"registered": {"name": "model-cart", "version": "1"}}
    assert tracker.client.get_run(first.run_id).data.metrics["coverage_90_0.25"] == 0.5
    assert catalogue.kind_of("model-cart") is MODEL
    with pytest.raises(BadInput, match="small letters, digits and hyphens"):
        MODEL.refuse("model-A")


@pytest.mark.parametrize(
    ("bits", "rate", "seconds"), [(10, 100, 20.0), (10, 400, 10.0), (14, 100, 5.0)]
)
def test_two_swings_of_one_hinge_by_a_coarse_encoder_are_two_motions(
    tmp_path: Path, bits: int, rate: int, seconds: float
) -> None:
    """Without noise, so that the second passes where the first one did, a little later."""
    text = (
        '<mujoco><option timestep="0.0005"/><worldbody><body><joint name="h" type="hinge" '
        'axis="0 1 0" damping="0.002"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".01" '
        'mass=".3"/></body></worldbody></mujoco>'
    )
    model, step = mujoco.MjModel.from_xml_string(text), 2 * np.pi / 2**bits
    data, files = mujoco.MjData(model), []
    for begin in (0.5, 0.47):
        mujoco.mj_resetData(model, data)
        data.qpos[0], rows = begin, ["time,h"]
        for frame in range(round(seconds * rate)):
            rows.append(f"{frame / rate},{round(data.qpos[0] / step) * step:.6f}")
            for _ in range(2000 // rate):
                mujoco.mj_step(model, data)
        files.append(tmp_path / f"{begin}.csv")
        files[-1].write_text("\n".join(rows))
    runs = [model_recordings.read(file, model) for file in files]
    assert len(motion_inference.of_files([str(file) for file in files], runs)) == 2
