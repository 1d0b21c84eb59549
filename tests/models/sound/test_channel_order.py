import numpy as np
import pytest

from ricochet.models.sound import channel_order, multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.channel_order import Impacts

THREE = Microphones(
    np.array([[-0.30, -0.25, 0.0762], [0.25, -0.30, 0.0762], [0.0, 0.32, 0.0762]]), 44100.0
)
FOUR = Microphones(np.vstack([THREE.positions, [[0.4, 0.35, 0.15]]]), 44100.0)
FIVE = Microphones(np.vstack([FOUR.positions, [[-0.45, 0.2, 0.1]]]), 44100.0)
SD = 2e-7  # s


def impacts(microphones, draw, *, count=40, order=None, survey=1.5e-3, directivity=0.0):
    """Arrivals and loudness of impacts all over the table, the channels in another order."""
    channels = len(microphones.positions)
    places = draw.normal(0.0, 0.1, (count, 2))
    error = survey * draw.standard_normal(microphones.positions.shape)
    true = Microphones(microphones.positions + error, 44100.0)
    travel, _ = multilateration.gradients(places, microphones=true)
    angle = np.arctan2(*np.moveaxis(places[:, None] - true.positions[:, :2], -1, 0))
    loudness = -np.log(travel) + draw.normal(0.0, 0.5, channels)
    loudness += directivity * np.cos(angle + draw.uniform(0.0, 6.0, channels))
    loudness += 0.005 * draw.standard_normal(loudness.shape)
    arrivals = 0.3 + travel + SD * draw.standard_normal(travel.shape)
    index = list(order or range(channels))
    return Impacts(arrivals[:, index], np.full((count, channels), SD), loudness[:, index])


@pytest.mark.parametrize(
    ("microphones", "order"),
    [
        (THREE, (0, 2, 1)),
        (THREE, (2, 1, 0)),
        (THREE, (1, 2, 0)),
        (FOUR, (1, 0, 2, 3)),
        (FOUR, (0, 1, 3, 2)),
        (FIVE, (0, 4, 2, 3, 1)),
    ],
)
def test_channels_in_another_order_are_found(microphones, order):
    """Channel n holds microphone order[n], so that microphone m is on channel order^-1[m]."""
    count = 40 if microphones is THREE else 12
    taken = impacts(microphones, np.random.default_rng(0), count=count, order=order)
    found = channel_order.swapped(taken, microphones)
    assert found == tuple(np.argsort(order))


@pytest.mark.slow
@pytest.mark.parametrize("microphones", [THREE, FOUR, FIVE])
def test_channels_in_order_are_left_alone(microphones):
    draw = np.random.default_rng(1)
    for _ in range(4):
        assert channel_order.swapped(impacts(microphones, draw), microphones) is None


@pytest.mark.proof
@pytest.mark.parametrize("directivity", [0.0, 0.05, 0.2])
def test_no_array_in_order_is_refused(directivity):
    """A microphone louder in some directions, a survey that errs by 5 mm: no false alarm."""
    draw = np.random.default_rng(2)
    for _ in range(10):
        for microphones in (THREE, FOUR):
            taken = impacts(microphones, draw, count=20, survey=5e-3, directivity=directivity)
            assert channel_order.swapped(taken, microphones) is None


@pytest.mark.slow
def test_gains_of_channels_and_loudness_of_impacts_do_not_matter():
    draw = np.random.default_rng(3)
    taken = impacts(THREE, draw, order=(0, 2, 1))
    other = Impacts(
        taken.arrivals + draw.uniform(0.0, 1.0, (40, 1)),
        taken.sd,
        taken.loudness + draw.normal(0.0, 1.0, (40, 1)) + np.array([0.3, -0.2, 0.1]),
    )
    for each in (taken, other):
        assert channel_order.swapped(each, THREE) == (0, 2, 1)


def test_stated_places_in_the_same_other_order_are_right():
    order = [0, 2, 1]
    taken = impacts(THREE, np.random.default_rng(4), order=tuple(order))
    exchanged = Microphones(THREE.positions[order], 44100.0)
    assert channel_order.swapped(taken, exchanged) is None


def test_few_impacts_or_two_microphones_are_not_judged():
    draw = np.random.default_rng(5)
    few = impacts(FOUR, draw, count=5, order=(1, 0, 2, 3))
    assert channel_order.swapped(few, FOUR) is None
    pair = Microphones(THREE.positions[:2], 44100.0)
    assert channel_order.swapped(impacts(pair, draw), pair) is None
