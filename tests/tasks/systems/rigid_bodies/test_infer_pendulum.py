"""Recordings to posteriors: simulated ones come back, broken ones are named, files are read."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import signal

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import no_progress
from ricochet.models.inference.identifiability import Identifiability
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.stein_newton import Posterior
from ricochet.models.systems.rigid_bodies import double_pendulum, pendulum_parameters
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import InferenceRequest
from ricochet.tasks.systems.rigid_bodies import (
    infer_pendulum,
    motion_files,
    motion_inference,
    pendulum_inference,
    pendulum_predictions,
    predicted_motions,
)
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum

TRUTH = (0.35, 1e-3, 0.1, 0.002, 1e-4, 0.145, 0.35, 7e-4, 0.028, 0.0, 2e-4)
RATE = 400.0
PIXELS = 4000.0
NOISE = 5e-4
PENDULUM = pendulum_inference.problem()


def angles(seed: int, seconds: float = 0.8, truth: tuple[float, ...] = TRUTH) -> np.ndarray:
    """Of a motion that begins somewhere, seen with errors of half a milliradian."""
    draw = np.random.default_rng(seed)
    start = torch.tensor([draw.uniform(-2.0, 2.0), draw.uniform(-2.0, 2.0), 2.0, -5.0]).double()
    theta, steps = torch.tensor(truth).double(), round(seconds * RATE)
    move = partial(double_pendulum.roll_out, steps=steps, duration=1.0 / RATE, substeps=4)
    whole = torch.cat((start[None], move(theta, start))).numpy()[:, :2]
    return whole + NOISE * draw.normal(size=whole.shape)


def markers(found: np.ndarray) -> np.ndarray:
    """Places in pixels of a film, gravity along the first of each pair."""
    one, two = found[:, 0], found.sum(1)
    elbow = 800.0 + 0.145 * PIXELS * np.stack((np.cos(one), np.sin(one)), 1)
    tip = elbow + 0.11 * PIXELS * np.stack((np.cos(two), np.sin(two)), 1)
    return np.hstack((np.full_like(elbow, 800.0), elbow, tip))


def written(file: Path, rows: np.ndarray, names: tuple[str, ...]) -> Path:
    lines = [",".join(names), *(",".join(f"{x:.9g}" for x in row) for row in rows)]
    file.write_text("\n".join(lines))
    return file


def result_of(out: Path, files: list[Path], predicted: list[Path] | None = None) -> dict[str, Any]:
    settings = catalogue.load_settings().changed(Pendulum, particles=16)
    given = tuple(predicted or ())
    return infer_pendulum.run(
        InferenceRequest(tuple(files), RATE, given, settings, out, 0, no_progress)
    )


@pytest.mark.proof
def test_a_simulated_pendulum_comes_back_and_its_future_too(tmp_path: Path) -> None:
    learnt = written(tmp_path / "a.csv", markers(angles(0)), motion_files.MARKERS)
    later = written(tmp_path / "b.csv", angles(1), motion_files.ANGLES)
    short = written(tmp_path / "c.csv", angles(2, 0.3), motion_files.ANGLES)
    result = result_of(tmp_path, [learnt], [later, short])
    assert json.loads(json.dumps(result)) == result
    assert result["rank"] == 8
    assert result["starts_at_best"] >= 0.8
    assert not [line for line in result["misfit"] if "mixed" not in line]
    with np.load(tmp_path / "samples.npz") as arrays:
        draws = torch.from_numpy(arrays["theta"])
    told = pendulum_parameters.identified(draws)[0]
    truth = pendulum_parameters.identified(torch.tensor(TRUTH).double())[0]
    assert float(((told.mean(0) - truth) / told.std(0)).abs().max()) < 4.0
    np.testing.assert_allclose(result["mean"], draws.mean(0), rtol=1e-9)
    ahead = result["prediction"][str(later)]
    assert ahead["angle_deg"]["0.25"] < 2.0
    assert result["not_predicted"] == [str(short)]
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["rank"] == 8.0 and metrics["length_mean"] == result["mean"][5]
    assert metrics["angle_deg_0.25"] == ahead["angle_deg"]["0.25"]
    assert all((tmp_path / f"{name}.png").is_file() for name in ("posterior", "fit"))
    lines = infer_pendulum.lines(result)
    assert any(line.strip().startswith("mass_1") for line in lines)
    assert "the motion tells 8 of 11 directions; of the other 3 only the limits are known" in lines
    assert lines[-1] == f"note: {short} is too short to predict"


BROKEN: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gravity along the other axis": lambda found: found + np.array((np.pi / 2.0, 0.0)),
    "angles of link 2 from straight down": lambda found: np.stack((found[:, 0], found.sum(1)), 1),
    "a hand pulls it half-way": lambda found: (
        found + 0.3 * np.clip(np.linspace(-1.0, 1.0, len(found)), 0.0, None)[:, None] ** 2
    ),
}


@pytest.mark.proof
@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_what_the_equations_do_not_hold_for_is_said(tmp_path: Path, change) -> None:
    file = written(tmp_path / "a.csv", change(angles(0)), motion_files.ANGLES)
    misfit = result_of(tmp_path, [file])["misfit"]
    assert any("do not hold" in line or "misses by" in line for line in misfit)


def recorded(seconds: float, rate: float = RATE) -> Recorded:
    states = np.random.default_rng(0).normal(size=(round(seconds * rate) + 1, 4))
    return Recorded(states, rate)


def test_windows_are_of_the_shortest_recording_and_cover_the_span() -> None:
    runs = {"a": recorded(3.0), "b": recorded(0.62)}
    shooting, rate = motion_inference.windows_of(PENDULUM, runs, 1.0)
    assert (shooting.windows, shooting.steps, rate) == (12, 20, RATE)
    assert shooting.observed.shape == (2, 241, 4)
    shooting, _ = motion_inference.windows_of(PENDULUM, {"a": runs["a"]}, 1.0)
    assert shooting.windows == 20


def test_pieces_begin_at_the_instants_that_a_recording_holds() -> None:
    runs = {"a": recorded(3.0), "b": recorded(1.2)}
    shooting, _ = motion_inference.windows_of(PENDULUM, runs, 1.0, (2.0, 0.1))
    begins = [(runs["a"], 40), (runs["a"], 800), (runs["b"], 40)]
    expected = np.stack([run.states[begin : begin + 401] for run, begin in begins])
    np.testing.assert_array_equal(shooting.observed.numpy(), expected)
    turned = {
        **runs,
        "a": Recorded(runs["a"].states + np.linspace(0.0, 900.0, 1201)[:, None], RATE),
    }
    far, _ = motion_inference.windows_of(PENDULUM, turned, 1.0, (2.0, 0.1))
    assert float(far.scale.max()) < 0.5 * 900.0 / 3.0  # not the turns between the pieces
    with pytest.raises(BadInput, match="found 481 frames at 400 Hz, expected at least 641"):
        motion_inference.windows_of(PENDULUM, runs, 1.0, (1.5,))


def test_recordings_that_do_not_go_together_are_refused() -> None:
    two = {"a.csv": recorded(1.0), "b.csv": recorded(1.0, 200.0)}
    with pytest.raises(BadInput, match=r"b\.csv: found a rate of 200 Hz, expected the 400 Hz of a"):
        motion_inference.windows_of(PENDULUM, two, 1.0)
    with pytest.raises(BadInput, match="found 33 frames at 400 Hz, expected at least 41"):
        motion_inference.windows_of(PENDULUM, {"a.csv": recorded(0.08)}, 1.0)
    still = Recorded(np.zeros((401, 4)), RATE)
    with pytest.raises(BadInput, match="nothing that moves in 1 s"):
        motion_inference.windows_of(PENDULUM, {"a.csv": still}, 1.0)
    with pytest.raises(BadInput, match="the file named twice"):
        motion_inference.of_files(["a", "a"], [still, still])
    with pytest.raises(BadInput, match=r"b: found the motion of a, expected each recording once"):
        motion_inference.of_files(["a", "b"], [still, Recorded(np.zeros((401, 4)), RATE)])


def test_a_motion_counts_once_whole_or_cut() -> None:
    whole, start = recorded(3.0), 300
    other = Recorded(whole.states[::-1] + 0.1, RATE)
    other.states[:500] = whole.states[:500]  # as two motions from one rest begin
    assert len(motion_inference.of_files(["a", "b"], [whole, other])) == 2
    other.states[:1000] = whole.states[:1000]
    assert len(motion_inference.of_files(["a", "b"], [whole, other])) == 2
    cut = Recorded(whole.states[start:900], RATE)
    rounded = Recorded(whole.states.astype(np.float32).astype(np.float64), RATE)
    for one, two in ((whole, cut), (cut, whole), (whole, rounded)):
        with pytest.raises(BadInput, match="b: found the motion of a"):
            motion_inference.of_files(["a", "b"], [one, two])


def test_a_motion_counts_once_smoothed_turned_or_as_markers(tmp_path: Path) -> None:
    """A copy of a film and two films of one motion, as they are read."""
    film = angles(0, 2.0)
    smooth = signal.savgol_filter(film, 7, 3, axis=0)
    copies = {
        "smooth": (smooth, motion_files.ANGLES),
        "turned": (film + np.array((2.0 * np.pi, 0.0)), motion_files.ANGLES),
        "markers": (markers(film), motion_files.MARKERS),
    }
    noise = NOISE * np.random.default_rng(9).normal(size=film.shape)
    others = {"film": (film, motion_files.ANGLES), "again": (smooth + noise, motion_files.ANGLES)}
    runs = {
        name: motion_files.read(written(tmp_path / f"{name}.csv", *each), RATE)
        for name, each in (copies | others).items()
    }
    for name in copies:
        with pytest.raises(BadInput, match=f"{name}: found the motion of film"):
            motion_inference.of_files(["film", name], [runs["film"], runs[name]])
    own = ["film", "again"]
    assert len(motion_inference.of_files(own, [runs[name] for name in own])) == 2


def test_files_are_read_before_anything_is_computed(tmp_path: Path) -> None:
    good = written(tmp_path / "a.csv", angles(0), motion_files.ANGLES)
    with pytest.raises(BadInput, match=r"none\.csv: found No such file"):
        result_of(tmp_path / "out", [good], [tmp_path / "none.csv"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("rate", [60.0, 2000.0])
def test_films_by_which_no_controller_can_decide_are_refused_first(
    tmp_path: Path, rate: float
) -> None:
    file = written(tmp_path / "a.csv", angles(0), motion_files.ANGLES)
    request = InferenceRequest(
        (file,), rate, (), catalogue.load_settings(), tmp_path / "out", 0, no_progress
    )
    with pytest.raises(BadInput, match=rf"a\.csv: found a film of {rate:g} Hz, expected 110 to"):
        infer_pendulum.run(request)
    assert not (tmp_path / "out").exists()


def test_predictions_of_all_places_are_counted_together() -> None:
    one = predicted_motions.Prediction(np.full((2, 2, 2), 0.1), np.ones((2, 2, 2)))
    two = predicted_motions.Prediction(np.full((1, 2, 2), 0.3), np.zeros((1, 2, 2)))
    said = pendulum_predictions.together([one, two])
    assert said is not None
    assert said["places"] == 3
    assert said["angle_deg"]["0.25"] == pytest.approx(np.degrees(0.1))
    assert said["coverage_90"]["0.5"] == pytest.approx(2.0 / 3.0)


@pytest.mark.parametrize(
    ("rate", "seen"),
    [
        (30.0, None),  # of a slow camera
        pytest.param(50.0, None, marks=pytest.mark.proof),
        pytest.param(120.0, None, marks=pytest.mark.proof),
        (400.0, None),  # of a fast one
        (400.0, 2),  # of which angles alone are seen
    ],
)
def test_motions_of_any_rate_are_predicted_to_their_last_frame(
    rate: float, seen: int | None
) -> None:
    """A posterior of the truth alone, and a motion that is as long as it must be, or too short."""
    theta = torch.tensor(TRUTH).double().expand(2, 4, 11)
    small = torch.full((2, 4, 4), 1e-4).double()
    starts, sigma = small[0, :, None, None], small[..., :seen]
    posterior = Posterior(theta, starts, sigma, small, small[0, :, 0], 1.0, small[0, 0], 0.5)
    frames = predicted_motions.WATCHED * PENDULUM.frames(rate) + round(0.5 * rate) + 1
    start = torch.tensor([1.0, 0.5, 0.0, 0.0]).double()
    substeps = pendulum_inference.substeps_of(rate)
    move = partial(double_pendulum.roll_out, duration=1.0 / rate, substeps=substeps)
    states = torch.cat((start[None], move(theta[0, 0], start, steps=frames - 1)))
    none = torch.empty(1, 1, 0).double()
    simulate, ones = PENDULUM.simulator(rate, none), torch.ones(4).double()
    shooting = Shooting(simulate, states[None], 1, ones, seen)
    known = Identifiability(8, [], [])
    inferred = motion_inference.Inferred(PENDULUM, posterior, shooting, known, rate)
    runs = {"a": Recorded(states.numpy(), rate), "b": Recorded(states[:-1].numpy(), rate)}
    found = predicted_motions.predict(inferred, runs, np.random.default_rng(0))
    assert list(found) == ["a"]
    assert found["a"].errors.max() < 1e-2
