from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.sound import array_errors, array_findings, array_misfit, multilateration
from ricochet.models.sound.arrays import Microphones

FIVE = Microphones(
    np.array(
        [
            [-0.30, -0.25, 0.0762],
            [0.25, -0.30, 0.0762],
            [0.0, 0.32, 0.0762],
            [0.4, 0.35, 0.15],
            [-0.45, 0.2, 0.1],
        ]
    ),
    44100.0,
)
FOUR = replace(FIVE, positions=FIVE.positions[:4])
SD = 1e-6  # s


def arrivals(microphones, sizes, draw, count=60):
    """Of impacts all over the table, recorded by an array with these errors."""
    array, delays, drifts = array_errors.corrected(microphones, sizes)
    places, since = draw.uniform(-0.2, 0.2, (count, 2)), draw.uniform(0.1, 1.5, count)
    travel, _ = multilateration.gradients(places, microphones=array)
    exact = (since[:, None] + travel + delays) * (1.0 + drifts)
    return exact + SD * draw.standard_normal(exact.shape)


def infer(microphones, taken):
    return array_misfit.infer(taken, np.full(taken.shape, SD), microphones=microphones)


@pytest.mark.proof
@pytest.mark.parametrize("microphones", [FOUR, FIVE])
def test_errors_lie_in_their_posterior(microphones):
    draw = np.random.default_rng(0)
    sd = array_errors.errors(len(microphones.positions)).sd
    squares = []
    for _ in range(8):
        f = draw.standard_normal(len(sd))
        found = infer(microphones, arrivals(microphones, 0.3 * f * sd, draw))
        away = found.mean - 0.3 * f
        values, vectors = np.linalg.eigh(found.covariance)
        told = values < 0.01  # directions that the misfit tells; the prior has f three times wider
        squares += list((vectors.T @ away)[told] ** 2 / values[told])
    # deviations are stated with a floor of 1 us beside the 1 us of the data: 1/2 on average;
    # of n squares the mean errs by sqrt(2/n)/2; three of them
    assert np.mean(squares) == pytest.approx(0.5, abs=3 * np.sqrt(0.5 / len(squares)))


@pytest.mark.parametrize(
    ("name", "size", "said"),
    [
        ("delay of channel 1", 2e-4, "channel 1 lags by 0.20 ms"),
        ("drift of channel 3", 20 / 44100.0, "the clock of channel 3 drifts by 20 samples/s"),
        ("drift of channel 2", 5 / 44100.0, "the clock of channel 2 drifts by 5 samples/s"),
    ],
)
def test_gross_errors_are_named_whatever_a_tenth_of_the_impacts_says(name, size, said):
    draw = np.random.default_rng(1)
    sizes = np.zeros(len(array_errors.errors(5).sd))
    sizes[array_errors.errors(5).names.index(name)] = size
    taken = arrivals(FIVE, sizes, draw)
    taken[:6] += 3e-4 * draw.standard_normal((6, 5))
    found = infer(FIVE, taken)
    said_of_it = array_findings.findings(
        found.mean, found.covariance, channels=5, sample_rate=44100.0
    )
    assert said_of_it[0].text.startswith(said)


def test_an_array_that_is_shifted_has_no_misfit():
    sizes = np.zeros(len(array_errors.errors(4).sd))
    sizes[0:12:3] = 0.03
    found = infer(FOUR, arrivals(FOUR, sizes, np.random.default_rng(2)))
    assert array_findings.findings(
        found.mean, found.covariance, channels=4, sample_rate=44100.0
    ) == ()  # fmt: skip


def test_three_microphones_tell_nothing():
    three = replace(FIVE, positions=FIVE.positions[:3])
    sizes = 0.3 * array_errors.errors(3).sd
    found = infer(three, arrivals(three, sizes, np.random.default_rng(3)))
    np.testing.assert_allclose(found.covariance, np.eye(14), atol=1e-6)
    np.testing.assert_allclose(found.mean, 0.0, atol=1e-6)


def test_the_order_of_impacts_does_not_matter():
    taken = arrivals(FOUR, 0.2 * array_errors.errors(4).sd, np.random.default_rng(4), count=20)
    here, there = infer(FOUR, taken), infer(FOUR, taken[::-1])
    np.testing.assert_allclose(here.mean, there.mean, atol=1e-6)
