"""Packages of particles: read as written, by numpy alone, and refused where they mean nothing."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies.disc_crossing import INTERVALS, Crossing
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS, UNITS
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies import particle_packages, publish
from ricochet.tasks.systems.rigid_bodies.kinds import PENDULUM
from ricochet.tasks.systems.rigid_bodies.particle_packages import READER
from tests.models.systems.rigid_bodies import rods

RESULT = {
    "files": {"a.csv": 500},
    "rate": 400.0,
    "span": 1.0,
    "pieces": 3,
    "particles": 20,
    "fit_rmse": 0.02,
    "starts_at_best": 1.0,
    "mixing": 1.1,
    "rank": 8,
    "prediction_together": {"angle_deg": {"0.25": 1.0}, "coverage_90": {"0.25": 0.9}},
}


def package(**changed: np.ndarray) -> Package:
    draws = rods.draws(20)
    bounds = zip(PARAMETERS, UNITS, np.minimum(LOW, 1e-6), HIGH, strict=True)
    parameters = tuple(Parameter(n, u, float(low), float(high)) for n, u, low, high in bounds)
    either = particle_packages.OF_EITHER_SIGN
    low = tuple(replace(p, low=-1.0) if p.name in either else p for p in parameters)
    return Package(
        kind=particle_packages.KIND,
        name="pendulum-lab",
        parameters=low,
        arrays=particle_packages.arrays_of(draws) | changed,
        inputs=particle_packages.watched(draws),
        checks={"rank": 8, "at_limits": []},
        data_digest="0" * 64,
        git_commit="unknown",
    )


def test_draws_come_back_as_they_were_and_the_controller_decides_alike(tmp_path: Path) -> None:
    packages.write_package(tmp_path / "package", package(), reader=READER)
    found, made = particle_packages.read(tmp_path / "package"), rods.draws(20)
    for name, value in vars(made).items():
        np.testing.assert_array_equal(getattr(found, name), value)
    angles = np.linspace((1.0, 0.5), (1.2, 0.4), 41)
    one, other = (Crossing(each).decide(angles, np.random.default_rng(0)) for each in (made, found))
    assert one == other


def changed(name: str, place: tuple, value: float) -> dict[str, np.ndarray]:
    array = package().arrays[name].copy()
    array[place] = value
    return {name: array}


HOSTILE = {
    "a parameter is no number": changed("samples", (3, 2), np.nan),
    "no draw": {"samples": np.zeros((0, 11))},
    "too few draws": {name: package().arrays[name][:4] for name in
                      ("samples", "observation", "departure")},
    "draws of another pendulum": {"samples": np.ones((20, 7))},
    "single precision": {"samples": package().arrays["samples"].astype(np.float32)},
    "an observation without noise": changed("observation", (0, 0), 0.0),
    "a negative departure": changed("departure", (1, 1), -1e-3),
    "departures of other draws": {"departure": np.ones((19, 4))},
    "a clock that stands": changed("clock", (0,), 0.0),
    "half a window": changed("clock", (1,), 20.5),
    "a million steps a frame": changed("clock", (2,), 1e6),
    "a film too slow to decide by": changed("clock", (0,), 60.0),
    "a step as long as a frame": changed("clock", (2,), 1.0),
    "a day of computing a second": {"clock": np.array((1e5, 1.0, 100.0))},
    "a film of 100 kHz": {"clock": np.array((1e5, 1.0, 1.0))},
    "a film that is too fast": {"clock": np.array((1101.0, 55.0, 2.0))},
    "more steps than an answer in time has": {"clock": np.array((1100.0, 1.0, 4.0))},
    "a window of more than a second": {"clock": np.array((400.0, 1001.0, 4.0))},
    "states that are anywhere": changed("departure", slice(None), 1e6),
    "angles that are anywhere": changed("observation", (2, 1), 20.0),
    "no clock": {"clock": np.zeros(2)},
    "another mean": changed("mean", (0,), -3.0),
    "a covariance of others": changed("covariance", (0, 0), 9.0),
}  # fmt: skip


@pytest.mark.parametrize("arrays", HOSTILE.values(), ids=HOSTILE)
def test_arrays_that_mean_nothing_are_refused_in_one_line(tmp_path: Path, arrays) -> None:
    with pytest.raises(BadInput) as caught:
        particle_packages.draws_of(package(**arrays))
    assert "\n" not in str(caught.value)
    with pytest.raises((BadInput, ValueError)):
        packages.write_package(tmp_path / "package", package(**arrays), reader=READER)
    assert not (tmp_path / "package").exists()


@pytest.mark.parametrize(
    "clock", [(110.0, 1.0, 10.0), (110.0, 1000.0, 36.0), (1100.0, 1.0, 3.0), (1100.0, 1000.0, 1.0)]
)
def test_clocks_at_their_bounds_are_read_and_decided_by(tmp_path: Path, clock) -> None:
    rate, window, substeps = clock
    own = replace(rods.draws(20), rate=rate, window=int(window), substeps=int(substeps))
    made = replace(package(clock=np.array(clock)), inputs=particle_packages.watched(own))
    packages.write_package(tmp_path / "package", made, reader=READER)
    crossing = Crossing(particle_packages.read(tmp_path / "package"), INTERVALS["long"])
    assert crossing.frames <= 111
    hangs = np.full((crossing.frames, 2), 1e-3)
    assert crossing.decide(hangs, np.random.default_rng(0)).chance < 0.5


def test_the_package_of_another_camera_is_refused(tmp_path: Path) -> None:
    packages.write_package(tmp_path / "package", package(), reader=READER)
    for rate in (110.0, 390.0, 410.0):
        with pytest.raises(BadInput, match=f"clock: found a film of 400 Hz, expected {rate:g} Hz"):
            particle_packages.read(tmp_path / "package", rate=rate)
    assert particle_packages.read(tmp_path / "package", rate=399.0).rate == 400.0


def test_draws_beyond_the_limits_of_the_manifest_and_other_kinds_are_refused() -> None:
    made = package()
    narrow = tuple(replace(each, high=each.low + 1e-9) for each in made.parameters)
    with pytest.raises(BadInput, match="draws outside the limits"):
        particle_packages.draws_of(replace(made, parameters=narrow))
    with pytest.raises(BadInput, match="draws outside the limits"):
        particle_packages.draws_of(replace(made, parameters=made.parameters[:5]))
    with pytest.raises(BadInput, match="kind 'grid'"):
        particle_packages.draws_of(replace(made, kind="grid"))


def test_a_list_shows_the_length_and_the_fit() -> None:
    made = package()
    length, fit = particle_packages.describe(replace(made, checks={"fit_rmse": 0.02}))
    assert (length.name, length.unit, fit.mean) == ("length", "m", 0.02)
    assert length.mean == pytest.approx(made.arrays["samples"][:, 5].mean())
    assert particle_packages.describe(made) == (length,)


def test_names_are_of_this_kind_alone_and_bad_ones_are_refused() -> None:
    assert catalogue.kind_of("pendulum-lab") is PENDULUM
    for name in ("pendulum-", "pendulum-A", "pendulum-a/b", "pendulum-" + "a" * 60, "pendulum--"):
        with pytest.raises(BadInput, match="small letters, digits and hyphens"):
            PENDULUM.refuse(name)
    PENDULUM.refuse("pendulum-lab-2")


def test_reading_needs_numpy_and_safetensors_alone(tmp_path: Path) -> None:
    packages.write_package(tmp_path / "package", package(), reader=READER)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ricochet.tasks.systems.rigid_bodies import particle_packages\n"
        "from ricochet.models.systems.rigid_bodies.disc_crossing import Crossing\n"
        f"Crossing(particle_packages.read(Path({str(tmp_path / 'package')!r})))\n"
        "print([each for each in ('torch', 'scipy', 'mlflow', 'prefect') if each in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_posterior_is_registered_once_and_comes_back(tracker, tmp_path: Path) -> None:
    packages.write_package(tmp_path / "package", package(), reader=READER)
    (tmp_path / "posterior.png").write_bytes(b"picture")
    first, again = (
        publish.publish_posterior(tracker, "pendulum-lab", tmp_path, RESULT, kind=PENDULUM)
        for _ in range(2)
    )
    assert first == again
    assert first.result == {"registered": {"name": "pendulum-lab", "version": "1"}}
    run = tracker.client.get_run(first.run_id)
    assert run.data.metrics["angle_deg_0.25"] == 1.0
    assert run.data.params["pieces"] == "3"
    said = tracker.client.get_model_version("pendulum-lab", "1").description
    assert "length" in said
