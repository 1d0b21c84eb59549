"""What may not matter to the simulator, its batches, and the law of its starts."""

import math

import pytest
import torch
from scipy import stats

from ricochet.models.systems.bouncing_ball import simulator
from tests.models.systems.bouncing_ball.simulator_cases import HEIGHT, full, seeded, some_starts


def test_start_velocities_have_the_stated_law() -> None:
    size = 50_000
    ours = simulator.simulate(
        full(size, 0.8), full(size, math.inf), bounces=1, drop_height=HEIGHT, draw=seeded()
    )
    for axis in (0, 1):
        speed = (ours.positions[:, 0, axis] / ours.times[:, 0]).numpy()
        # Kolmogorov-Smirnov at size 0.005 an axis.
        assert stats.kstest(speed, stats.norm(0.0, 0.1).cdf).pvalue > 0.005


def test_a_batch_equals_its_members_without_redraw() -> None:
    restitution, starts = torch.linspace(0.5, 1.0, 7, dtype=torch.float64), some_starts(7)
    settings = {"bounces": 4, "tilt": 0.1, "drop_height": HEIGHT}
    batch = simulator.simulate(
        restitution, full(7, math.inf), **settings, start_velocity=starts, draw=seeded()
    )
    for index in range(7):
        member = simulator.simulate(
            restitution[index],
            torch.tensor(math.inf),
            **settings,
            start_velocity=starts[index],
            draw=seeded(),
        )
        torch.testing.assert_close(batch.times[index], member.times, rtol=1e-14, atol=0.0)
        torch.testing.assert_close(batch.positions[index], member.positions, rtol=1e-13, atol=1e-15)


def test_the_shape_of_a_batch_does_not_matter() -> None:
    restitution, concentration = torch.linspace(0.5, 0.9, 24), torch.logspace(1, 5, 24)
    flat = simulator.simulate(restitution, concentration, drop_height=HEIGHT, draw=seeded(3))
    folded = simulator.simulate(
        restitution.reshape(2, 3, 4),
        concentration.reshape(2, 3, 4),
        drop_height=HEIGHT,
        draw=seeded(3),
    )
    assert folded.times.shape == (2, 3, 4, 3)
    assert folded.positions.shape == folded.velocities.shape == (2, 3, 4, 3, 3)
    assert torch.equal(folded.times.reshape(24, 3), flat.times)
    assert torch.equal(folded.positions.reshape(24, 3, 3), flat.positions)
    assert torch.equal(folded.velocities.reshape(24, 3, 3), flat.velocities)


def test_every_block_of_a_large_batch_is_simulated() -> None:
    size = 2 * simulator._BLOCK + 17
    whole = simulator.simulate(
        torch.full((size,), 0.8), torch.tensor(50.0), drop_height=HEIGHT, draw=seeded(3)
    )
    start = simulator.simulate(
        torch.full((simulator._BLOCK,), 0.8), torch.tensor(50.0), drop_height=HEIGHT, draw=seeded(3)
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
    args = (full(size, 0.8), full(size, 20.0))
    straight = simulator.simulate(*args, start_velocity=thrown, drop_height=HEIGHT, draw=seeded(1))
    other = simulator.simulate(*args, start_velocity=turned, drop_height=HEIGHT, draw=seeded(2))
    back = other.positions[..., :2] @ turn
    for bounce, axis in ((1, 0), (1, 1), (2, 0), (2, 1)):
        pair = straight.positions[:, bounce, axis].numpy(), back[:, bounce, axis].numpy()
        # Size 0.0025 for each of four comparisons: 0.01 in all.
        assert stats.ks_2samp(*pair).pvalue > 0.0025


@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_lengths_scale_with_the_height_and_times_with_its_root(tilt: float) -> None:
    size, scale = 500, 3.7
    args = (full(size, 0.8), full(size, 30.0))
    small = simulator.simulate(*args, tilt=tilt, drop_height=HEIGHT, draw=seeded(1))
    large = simulator.simulate(
        *args,
        tilt=tilt,
        drop_height=HEIGHT * scale,
        horizontal_sd=0.1 * math.sqrt(scale),
        draw=seeded(1),
    )
    root = math.sqrt(scale)
    torch.testing.assert_close(large.times, root * small.times, rtol=1e-11, atol=0.0)
    torch.testing.assert_close(large.positions, scale * small.positions, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(large.velocities, root * small.velocities, rtol=1e-9, atol=1e-12)


def test_single_precision_agrees_with_double() -> None:
    starts = some_starts(50)
    args = (full(50, 0.8), full(50, math.inf))
    double = simulator.simulate(
        *args, bounces=5, start_velocity=starts, drop_height=HEIGHT, draw=seeded()
    )
    single = simulator.simulate(
        args[0].float(),
        args[1],
        bounces=5,
        start_velocity=starts,
        drop_height=HEIGHT,
        draw=seeded(),
    )
    assert single.times.dtype == single.positions.dtype == torch.float32
    torch.testing.assert_close(single.times.double(), double.times, rtol=2e-6, atol=0.0)
    torch.testing.assert_close(single.positions.double(), double.positions, rtol=1e-5, atol=1e-6)


def test_the_same_seed_gives_the_same_drops_and_parameters_stay_untouched() -> None:
    restitution, concentration = full(100, 0.8), full(100, 10.0)
    first = simulator.simulate(restitution, concentration, drop_height=HEIGHT, draw=seeded(9))
    second = simulator.simulate(restitution, concentration, drop_height=HEIGHT, draw=seeded(9))
    assert torch.equal(first.positions, second.positions)
    assert torch.equal(restitution, full(100, 0.8))
    assert torch.equal(concentration, full(100, 10.0))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is present")
def test_an_accelerator_follows_the_same_law() -> None:
    size = 50_000
    args = (torch.full((size,), 0.8), torch.full((size,), 50.0))
    here = simulator.simulate(*args, drop_height=HEIGHT, draw=seeded(1))
    there = simulator.simulate(
        *args, drop_height=HEIGHT, draw=torch.Generator("cuda").manual_seed(1), device="cuda"
    )
    assert there.times.device.type == "cuda"
    for bounce in range(1, 3):
        pair = here.times[:, bounce].numpy(), there.times[:, bounce].cpu().numpy()
        assert stats.ks_2samp(*pair).pvalue > 0.005
