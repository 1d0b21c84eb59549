"""The four features against the printed equations, and what they must not depend on."""

import math

import torch
from torch import Tensor

from ricochet.models.systems.bouncing_ball import problem, simulator
from ricochet.models.systems.bouncing_ball.features import Features, form_features
from ricochet.models.systems.bouncing_ball.restitution import point_estimate
from ricochet.models.systems.bouncing_ball.simulator import Bounces


def _bounces(concentration: float, size: int = 300) -> Bounces:
    restitution = torch.linspace(0.55, 0.95, size, dtype=torch.float64)
    draw = torch.Generator().manual_seed(0)
    return simulator.simulate(restitution, torch.tensor(concentration), drop_height=0.26, draw=draw)


def _stacked(features: Features) -> Tensor:
    columns = features.ratio, features.first_distance, features.second_distance, features.turn
    return torch.stack(columns, -1)


def test_features_equal_the_printed_equations() -> None:
    bounces = _bounces(30.0)
    first, second = torch.diff(bounces.positions[..., :2], dim=-2).unbind(-2)
    d1, d2 = first.norm(dim=-1), second.norm(dim=-1)
    crossed = first[:, 0] * second[:, 1] - second[:, 0] * first[:, 1]
    cosine = (first * second).sum(-1) / (d1 * d2)
    flights = torch.diff(bounces.times, dim=-1)
    printed = torch.stack(
        (flights[:, 1] / flights[:, 0], d1, d2, crossed.sign() * torch.arccos(cosine)), -1
    )
    ours = _stacked(form_features(bounces.times, bounces.positions))
    # arccos near 1 keeps half the digits: 1e-16^(1/2) = 1e-8, with a margin.
    torch.testing.assert_close(ours, printed, rtol=1e-12, atol=1e-7)


def test_without_redraw_ratio_and_distances_give_restitution_and_the_path_is_straight() -> None:
    bounces = _bounces(math.inf)
    truth = torch.linspace(0.55, 0.95, 300, dtype=torch.float64)
    ours = form_features(bounces.times, bounces.positions)
    torch.testing.assert_close(ours.ratio, truth, rtol=1e-12, atol=0.0)
    ratio = ours.second_distance / ours.first_distance
    torch.testing.assert_close(ratio, truth, rtol=1e-10, atol=0.0)
    assert float(ours.turn.abs().max()) < 1e-10


def test_neither_place_nor_heading_nor_the_clock_matters() -> None:
    bounces = _bounces(30.0)
    cosine, sine = math.cos(2.0), math.sin(2.0)
    turn = torch.tensor([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]], dtype=torch.float64)
    moved = bounces.positions @ turn.T + torch.tensor([0.3, -0.2, 0.0])
    ours = _stacked(form_features(bounces.times, bounces.positions))
    other = _stacked(form_features(bounces.times + 5.0, moved))
    # Adding 5 s leaves 1e-15 s of a flight of 0.1 s or more.
    torch.testing.assert_close(other, ours, rtol=1e-9, atol=1e-12)


def test_a_mirrored_drop_turns_the_other_way_and_differs_in_nothing_else() -> None:
    bounces = _bounces(30.0)
    mirrored = bounces.positions * torch.tensor([1.0, -1.0, 1.0])
    ours = _stacked(form_features(bounces.times, bounces.positions))
    other = _stacked(form_features(bounces.times, mirrored))
    assert torch.equal(other, ours * torch.tensor([1.0, 1.0, 1.0, -1.0]))


def test_features_without_noise_give_restitution_when_the_ball_starts_at_rest() -> None:
    truth = torch.linspace(0.55, 0.95, 300, dtype=torch.float64)
    bounces = simulator.simulate(
        truth,
        torch.tensor(1e3),
        horizontal_sd=0.0,
        drop_height=0.26,
        draw=torch.Generator().manual_seed(0),
    )
    features = form_features(bounces.times, bounces.positions)
    noise, release = problem.constant_noise((300,)), problem.constant_release((300,))
    # The drop height, the start at rest and Eq. 6 fix restitution; all in double precision.
    found = point_estimate(features, noise, release).restitution
    torch.testing.assert_close(found, truth, rtol=1e-9, atol=0.0)
