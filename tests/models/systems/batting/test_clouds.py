"""Many objects at once: as one by one; and machine code as plain Python."""

import json
import subprocess
import sys

import numpy as np
import pytest

from ricochet.models.core import compiled
from ricochet.models.systems.batting import clouds, motion
from tests.checkouts import python_path
from tests.models.systems.batting import scenes

PLAIN = """
import sys
sys.modules["numba"] = None  # as if it were not installed
import json
from tests.models.systems.batting import test_clouds
print(json.dumps(test_clouds.moved_and_seen().tolist()))
"""


def moved_and_seen() -> np.ndarray:
    """A few objects after a second under a rising bat, beside their readings."""
    cloud = scenes.objects(12, 31, -0.2)
    counts = scenes.counts(12, 5)
    for frame in range(20):
        bat = (-0.2 + 0.02 * frame, 0.4)
        closest = clouds.move(cloud.states, cloud.kinds, bat, 0.05, scenes.noisy(), counts)
    ends = clouds.readings(cloud.states, cloud.kinds, scenes.noisy())
    return np.column_stack([cloud.states, counts, closest, ends])


def test_a_batch_moves_as_its_members_do() -> None:
    cloud = scenes.objects(60, 30)
    states, counts = cloud.states.copy(), scenes.counts(60, 7)
    closest = clouds.move(states, cloud.kinds, (0.0, 0.3), 1.0, scenes.noisy(), counts)
    for i in range(60):
        state, count = cloud.states[i].copy(), np.array([7, 0, 0])
        bat = (0.0, 0.3)
        found = motion.advance(state, cloud.kinds[i], bat, 1.0, scenes.noisy(), count, False)
        np.testing.assert_array_equal(states[i], state)
        np.testing.assert_array_equal(counts[i], count)
        assert found == (1.0, closest[i])
    assert (counts[:, 1] > 0).any() and (counts[:, 1] == 0).any()


@pytest.mark.slow
@pytest.mark.skipif(not compiled.available(), reason="numba is not installed")
def test_machine_code_moves_objects_as_plain_python_does() -> None:
    """Sums may be contracted by the compiler: 1e-9 after a few impacts."""
    done = subprocess.run(
        [sys.executable, "-c", PLAIN],
        env={"PYTHONPATH": f"{python_path()}:."},
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_allclose(np.array(json.loads(done.stdout)), moved_and_seen(), atol=1e-9)
