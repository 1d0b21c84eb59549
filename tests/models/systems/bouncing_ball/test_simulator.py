"""The bouncing ball against projectile solutions, the redraw's law and its symmetries."""

import math
from decimal import Decimal

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from ricochet.models.probability.von_mises_fisher import log_density
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.simulator import Bounces
from tests.oracles.von_mises_fisher import mean_resultant_length

GRAVITY, HEIGHT = 9.81, 0.26


def _full(size: int, value: float) -> Tensor:
    return torch.full((size,), value, dtype=torch.float64)


def _draw(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _starts(size: int, seed: int = 5) -> Tensor:
    return 0.3 * torch.randn((size, 3), generator=_draw(seed), dtype=torch.float64)


def _normal(tilt: float) -> Tensor:
    return torch.tensor([math.sin(tilt), 0.0, math.cos(tilt)], dtype=torch.float64)


def _entry(bounces: Bounces) -> Tensor:
    """Velocity just before each bounce but the first, from the exit before it."""
    flight = torch.diff(bounces.times, dim=-1)
    entry = bounces.velocities[..., :-1, :].clone()
    entry[..., 2] -= GRAVITY * flight
    return entry


def _projectile(
    start: np.ndarray, restitution: float, tilt: float, bounces: int
) -> tuple[np.ndarray, np.ndarray]:
    """Flights solved in world axes: n.(p + v t + a t^2 / 2) = 0, then v - (1 + e) (v.n) n."""
    normal, pull = _normal(tilt).numpy(), np.array([0.0, 0.0, -GRAVITY])
    position, velocity, time = np.array([0.0, 0.0, HEIGHT]), start.copy(), 0.0
    times, positions = [], []
    for _ in range(bounces):
        roots = np.roots([0.5 * normal @ pull, normal @ velocity, normal @ position])
        flight = max(roots.real)
        time += flight
        position = position + velocity * flight + 0.5 * pull * flight**2
        position -= (normal @ position) * normal  # rounding left over
        velocity = velocity + pull * flight
        velocity = velocity - (1.0 + restitution) * (velocity @ normal) * normal
        times.append(time)
        positions.append(position)
    return np.array(times), np.array(positions)


@pytest.mark.parametrize("tilt", [0.0, 0.2, -0.5])
def test_without_redraw_the_flights_solve_the_projectile_equations(tilt: float) -> None:
    starts = _starts(6)
    ours = simulator.simulate(
        _full(6, 0.8),
        _full(6, math.inf),
        bounces=5,
        tilt=tilt,
        start_velocity=starts,
        drop_height=HEIGHT,
        draw=_draw(),
    )
    for index, start in enumerate(starts.numpy()):
        times, positions = _projectile(start, 0.8, tilt, 5)
        np.testing.assert_allclose(ours.times[index], times, rtol=1e-12)
        np.testing.assert_allclose(ours.positions[index], positions, rtol=1e-11, atol=1e-12)


def test_level_drop_has_the_closed_form_of_a_textbook() -> None:
    # T_1 = sqrt(2 h / g), T_{i+1} - T_i = 2 e^i T_1; x = v T; exit speed e^i g T_1.
    e, v = 0.7, 0.25
    start = torch.tensor([v, 0.0, 0.0], dtype=torch.float64)
    ours = simulator.simulate(
        _full(1, e),
        _full(1, math.inf),
        bounces=4,
        start_velocity=start,
        drop_height=HEIGHT,
        draw=_draw(),
    )
    first = math.sqrt(2.0 * HEIGHT / GRAVITY)
    times = first * np.cumsum([1.0, 2 * e, 2 * e**2, 2 * e**3])
    np.testing.assert_allclose(ours.times[0], times, rtol=1e-14)
    np.testing.assert_allclose(ours.positions[0, :, 0], v * times, rtol=1e-14)
    rises = GRAVITY * first * e ** np.arange(1, 5)
    np.testing.assert_allclose(ours.velocities[0, :, 2], rises, rtol=1e-14)


def test_tilted_drop_has_the_closed_form_in_plane_axes() -> None:
    # From rest onto the incline: speed u = sqrt(2 g h) at the contact, flights T_i = 2 e^i u / g
    # (the cosine cancels), and down the plane s = u sin b t + g sin b t^2 / 2 after the contact.
    e, tilt = 0.8, 0.3
    ours = simulator.simulate(
        _full(1, e),
        _full(1, math.inf),
        bounces=4,
        tilt=tilt,
        start_velocity=torch.zeros(3, dtype=torch.float64),
        drop_height=HEIGHT,
        draw=_draw(),
    )
    speed = math.sqrt(2.0 * GRAVITY * HEIGHT)
    since = 2.0 * speed / GRAVITY * np.cumsum([0.0, e, e**2, e**3])
    down = math.sin(tilt) * (speed * since + 0.5 * GRAVITY * since**2)
    # Released above the origin, the ball first touches the plane at the origin.
    np.testing.assert_allclose(ours.times[0], speed / GRAVITY + since, rtol=1e-13)
    np.testing.assert_allclose(ours.positions[0, :, 0], down * math.cos(tilt), atol=1e-14)
    np.testing.assert_allclose(ours.positions[0, :, 2], -down * math.sin(tilt), atol=1e-14)


@pytest.mark.parametrize("tilt", [0.0, 0.25])
@pytest.mark.parametrize("concentration", [3.0, 1e4])
def test_redraw_keeps_the_energy_of_the_exit(tilt: float, concentration: float) -> None:
    e = 0.75
    ours = simulator.simulate(
        _full(2000, e),
        _full(2000, concentration),
        bounces=4,
        tilt=tilt,
        drop_height=HEIGHT,
        draw=_draw(),
    )
    entry = _entry(ours)
    into = entry @ _normal(tilt)
    along_squared = (entry - into[..., None] * _normal(tilt)).square().sum(-1)
    expected = torch.sqrt(along_squared + e**2 * into.square())
    speed = ours.velocities[:, 1:].norm(dim=-1)
    torch.testing.assert_close(speed, expected, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("tilt", [0.0, 0.25])
def test_contacts_lie_on_the_plane_and_exits_leave_it(tilt: float) -> None:
    ours = simulator.simulate(
        _full(5000, 0.6), _full(5000, 2.0), tilt=tilt, drop_height=HEIGHT, draw=_draw()
    )
    assert float((ours.positions @ _normal(tilt)).abs().max()) < 1e-15
    assert float((ours.velocities @ _normal(tilt)).min()) > 0.0
    assert float(torch.diff(ours.times, dim=-1).min()) > 0.0


def test_redrawn_exit_follows_the_law_given_that_it_leaves_the_plane() -> None:
    """A shallow throw at k = 3, where about a third of the first draws point into the plane."""
    size, k = 100_000, 3.0
    start = torch.tensor([1.0, 0.0, -0.1], dtype=torch.float64)
    ours = simulator.simulate(
        _full(size, 0.9),
        _full(size, k),
        bounces=1,
        drop_height=1e-3,
        start_velocity=start,
        draw=_draw(),
    )
    into = -math.sqrt(0.1**2 + 2.0 * GRAVITY * 1e-3)
    unperturbed = torch.tensor([1.0, 0.0, -0.9 * into], dtype=torch.float64)
    unperturbed /= unperturbed.norm()
    expected, rejected = _moments_above_the_plane(unperturbed, k)
    assert 0.2 < rejected < 0.5
    direction = ours.velocities[:, 0] / ours.velocities[:, 0].norm(dim=-1, keepdim=True)
    moments = torch.cat((direction, direction.square()), -1)
    # Three standard errors of six means over 100,000 draws; the quadrature is good to 1e-6.
    error = 3.0 * moments.std(0) / math.sqrt(size) + 1e-6
    assert bool(((moments.mean(0) - expected).abs() < error).all())


def _moments_above_the_plane(mean: Tensor, concentration: float) -> tuple[Tensor, float]:
    """First and second moments of x given z > 0 by quadrature, and P(z <= 0)."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    azimuth = torch.arange(240, dtype=torch.float64) * (2.0 * math.pi / 240)
    moments, mass = torch.zeros(6, dtype=torch.float64), 0.0
    for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        side = math.sqrt(1.0 - node**2)
        z = torch.full_like(azimuth, float(node))
        x = torch.stack((side * azimuth.cos(), side * azimuth.sin(), z), -1)
        density = log_density(1.0 - x @ mean, _full(240, concentration))
        share = density.exp() * (float(weight) * 2.0 * math.pi / 240)
        mass += float(share.sum())
        moments += share @ torch.cat((x, x.square()), -1)
    return moments / mass, 1.0 - mass


@pytest.mark.parametrize("concentration", [1e2, 1e5])
def test_deflections_have_the_mean_resultant_length_of_the_law(concentration: float) -> None:
    """Steep exits at k >= 100: the share drawn again, e^-100 or less, does not bend the mean."""
    size = 20_000
    start = torch.zeros(3, dtype=torch.float64)
    ours = simulator.simulate(
        _full(size, 0.9),
        _full(size, concentration),
        bounces=1,
        start_velocity=start,
        drop_height=HEIGHT,
        draw=_draw(),
    )
    direction = ours.velocities[:, 0] / ours.velocities[:, 0].norm(dim=-1, keepdim=True)
    fall = 0.5 * (direction - _normal(0.0)).square().sum(-1)
    length = mean_resultant_length(concentration)
    assert abs(fall.mean() - (1.0 - length)) < 3.0 * fall.std() / math.sqrt(size)


@pytest.mark.parametrize("concentration", [10.0, 1e3, 1e5])
def test_energy_balance_of_two_flights_returns_restitution(concentration: float) -> None:
    """Eq. 6's kinetic energies, with restitution on the normal component alone.

    (d2/t2)^2 + (g t2/2)^2 = (d1/t1)^2 + e^2 (g t1/2)^2, whatever the redraw was.
    """
    truth = torch.linspace(0.55, 0.95, 500, dtype=torch.float64)
    ours = simulator.simulate(truth, _full(500, concentration), drop_height=HEIGHT, draw=_draw())
    flight = torch.diff(ours.times, dim=-1)
    distance = torch.diff(ours.positions, dim=-2).norm(dim=-1)
    along = (distance / flight).square()
    rise = (0.5 * GRAVITY * flight).square()
    found = torch.sqrt((along[:, 1] + rise[:, 1] - along[:, 0]) / rise[:, 0])
    # A grazing exit loses digits of rise[0]; steep ones, the rule, keep them to 1e-9.
    steep = rise[:, 0] > 0.01 * along[:, 0]
    assert int(steep.sum()) > 490
    torch.testing.assert_close(found[steep], truth[steep], rtol=1e-9, atol=0.0)


def test_concentration_is_recovered_from_exit_directions() -> None:
    size, e, truth = 20_000, 0.85, 10.0**2.5
    ours = simulator.simulate(
        _full(size, e), _full(size, truth), bounces=2, drop_height=HEIGHT, draw=_draw()
    )
    unperturbed = _entry(ours)[:, 0]
    unperturbed[:, 2] *= -e
    cosine = torch.nn.functional.cosine_similarity(unperturbed, ours.velocities[:, 1], dim=-1)
    # 1 - cosine is exponential with mean 1 / k, so the relative standard error is 1 / sqrt(20,000).
    recovered = 1.0 / float((1.0 - cosine).mean())
    assert abs(recovered / truth - 1.0) < 3.0 / math.sqrt(size)


def test_start_velocities_have_the_stated_law() -> None:
    size = 50_000
    ours = simulator.simulate(
        _full(size, 0.8), _full(size, math.inf), bounces=1, drop_height=HEIGHT, draw=_draw()
    )
    for axis in (0, 1):
        speed = (ours.positions[:, 0, axis] / ours.times[:, 0]).numpy()
        # Kolmogorov-Smirnov at size 0.005 an axis.
        assert stats.kstest(speed, stats.norm(0.0, 0.1).cdf).pvalue > 0.005


def test_a_batch_equals_its_members_without_redraw() -> None:
    restitution, starts = torch.linspace(0.5, 1.0, 7, dtype=torch.float64), _starts(7)
    settings = {"bounces": 4, "tilt": 0.1, "drop_height": HEIGHT}
    batch = simulator.simulate(
        restitution, _full(7, math.inf), **settings, start_velocity=starts, draw=_draw()
    )
    for index in range(7):
        member = simulator.simulate(
            restitution[index],
            torch.tensor(math.inf),
            **settings,
            start_velocity=starts[index],
            draw=_draw(),
        )
        torch.testing.assert_close(batch.times[index], member.times, rtol=1e-14, atol=0.0)
        torch.testing.assert_close(batch.positions[index], member.positions, rtol=1e-13, atol=1e-15)


def test_the_shape_of_a_batch_does_not_matter() -> None:
    restitution, concentration = torch.linspace(0.5, 0.9, 24), torch.logspace(1, 5, 24)
    flat = simulator.simulate(restitution, concentration, drop_height=HEIGHT, draw=_draw(3))
    folded = simulator.simulate(
        restitution.reshape(2, 3, 4),
        concentration.reshape(2, 3, 4),
        drop_height=HEIGHT,
        draw=_draw(3),
    )
    assert folded.times.shape == (2, 3, 4, 3)
    assert folded.positions.shape == folded.velocities.shape == (2, 3, 4, 3, 3)
    assert torch.equal(folded.times.reshape(24, 3), flat.times)
    assert torch.equal(folded.positions.reshape(24, 3, 3), flat.positions)
    assert torch.equal(folded.velocities.reshape(24, 3, 3), flat.velocities)


def test_every_block_of_a_large_batch_is_simulated() -> None:
    size = 2 * simulator._BLOCK + 17
    whole = simulator.simulate(
        torch.full((size,), 0.8), torch.tensor(50.0), drop_height=HEIGHT, draw=_draw(3)
    )
    start = simulator.simulate(
        torch.full((simulator._BLOCK,), 0.8), torch.tensor(50.0), drop_height=HEIGHT, draw=_draw(3)
    )
    assert torch.equal(whole.times[: simulator._BLOCK], start.times)
    parts = whole.times[:, 2].split(simulator._BLOCK)
    assert not torch.equal(parts[0], parts[1])
    # The last 17 follow the same law: their mean lies within four standard errors of the rest.
    assert abs(parts[2].mean() - parts[0].mean()) < 4.0 * parts[0].std() / math.sqrt(17)


def test_the_law_does_not_know_the_heading() -> None:
    """Throws along x and along another heading, turned back, are one law."""
    size, heading = 20_000, 2.1
    turn = torch.tensor(
        [[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]],
        dtype=torch.float64,
    )
    thrown = torch.tensor([0.4, 0.0, 0.0], dtype=torch.float64)
    turned = torch.tensor([0.4 * math.cos(heading), 0.4 * math.sin(heading), 0.0]).double()
    args = (_full(size, 0.8), _full(size, 20.0))
    straight = simulator.simulate(*args, start_velocity=thrown, drop_height=HEIGHT, draw=_draw(1))
    other = simulator.simulate(*args, start_velocity=turned, drop_height=HEIGHT, draw=_draw(2))
    back = other.positions[..., :2] @ turn
    for bounce, axis in ((1, 0), (1, 1), (2, 0), (2, 1)):
        pair = straight.positions[:, bounce, axis].numpy(), back[:, bounce, axis].numpy()
        # Size 0.0025 for each of four comparisons: 0.01 in all.
        assert stats.ks_2samp(*pair).pvalue > 0.0025


@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_lengths_scale_with_the_height_and_times_with_its_root(tilt: float) -> None:
    size, scale = 500, 3.7
    args = (_full(size, 0.8), _full(size, 30.0))
    small = simulator.simulate(*args, tilt=tilt, drop_height=HEIGHT, draw=_draw(1))
    large = simulator.simulate(
        *args,
        tilt=tilt,
        drop_height=HEIGHT * scale,
        horizontal_sd=0.1 * math.sqrt(scale),
        draw=_draw(1),
    )
    root = math.sqrt(scale)
    torch.testing.assert_close(large.times, root * small.times, rtol=1e-11, atol=0.0)
    torch.testing.assert_close(large.positions, scale * small.positions, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(large.velocities, root * small.velocities, rtol=1e-9, atol=1e-12)


def test_single_precision_agrees_with_double() -> None:
    starts = _starts(50)
    args = (_full(50, 0.8), _full(50, math.inf))
    double = simulator.simulate(
        *args, bounces=5, start_velocity=starts, drop_height=HEIGHT, draw=_draw()
    )
    single = simulator.simulate(
        args[0].float(), args[1], bounces=5, start_velocity=starts, drop_height=HEIGHT, draw=_draw()
    )
    assert single.times.dtype == single.positions.dtype == torch.float32
    torch.testing.assert_close(single.times.double(), double.times, rtol=2e-6, atol=0.0)
    torch.testing.assert_close(single.positions.double(), double.positions, rtol=1e-5, atol=1e-6)


def test_the_same_seed_gives_the_same_drops_and_parameters_stay_untouched() -> None:
    restitution, concentration = _full(100, 0.8), _full(100, 10.0)
    first = simulator.simulate(restitution, concentration, drop_height=HEIGHT, draw=_draw(9))
    second = simulator.simulate(restitution, concentration, drop_height=HEIGHT, draw=_draw(9))
    assert torch.equal(first.positions, second.positions)
    assert torch.equal(restitution, _full(100, 0.8))
    assert torch.equal(concentration, _full(100, 10.0))


def test_each_drop_may_have_its_own_height() -> None:
    heights = torch.tensor([0.1, 0.4], dtype=torch.float64)
    ours = simulator.simulate(_full(2, 0.8), _full(2, math.inf), drop_height=heights, draw=_draw())
    torch.testing.assert_close(ours.times[:, 0], torch.sqrt(2.0 * heights / GRAVITY))


def test_a_hard_throw_down_keeps_its_digits() -> None:
    # (w + r) / g would lose 1e3 * 1e-16 of 2.6e-3 m/s: 4e-11 of the time.
    start = torch.tensor([0.0, 0.0, -1e3], dtype=torch.float64)
    ours = simulator.simulate(
        _full(1, 0.8),
        _full(1, math.inf),
        bounces=1,
        start_velocity=start,
        drop_height=HEIGHT,
        draw=_draw(),
    )
    w, pull, height = Decimal(-1000), Decimal(GRAVITY), Decimal(HEIGHT)
    exact = (w + (w * w + 2 * pull * height).sqrt()) / pull
    assert float(ours.times) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is present")
def test_an_accelerator_follows_the_same_law() -> None:
    size = 50_000
    args = (torch.full((size,), 0.8), torch.full((size,), 50.0))
    here = simulator.simulate(*args, drop_height=HEIGHT, draw=_draw(1))
    there = simulator.simulate(
        *args, drop_height=HEIGHT, draw=torch.Generator("cuda").manual_seed(1), device="cuda"
    )
    assert there.times.device.type == "cuda"
    for bounce in range(1, 3):
        pair = here.times[:, bounce].numpy(), there.times[:, bounce].cpu().numpy()
        assert stats.ks_2samp(*pair).pvalue > 0.005


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"restitution": torch.tensor([0.8, 1.2])}, "restitution"),
        ({"restitution": torch.tensor([0.0, 0.5])}, "restitution"),
        ({"restitution": torch.tensor([math.nan])}, "restitution"),
        ({"concentration": torch.tensor([-1.0])}, "concentration"),
        ({"concentration": torch.tensor([math.nan])}, "concentration"),
        ({"bounces": 0}, "bounces"),
        ({"drop_height": 0.0}, "drop_height"),
        ({"horizontal_sd": -0.1}, "horizontal_sd"),
        ({"gravity": 0.0}, "gravity"),
        ({"tilt": 1.6}, "tilt"),
        ({"device": "meta"}, "draw"),
    ],
)
def test_values_out_of_range_are_refused_by_name(change: dict[str, object], names: str) -> None:
    good = {
        "restitution": torch.tensor([0.8]),
        "concentration": torch.tensor([100.0]),
        "drop_height": HEIGHT,
    }
    with pytest.raises(ValueError, match=names):
        simulator.simulate(**(good | change), draw=_draw())
