"""Inputs of the density network: what must not change them, and what does."""

from dataclasses import replace

import torch

from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import network_features
from ricochet.models.systems.bouncing_ball.features import Features

INPUTS = (
    network_features.from_both,
    network_features.from_times,
    network_features.from_places,
)


def test_mirrored_drops_give_the_same_inputs_and_a_batch_equals_its_members() -> None:
    draw = torch.Generator().manual_seed(4)
    release = problem.constant_release((8,), height=0.5, height_sd=0.01)
    drops = problem.simulate_drops(problem.constant_noise((8,)), release, draw=draw)
    plain = network_features.from_both(drops.features, drops.noise, release)
    mirrored = replace(drops.features, turn=-drops.features.turn)
    torch.testing.assert_close(
        network_features.from_both(mirrored, drops.noise, release).values, plain.values
    )
    one = drops.rows(slice(3, 4))
    alone = network_features.from_both(one.features, one.noise, one.release)
    torch.testing.assert_close(alone.values, plain.values[3:4])
    torch.testing.assert_close(alone.coordinates.scale, plain.coordinates.scale[3:4])


def test_inputs_stay_finite_for_drops_that_no_law_allows() -> None:
    features = Features(
        *(torch.tensor(column, dtype=torch.float64) for column in
          ([1.4, 0.2, 0.8], [0.0, 3.0, 0.1], [0.0, 0.0, 9.0], [0.0, 3.1, -3.1]))
    )  # fmt: skip
    noise, release = problem.constant_noise((3,)), problem.constant_release((3,))
    for form_inputs in INPUTS:
        assert form_inputs(features, noise, release).values.isfinite().all()
        assert (form_inputs(features, noise, release).coordinates.scale.abs() > 0.0).all()


def test_a_drop_scaled_to_another_height_gives_the_same_inputs() -> None:
    """But for the hand's speed, which must scale with it, nothing is left of the height."""
    draw = torch.Generator().manual_seed(6)
    release = problem.constant_release((20,), height_sd=0.01)
    drops = problem.simulate_drops(problem.constant_noise((20,)), release, draw=draw)
    scale = 5.0
    larger = replace(
        drops.features,
        first_distance=scale * drops.features.first_distance,
        second_distance=scale * drops.features.second_distance,
    )
    poorer = problem.Noise(scale**0.5 * drops.noise.time_sd, scale * drops.noise.position_sd)
    higher = problem.Release(
        scale * release.height,
        scale * release.height_sd,
        release.session,
        scale**0.5 * release.horizontal_sd,
    )
    for form_inputs in INPUTS:
        ours = form_inputs(drops.features, drops.noise, release)
        theirs = form_inputs(larger, poorer, higher)
        torch.testing.assert_close(theirs.values, ours.values, rtol=1e-7, atol=1e-7)
        torch.testing.assert_close(theirs.coordinates.scale, ours.coordinates.scale)
        slow_hand = form_inputs(
            larger, poorer, replace(higher, horizontal_sd=release.horizontal_sd)
        )
        assert not torch.allclose(slow_hand.values, ours.values, atol=1e-3)
