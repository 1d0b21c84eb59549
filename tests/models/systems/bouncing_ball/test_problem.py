"""Features of a drop: closed forms, symmetries, noise."""

import dataclasses
import math

import pytest
import torch

from ricochet.models.systems.bouncing_ball import problem, simulator
from ricochet.models.systems.bouncing_ball.features import Features, form_features
from ricochet.models.systems.bouncing_ball.problem import Noise


def places(rows: list[list[float]]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def test_features_of_a_drop_worked_by_hand() -> None:
    times = torch.tensor([0.2, 0.5, 0.74], dtype=torch.float64)
    found = form_features(times, places([[0.0, 0.0], [0.3, 0.0], [0.3, 0.4]]))
    assert math.isclose(found.ratio, 0.8, rel_tol=1e-12)
    assert math.isclose(found.first_distance, 0.3, rel_tol=1e-12)
    assert math.isclose(found.second_distance, 0.4, rel_tol=1e-12)
    assert math.isclose(found.turn, math.pi / 2, rel_tol=1e-12)


def test_features_do_not_change_with_shift_rotation_or_clock_and_mirror_flips_the_turn() -> None:
    draw = torch.Generator().manual_seed(1)
    times = torch.rand((20, 3), generator=draw, dtype=torch.float64).cumsum(-1)
    spots = torch.randn((20, 3, 2), generator=draw, dtype=torch.float64)
    plain = form_features(times, spots)
    c, s = math.cos(0.7), math.sin(0.7)
    turned = spots @ places([[c, -s], [s, c]]) + places([[3.0, -1.0]])
    moved = form_features(times + 5.0, turned)
    mirrored = form_features(times, spots * places([[1.0, -1.0]]))
    for name in ("ratio", "first_distance", "second_distance", "turn"):
        torch.testing.assert_close(getattr(moved, name), getattr(plain, name))
    torch.testing.assert_close(mirrored.turn, -plain.turn)


def test_without_redraw_ratio_and_distances_give_restitution_and_no_turn() -> None:
    restitution = torch.tensor([0.6, 0.75, 0.9], dtype=torch.float64)
    draw = torch.Generator().manual_seed(2)
    bounces = simulator.simulate(
        restitution, torch.full((3,), math.inf).double(), drop_height=0.26, draw=draw
    )
    none = problem.constant_noise((3,), time_sd=0.0, position_sd=0.0)
    found = form_features(*problem.measure(bounces, none, draw=draw))
    torch.testing.assert_close(found.ratio, restitution)
    torch.testing.assert_close(found.second_distance / found.first_distance, restitution)
    torch.testing.assert_close(found.turn, torch.zeros(3).double(), atol=1e-12, rtol=0.0)


def test_measurement_error_has_the_stated_size() -> None:
    draw = torch.Generator().manual_seed(3)
    theta = torch.tensor([0.8, 3.0], dtype=torch.float64).expand(4000, 2)
    bounces = simulator.simulate(theta[:, 0], 10.0 ** theta[:, 1], drop_height=0.26, draw=draw)
    noise = Noise(torch.full((4000,), 1e-4).double(), torch.full((4000,), 5e-3).double())
    times, spots = problem.measure(bounces, noise, draw=draw)
    # relative error of a standard deviation from n draws 1 / sqrt(2 n): n = 12000 and 24000 give
    # 0.0065 and 0.0046; three of them below 0.02
    assert abs((times - bounces.times).std() / 1e-4 - 1.0) < 0.02
    assert abs((spots - bounces.positions[..., :2]).std() / 5e-3 - 1.0) < 0.02


def test_drops_are_the_same_for_the_same_seed() -> None:
    noise, release = problem.constant_noise((5,)), problem.constant_release((5,), height_sd=5e-3)
    first, second = (
        problem.simulate_drops(noise, release, draw=torch.Generator().manual_seed(8))
        for _ in range(2)
    )
    assert torch.equal(first.theta, second.theta)
    assert torch.equal(first.features.turn, second.features.turn)


def test_a_drop_brought_to_the_reference_height_is_a_drop_from_there() -> None:
    """Contacts of a ball at twice all speeds, four times all lengths, against those of the ball."""
    restitution, kappa = torch.linspace(0.6, 0.9, 30).double(), torch.full((30,), 200.0).double()
    small, large = (
        simulator.simulate(
            restitution,
            kappa,
            drop_height=factor**2 * problem.REFERENCE_HEIGHT,
            horizontal_sd=factor * problem.HORIZONTAL_SD,
            draw=torch.Generator().manual_seed(9),
        )
        for factor in (1.0, 2.0)
    )
    noise = Noise(torch.full((30,), 2e-4).double(), torch.full((30,), 4e-3).double())
    release = problem.constant_release((30,), height=4 * problem.REFERENCE_HEIGHT)
    found, rig, start = problem.at_reference(
        form_features(large.times, large.positions),
        noise,
        dataclasses.replace(release, horizontal_sd=0.2),
    )
    expected = form_features(small.times, small.positions)
    for name in ("ratio", "first_distance", "second_distance", "turn"):
        torch.testing.assert_close(getattr(found, name), getattr(expected, name))
    assert rig.time_sd.tolist() == pytest.approx([1e-4] * 30)
    assert rig.position_sd.tolist() == pytest.approx([1e-3] * 30)
    assert start.tolist() == pytest.approx([problem.HORIZONTAL_SD] * 30)


def test_the_hands_speed_does_not_grow_with_the_height() -> None:
    *_, start = problem.at_reference(
        Features(*torch.ones(4, 1).double()),
        problem.constant_noise((1,)),
        problem.constant_release((1,), height=4 * problem.REFERENCE_HEIGHT),
    )
    assert float(start) == pytest.approx(0.5 * problem.HORIZONTAL_SD)


def test_the_takes_of_a_session_share_one_error_of_the_height() -> None:
    release = dataclasses.replace(
        problem.constant_release((6,), height=0.5, height_sd=0.05), session=torch.arange(6) // 3
    )
    draw = torch.Generator().manual_seed(10)
    heights = problem.draw_heights(release, (4000, 6), draw=draw)
    for session in (heights[:, :3], heights[:, 3:]):
        assert torch.equal(session, session[:, :1].expand(-1, 3))
        # relative error of a standard deviation 1 / sqrt(8000) = 0.011; three of them
        assert float((session[:, 0] / 0.5).log().std()) == pytest.approx(0.1, rel=0.034)
    # correlation of 4000 independent pairs: 0 +- 0.016; three of them
    assert abs(float(torch.corrcoef(heights[:, [0, 3]].log().T)[0, 1])) < 0.048


def test_heights_that_are_known_use_no_randomness() -> None:
    draw = torch.Generator().manual_seed(11)
    before = draw.get_state()
    heights = problem.draw_heights(problem.constant_release((3,), height=0.4), (2, 3), draw=draw)
    assert torch.equal(heights, torch.full((2, 3), 0.4, dtype=torch.float64))
    assert torch.equal(draw.get_state(), before)
