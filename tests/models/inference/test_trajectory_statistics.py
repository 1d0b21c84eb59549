"""Numbers of trajectories: signatures by brute force and Chen's identity, correlations by numpy."""

import itertools

import numpy as np
import torch

from ricochet.models.inference import trajectory_statistics as statistics


def path(seed: int, instants: int = 30, states: int = 3) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(2, instants, states, generator=draw, dtype=torch.float64)


def levels(signature: torch.Tensor, states: int, depth: int) -> list[torch.Tensor]:
    sizes = [states**level for level in range(1, depth + 1)]
    return [
        part.unflatten(-1, (states,) * level)
        for level, part in enumerate(signature.split(sizes, -1), 1)
    ]


def integrated(points: torch.Tensor, word: tuple[int, ...], fine: int = 400) -> float:
    """Iterated integral by the midpoint rule along the straight pieces, one at a time."""
    share = np.arange(fine) / fine
    times = (np.arange(len(points) - 1)[:, None] + share).ravel()
    dense = [np.interp(np.append(times, len(points) - 1), range(len(points)), p) for p in points.T]
    value = np.ones(len(times) + 1)
    for letter in word:
        rate = 0.5 * (value[1:] + value[:-1]) * np.diff(dense[letter])
        value = np.append(0.0, np.cumsum(rate))
    return float(value[-1])


def test_a_signature_is_made_of_iterated_integrals() -> None:
    states = path(0, instants=5)[0]
    found = levels(statistics.signature(states, depth=3), 3, 3)
    for length in (1, 2, 3):
        for word in itertools.product(range(3), repeat=length):
            expected = integrated(states, word)
            np.testing.assert_allclose(found[length - 1][word], expected, rtol=1e-4, atol=1e-4)


def test_paths_that_are_joined_have_the_product() -> None:
    """Chen's identity, to depth 3."""
    whole = path(1)
    one, two, all_of_it = (
        levels(statistics.signature(part, depth=3), 3, 3)
        for part in (whole[:, :12], whole[:, 11:], whole)
    )
    first = one[0] + two[0]
    second = one[1] + two[1] + torch.einsum("bi,bj->bij", one[0], two[0])
    third = (
        one[2]
        + two[2]
        + torch.einsum("bi,bjk->bijk", one[0], two[1])
        + torch.einsum("bij,bk->bijk", one[1], two[0])
    )
    for found, expected in zip(all_of_it, (first, second, third), strict=True):
        torch.testing.assert_close(found, expected)


def test_pace_and_place_do_not_matter_to_a_signature() -> None:
    states = path(2)
    slower = torch.cat((states[:, :9], states[:, 8:20], states[:, 19:]), 1)  # it waits twice
    for other in (slower, states + 7.0):
        torch.testing.assert_close(
            statistics.signature(other, depth=3), statistics.signature(states, depth=3)
        )


def test_correlations_are_numpys() -> None:
    states = path(3, instants=200)
    found = statistics.summary(states, delays=(5, 50))
    assert found.shape == (2, 3 + 3 + 3 + 6)
    for run, numbers in zip(states.numpy(), found.numpy(), strict=True):
        np.testing.assert_allclose(numbers[:3], run.mean(0))
        np.testing.assert_allclose(numbers[3:6], run.var(0))
        across = np.corrcoef(run.T)
        np.testing.assert_allclose(numbers[6:9], across[[0, 0, 1], [1, 2, 2]])
        scaled = (run - run.mean(0)) / run.std(0)
        np.testing.assert_allclose(numbers[9:12], (scaled[:-5] * scaled[5:]).mean(0))


def test_units_change_the_moments_alone() -> None:
    states = path(4, instants=120)
    plain, other = statistics.summary(states), statistics.summary(1000.0 * states + 3.0)
    torch.testing.assert_close(other[:, 6:], plain[:, 6:])
    assert bool(torch.isfinite(statistics.summary(torch.ones(1, 120, 2))).all())


def test_a_pendulum_s_four_hundred_steps_have_the_sizes_of_the_paper() -> None:
    states = torch.zeros(3, 401, 4)
    assert statistics.downsampled(states).shape == (3, 80)
    assert statistics.differences(states).shape == (3, 88)
    assert statistics.summary(states).shape == (3, 4 + 4 + 6 + 20)
    assert statistics.signature(states).shape == (3, 84)
