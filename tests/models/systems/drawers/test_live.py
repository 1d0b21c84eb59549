"""Sound that comes in buffers gives what the whole recording gives, whatever the buffers."""

import subprocess
import sys

import numpy as np
import pytest

from ricochet.models.systems.drawers import features, hearing, live
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import FRAME
from ricochet.models.systems.drawers.tracking import follower
from ricochet.models.systems.drawers.tracking.pace import Seen
from tests.models.systems.drawers import hearings

CHANNELS, FRAMES = 3, 24


@pytest.fixture(scope="module")
def heard() -> Hearing:
    return hearings.random(CHANNELS)


@pytest.fixture(scope="module")
def samples() -> np.ndarray:
    draw = np.random.default_rng(4)
    loud = np.repeat(draw.uniform(0.001, 0.3, 2 * FRAMES), FRAME // 2)
    return loud * draw.standard_normal((CHANNELS, FRAMES * FRAME))


@pytest.mark.parametrize("size", [176, FRAME, 5000])
def test_buffers_of_any_size_give_what_the_whole_gives(
    heard: Hearing, samples: np.ndarray, size: int
) -> None:
    said = hearing.listen(heard, features.of_samples(samples))
    whole = follower.follow(said.heard(), [None] * FRAMES, heard.grammar)
    stream, found = live.begin(heard, CHANNELS), []
    for begin in range(0, samples.shape[1], size):
        stream, more = live.feed(stream, samples[:, begin : begin + size])
        found += more
    assert stream.frames == len(found) == FRAMES
    for name in ("place", "deviation", "low", "high", "opening"):
        live_values = np.array([getattr(each, name) for each in found])
        np.testing.assert_allclose(live_values, getattr(whole, name), atol=1e-9)


@pytest.mark.parametrize("size", [176, FRAME])
def test_a_drawer_that_is_seen_at_first_is_followed_as_offline(
    heard: Hearing, samples: np.ndarray, size: int
) -> None:
    """Pace and rehearsal too: what is seen goes with the buffer that ends its frame."""
    lit = FRAMES // 2
    seen = [Seen(0.10 + 0.004 * k, 0.002) for k in range(lit)]
    said = hearing.listen(heard, features.of_samples(samples))
    padded: list[Seen | None] = [*seen, *[None] * (FRAMES - lit)]
    whole = follower.follow(said.heard(), padded, heard.grammar)
    stream, found = live.begin(heard, CHANNELS), []
    for begin in range(0, samples.shape[1], size):
        number = min(begin + size, samples.shape[1]) // FRAME - 1
        now = padded[number] if 0 <= number < FRAMES else None
        stream, more = live.feed(stream, samples[:, begin : begin + size], now)
        found += more
    for name in ("place", "deviation", "low", "high"):
        live_values = np.array([getattr(each, name) for each in found])
        np.testing.assert_allclose(live_values, getattr(whole, name), atol=1e-9)


def test_what_is_seen_is_said(heard: Hearing, samples: np.ndarray) -> None:
    stream, (found,) = live.feed(live.begin(heard, CHANNELS), samples[:, :FRAME], Seen(0.12, 0.002))
    assert found.place == 0.12 and found.deviation == 0.002
    _, (after,) = live.feed(stream, samples[:, FRAME : 2 * FRAME])
    assert abs(after.place - 0.12) < 0.1 and after.deviation > 0.002


def test_other_channels_and_samples_that_are_no_numbers_are_refused(heard: Hearing) -> None:
    stream = live.begin(heard, CHANNELS)
    with pytest.raises(ValueError, match="2 channels, expected 3"):
        live.feed(stream, np.zeros((2, 100)))
    with pytest.raises(ValueError, match="not finite"):
        live.feed(stream, np.full((3, 100), np.nan))


NUMPY_ALONE = """
import sys
sys.modules.update(dict.fromkeys(("scipy", "torch", "numba", "mlflow", "prefect", "librosa")))
import numpy as np
from ricochet.models.inference.small_networks import Network
from ricochet.models.systems.drawers import controller, features
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.models.systems.drawers.direction.estimator import DirectionEstimator
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import FRAME
from ricochet.models.systems.drawers.place.estimator import PlaceEstimator
from ricochet.models.systems.drawers.speed.estimator import SpeedEstimator
from ricochet.models.systems.drawers.tracking.pace import Seen

draw = np.random.default_rng(0)
sizes = features.of_samples(np.ones((3, FRAME)))

def network(inputs):
    shapes = ((inputs, 8), (8, 8), (8, 2))
    weights = tuple(0.01 * draw.standard_normal((2, *shape)) for shape in shapes)
    biases = tuple(np.zeros((2, 1, shape[1])) for shape in shapes)
    return Network(np.zeros(inputs), np.full(inputs, 20.0), weights, biases, 0.2)

heard = Hearing(
    SpeedEstimator(network(sizes.speed.shape[1]), np.ones(4)),
    PlaceEstimator(network(sizes.place.shape[1]), 0.0, 1.0, 1.0),
    DirectionEstimator(network(sizes.direction.shape[1]), 1.0),
    Grammar(0.0, 0.3),
)
one = controller.make(heard, 3)
for number in range(120):
    seen = Seen(0.1 + 0.05 * np.sin(0.1 * number), 0.003) if number < 60 else None
    goal = one.hear(0.05 * draw.standard_normal((3, 176)), seen)
print(goal, one.estimate.place, one.stream.frames)
"""


def test_a_drawer_is_followed_with_numpy_alone() -> None:
    """Features, networks, belief, rehearsal, hand and controller, lit and dark."""
    ran = subprocess.run(
        [sys.executable, "-c", NUMPY_ALONE], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    goal, place, frames = map(float, ran.stdout.split())
    assert 0.0 < place < 0.3 and place < goal < 1.0 and frames == 120 * 176 // FRAME
