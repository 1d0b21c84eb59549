"""The twin pendulum: its equations, its friction, what it hides."""

from dataclasses import replace

import numpy as np

from ricochet.hardware.twins.swung_pendulum import Camera, Nature, SwungPendulum
from ricochet.models.systems.rigid_bodies import pendulum_steps
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies
from tests.models.systems.rigid_bodies.rods import RODS

PLAIN = Nature(RODS, np.zeros(2), np.zeros(4), np.zeros(2))
CAMERA = Camera(rate=400.0, window=20, substeps=4)


def swung(nature: Nature, seed: int = 0, seconds: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    pendulum = SwungPendulum(nature, CAMERA, draw=np.random.default_rng(seed))
    seen = pendulum.swing(seconds)
    return seen, pendulum.truth_for_evaluation()


def test_without_all_that_departs_it_moves_by_the_equations_and_is_seen_as_it_is() -> None:
    seen, truth = swung(PLAIN)
    steps = {"steps": 200, "duration": 1.0 / 400.0, "substeps": 4}
    moved = pendulum_steps.roll_out(Bodies.of(RODS[None]), truth[:1], **steps)[:, 0]
    np.testing.assert_allclose(truth[1:], moved, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(seen, truth[:, :2])


def test_the_more_dry_friction_the_less_of_a_swing_is_left() -> None:
    dry = replace(PLAIN, dry=np.array((2e-3, 0.0)))
    faster = replace(PLAIN, dry=np.array((4e-3, 0.0)))
    reach = [np.abs(swung(each, seconds=3.0)[1][-800:, 0]).max() for each in (PLAIN, dry, faster)]
    assert reach[0] > reach[1] > reach[2]


def test_the_cameras_errors_are_as_wide_as_stated_and_leave_the_motion_alone() -> None:
    """Of 401 frames a deviation is known to within 3.5 %: 11 % are three errors."""
    seen, truth = swung(replace(PLAIN, error=np.array((1e-3, 4e-3))), seconds=1.0)
    np.testing.assert_array_equal(truth, swung(PLAIN, seconds=1.0)[1])
    np.testing.assert_allclose((seen - truth[:, :2]).std(0), (1e-3, 4e-3), rtol=0.11)


def test_departures_begin_with_the_second_window() -> None:
    away = replace(PLAIN, departure=np.array((0.0, 0.0, 0.5, 0.5)))
    apart = np.abs(swung(away)[1] - swung(PLAIN)[1]).max(1)
    assert apart[:21].max() == 0.0 and apart[21] > 0.0


def test_the_same_seed_swings_the_same_and_every_swing_anew() -> None:
    pendulum = SwungPendulum(PLAIN, CAMERA, draw=np.random.default_rng(3))
    first, second = pendulum.swing(0.1), pendulum.swing(0.1)
    assert np.abs(first - second).max() > 0.1
    np.testing.assert_array_equal(first, swung(PLAIN, 3, 0.1)[0])
    np.testing.assert_array_equal(first, pendulum.truth_for_evaluation(0)[:, :2])
