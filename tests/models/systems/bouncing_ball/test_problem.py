"""Features of a drop: closed forms, symmetries, noise."""

import math

import torch

from ricochet.models.systems.bouncing_ball import problem, simulator
from ricochet.models.systems.bouncing_ball.problem import Noise


def places(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def test_features_of_a_drop_worked_by_hand() -> None:
    times = torch.tensor([0.2, 0.5, 0.74], dtype=torch.float64)
    found = problem.features(times, places([[0.0, 0.0], [0.3, 0.0], [0.3, 0.4]]))
    assert math.isclose(found.ratio, 0.8, rel_tol=1e-12)
    assert math.isclose(found.first_distance, 0.3, rel_tol=1e-12)
    assert math.isclose(found.second_distance, 0.4, rel_tol=1e-12)
    assert math.isclose(found.turn, math.pi / 2, rel_tol=1e-12)


def test_features_do_not_change_with_shift_rotation_or_clock_and_mirror_flips_the_turn() -> None:
    draw = torch.Generator().manual_seed(1)
    times = torch.rand((20, 3), generator=draw, dtype=torch.float64).cumsum(-1)
    spots = torch.randn((20, 3, 2), generator=draw, dtype=torch.float64)
    plain = problem.features(times, spots)
    c, s = math.cos(0.7), math.sin(0.7)
    turned = spots @ places([[c, -s], [s, c]]) + places([[3.0, -1.0]])
    moved = problem.features(times + 5.0, turned)
    mirrored = problem.features(times, spots * places([[1.0, -1.0]]))
    for name in ("ratio", "first_distance", "second_distance", "turn"):
        torch.testing.assert_close(getattr(moved, name), getattr(plain, name))
    torch.testing.assert_close(mirrored.turn, -plain.turn)


def test_without_redraw_ratio_and_distances_give_restitution_and_no_turn() -> None:
    restitution = torch.tensor([0.6, 0.75, 0.9], dtype=torch.float64)
    draw = torch.Generator().manual_seed(2)
    bounces = simulator.simulate(restitution, torch.full((3,), math.inf).double(), draw=draw)
    none = problem.constant_noise((3,), time_sd=0.0, position_sd=0.0)
    found = problem.features(*problem.measure(bounces, none, draw=draw))
    torch.testing.assert_close(found.ratio, restitution)
    torch.testing.assert_close(found.second_distance / found.first_distance, restitution)
    torch.testing.assert_close(found.turn, torch.zeros(3).double(), atol=1e-12, rtol=0.0)


def test_measurement_error_has_the_stated_size() -> None:
    draw = torch.Generator().manual_seed(3)
    theta = torch.tensor([0.8, 3.0], dtype=torch.float64).expand(4000, 2)
    bounces = simulator.simulate(theta[:, 0], 10.0 ** theta[:, 1], draw=draw)
    noise = Noise(torch.full((4000,), 1e-4).double(), torch.full((4000,), 5e-3).double())
    times, spots = problem.measure(bounces, noise, draw=draw)
    # relative error of a standard deviation from n draws 1 / sqrt(2 n): n = 12000 and 24000 give
    # 0.0065 and 0.0046; three of them below 0.02
    assert abs((times - bounces.times).std() / 1e-4 - 1.0) < 0.02
    assert abs((spots - bounces.positions[..., :2]).std() / 5e-3 - 1.0) < 0.02


def test_drops_are_the_same_for_the_same_seed() -> None:
    noise = problem.constant_noise((5,))
    first, second = (
        problem.simulate_drops(noise, draw=torch.Generator().manual_seed(8)) for _ in range(2)
    )
    assert torch.equal(first.theta, second.theta)
    assert torch.equal(first.features.turn, second.features.turn)
