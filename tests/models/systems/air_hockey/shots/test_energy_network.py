"""The energy's network: against a loop over units, both of its evaluations, its arrays."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.shots import energy_network
from ricochet.models.systems.air_hockey.shots.energy_network import Energy

HIDDEN = 9


def network(seed: int = 0) -> Energy:
    draw = np.random.default_rng(seed)
    shapes = ((7,), (7,), (7, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN,))
    numbers = [draw.standard_normal(shape).astype(np.float32) for shape in shapes]
    numbers[1] = np.abs(numbers[1]) + np.float32(0.5)
    return Energy(*numbers)


def by_loops(net: Energy, state: np.ndarray, angle: float) -> float:
    """Every unit a sum, in double precision."""
    z = [(s - m) / d for s, m, d in zip((*state, angle), net.location, net.scale, strict=True)]
    for weights, offset in ((net.first, net.first_offset), (net.second, net.second_offset)):
        z = [
            max(sum(float(weights[i, j]) * z[i] for i in range(len(z))) + float(offset[j]), 0.0)
            for j in range(HIDDEN)
        ]
    return sum(float(w) * value for w, value in zip(net.last, z, strict=True))


def test_energies_equal_a_loop_over_units():
    """To single precision: sums of ten terms of size one."""
    net, draw = network(), np.random.default_rng(1)
    states, angles = draw.standard_normal((5, 6)), draw.uniform(-1.3, 1.3, 5)
    expected = [by_loops(net, s, u) for s, u in zip(states, angles, strict=True)]
    np.testing.assert_allclose(energy_network.evaluate(net, states, angles), expected, atol=2e-4)


def test_a_landscape_is_the_energy_at_each_angle():
    net, draw = network(), np.random.default_rng(2)
    state, angles = draw.standard_normal(6), np.linspace(-1.35, 1.35, 40)
    whole = energy_network.landscape(net, state, angles)
    one_by_one = energy_network.evaluate(net, np.tile(state, (40, 1)), angles)
    np.testing.assert_allclose(whole, one_by_one, atol=1e-4)
    assert whole.dtype == np.float32
    assert np.ptp(whole) > 0.1


def test_a_batch_equals_its_members():
    net, draw = network(), np.random.default_rng(3)
    states, angles = draw.standard_normal((3, 4, 6)), draw.uniform(-1.3, 1.3, (3, 4))
    whole = energy_network.evaluate(net, states, angles)
    for row in np.ndindex(3, 4):
        one = energy_network.evaluate(net, states[row][None], angles[row][None])
        np.testing.assert_allclose(whole[row], one[0], atol=1e-4)


def test_arrays_restore_the_network():
    net = network()
    arrays = energy_network.to_arrays(net)
    again = energy_network.from_arrays({name: array.copy() for name, array in arrays.items()})
    for name, array in energy_network.to_arrays(again).items():
        np.testing.assert_array_equal(array, arrays[name])


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("last", None),
        ("first", None),
        ("first", np.zeros((6, HIDDEN))),
        ("second", np.zeros((HIDDEN, 3))),
        ("scale", np.zeros(7)),
        ("first_offset", np.full(HIDDEN, np.nan)),
    ],
)
def test_broken_arrays_are_refused_by_name(name: str, array: np.ndarray | None):
    arrays = energy_network.to_arrays(network())
    if array is None:
        del arrays[name]
    else:
        arrays[name] = array
    with pytest.raises(ValueError, match=name):
        energy_network.from_arrays(arrays)
