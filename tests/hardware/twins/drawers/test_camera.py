"""The simulated depth camera: points where they are, but for noise, until the light goes off."""

import numpy as np
import pytest

from ricochet.hardware.twins.drawers import camera


def test_points_of_the_front_move_as_the_drawer_does() -> None:
    times = np.arange(0.0, 20.0, 0.01)
    positions = 0.15 * (1.0 - np.cos(times))
    found = camera.film(times, positions, 12.0, np.random.default_rng(0))
    assert found.times[-1] < 12.0 and found.moving.shape == (len(found.times), 15, 3)
    opening = np.interp(found.times, times, positions)
    moved = np.nanmedian(found.moving - found.moving[:1], axis=1) @ found.axis
    # A median of 15 points that err by 2.5 mm, against a first image that errs as well.
    assert np.abs(moved - opening).mean() < 3e-3
    still = np.nanmedian(found.fixed - np.nanmedian(found.fixed, axis=0), axis=(0, 1))
    assert np.abs(still).max() < 1e-3
    hidden = np.isnan(found.moving[..., 0]).mean()
    assert hidden == pytest.approx(camera.HIDDEN, abs=0.03)
