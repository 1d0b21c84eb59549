"""The filmed pendulum as it is studied: rolled out, compared, and refused where it is not there."""

from pathlib import Path

import numpy as np
import pytest
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import double_pendulum
from ricochet.tasks.systems.rigid_bodies.studies import filmed_pendulum, real_search
from ricochet.tasks.systems.rigid_bodies.studies.filmed_pendulum import RATE, STEPS, WINDOWS, Film

RODS = real_search.RODS


@pytest.fixture(scope="module")
def film() -> Film:
    return real_search.simulated()


def near_rods(count: int, by: float) -> np.ndarray:
    return RODS * (1.0 + by * np.random.default_rng(0).normal(size=(count, len(RODS))))


def test_rolled_out_in_parts_a_motion_is_the_whole_one(film: Film) -> None:
    starts, theta = film.tests[:3, 0], near_rods(2, 0.01)
    for place, each in enumerate(theta):
        whole = double_pendulum.roll_out(
            torch.from_numpy(each), torch.from_numpy(starts), steps=STEPS, duration=1.0 / RATE
        )
        mine = filmed_pendulum.rolled(theta, starts)[place]
        np.testing.assert_allclose(mine, whole.numpy(), rtol=1e-9)


def test_departures_displace_the_starts_of_windows_by_their_deviations(film: Film) -> None:
    """Frictionless rods that no gravity moves: nothing else happens between two windows."""
    theta = np.repeat(RODS[None], 2000, 0)
    theta[:, [4, 10]] = 0.0
    theta[:, [2, 8]] = 0.0  # centres in the joints, and a long second link hangs at its end
    rest = np.zeros((1, 4))
    wide = np.tile((0.01, 0.02, 0.0, 0.0), (2000, 1))
    moved = filmed_pendulum.rolled(theta, rest, wide)[:, 0]
    width = STEPS // WINDOWS["ms"]
    np.testing.assert_array_equal(moved[:, :width], 0.0)
    first = moved[:, width, :2].std(0)
    np.testing.assert_allclose(first, (0.01, 0.02), rtol=5.0 / np.sqrt(2 * 2000))
    np.testing.assert_array_equal(filmed_pendulum.rolled(theta, rest, 0.0 * wide), 0.0)


def test_particles_nearer_to_the_pendulum_are_nearer_in_every_metric(film: Film) -> None:
    near, far = (film.judge.numbers(near_rods(40, by)) for by in (0.003, 0.1))
    for metric in ("kl_real_sim", "mmd2", "energy_score", "spread"):
        assert near[metric] < far[metric]
    assert film.misses(near_rods(40, 0.003)).mean() < film.misses(near_rods(40, 0.1)).mean()


def test_a_single_guess_repeated_is_infinitely_far_and_the_order_of_particles_is_nothing(
    film: Film,
) -> None:
    assert film.judge.numbers(np.repeat(RODS[None], 5, 0))["kl_sim_real"] is None
    some = near_rods(10, 0.01)
    one, other = film.judge.numbers(some), film.judge.numbers(some[::-1].copy())
    assert {name: pytest.approx(value) for name, value in one.items()} == other


def test_particles_without_a_motion_are_left_out_and_counted(film: Film) -> None:
    broken = near_rods(10, 0.01)
    broken[7:, 1] = np.nan
    assert film.judge.numbers(broken)["unstable"] == pytest.approx(0.3)
    kept = film.judge.numbers(broken[:7])
    assert film.judge.numbers(broken)["energy_score"] == pytest.approx(kept["energy_score"])
    broken[7:] = RODS
    broken[7:, 4] = -60.0  # friction that drives: finite, and far beyond all measure
    assert film.judge.numbers(broken)["unstable"] == pytest.approx(0.3)
    assert film.judge.numbers(broken)["energy_score"] == pytest.approx(kept["energy_score"])
    none = film.judge.numbers(np.full((10, 11), np.nan))
    assert none["unstable"] == 1.0
    assert none["energy_score"] is None
    assert film.misses(broken)[-1] == np.inf


def test_a_folder_without_the_film_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"pendulum\.films: found .* without 0\.csv, expected the"):
        filmed_pendulum.read(tmp_path)
    (tmp_path / "0.csv").write_text("angle_1,angle_2\n" + "0,0\n0.1,0\n" * 100)
    with pytest.raises(BadInput, match=r"0\.csv: found 200 frames, expected more than 400"):
        filmed_pendulum.recordings(tmp_path, (0,))
    (tmp_path / "0.csv").write_text("angle_1,angle_2\n" + "0,0\n0.1,0\n" * 300)
    with pytest.raises(BadInput, match=r"1\.csv: found No such file"):
        filmed_pendulum.read(tmp_path)
