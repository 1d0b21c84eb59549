"""The point estimate of restitution and its errors, against exact drops and repeated ones."""

import torch

from ricochet.models.systems.bouncing_ball import problem, simulator
from ricochet.models.systems.bouncing_ball.features import form_features
from ricochet.models.systems.bouncing_ball.restitution import point_estimate


def noise_free(count: int) -> problem.Noise:
    return problem.constant_noise((count,), time_sd=0.0, position_sd=0.0)


def test_a_ball_let_go_at_rest_gives_restitution_exactly() -> None:
    """The speed equation at rho = 0 is exact, whatever the perturbations."""
    draw = torch.Generator().manual_seed(1)
    restitution = torch.linspace(0.56, 0.94, 200, dtype=torch.float64)
    kappa = torch.full((200,), 300.0, dtype=torch.float64)
    start = torch.zeros(200, 3, dtype=torch.float64)
    bounces = simulator.simulate(
        restitution, kappa, start_velocity=start, drop_height=0.26, draw=draw
    )
    features = form_features(bounces.times, bounces.positions)
    found = point_estimate(features, noise_free(200), problem.constant_release((200,)))
    torch.testing.assert_close(found.restitution, restitution, rtol=0.0, atol=1e-9)
    flight = bounces.times[:, 1] - bounces.times[:, 0]
    torch.testing.assert_close(found.first_time, flight, rtol=1e-9, atol=0.0)


def test_the_shift_by_the_start_speed_is_predicted_to_first_order() -> None:
    draw = torch.Generator().manual_seed(2)
    restitution = torch.linspace(0.6, 0.9, 50, dtype=torch.float64)
    start = torch.tensor([0.1, 0.1, 0.0], dtype=torch.float64).expand(50, 3)  # rho^2 = 2 sd^2
    kappa = torch.full((50,), 300.0, dtype=torch.float64)
    bounces = simulator.simulate(
        restitution, kappa, start_velocity=start, drop_height=0.26, draw=draw
    )
    features = form_features(bounces.times, bounces.positions)
    found = point_estimate(features, noise_free(50), problem.constant_release((50,)))
    # rho^2 is at most 1 % of the squared speed, so second order terms are a few per cent
    shift = restitution - found.restitution
    torch.testing.assert_close(shift, found.start_shift, rtol=0.05, atol=1e-8)


def test_the_standard_error_equals_the_spread_of_repeated_measurements() -> None:
    draw = torch.Generator().manual_seed(3)
    theta = torch.tensor([[0.8, 3.0]], dtype=torch.float64)
    bounces = simulator.simulate(theta[:, 0], 10.0 ** theta[:, 1], drop_height=0.26, draw=draw)
    many = simulator.Bounces(
        *(getattr(bounces, name).expand(4000, *shape) for name, shape in
          (("times", (3,)), ("positions", (3, 3)), ("velocities", (3, 3))))
    )  # fmt: skip
    noise = problem.constant_noise((4000,), time_sd=5e-5, position_sd=1e-3)
    features = form_features(*problem.measure(many, noise, draw=draw))
    release = problem.constant_release((4000,))
    spread = point_estimate(features, noise, release).restitution.std()
    exact = form_features(bounces.times, bounces.positions)
    stated = point_estimate(
        exact,
        problem.constant_noise((1,), time_sd=5e-5, position_sd=1e-3),
        problem.constant_release((1,)),
    ).noise_sd[0]
    # relative error of a standard deviation 1 / sqrt(8000) = 0.011; three of them plus 2 % of
    # second order
    assert abs(spread / stated - 1.0) < 0.055


def test_the_error_of_the_height_moves_restitution_as_stated() -> None:
    draw = torch.Generator().manual_seed(7)
    theta = torch.tensor([0.8, 2.0], dtype=torch.float64).expand(40, 2)
    exact = problem.constant_release((40,), height=0.5)
    features = problem.simulate_features(theta, noise_free(40), exact, draw=draw)
    shift = 1e-4
    low, high = (
        point_estimate(
            features, noise_free(40), problem.constant_release((40,), height=0.5 * (1 + sign))
        ).restitution
        for sign in (-shift, shift)
    )
    stated = problem.constant_release((40,), height=0.5, height_sd=0.5)
    found = point_estimate(features, noise_free(40), stated).height_sd
    torch.testing.assert_close(((high - low) / (2 * shift)).abs(), found, rtol=0.02, atol=1e-6)
