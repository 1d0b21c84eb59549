"""The generator of drawer sounds is the one that was frozen."""

from pathlib import Path

import numpy as np

from ricochet.hardware.twins.drawers import frozen
from ricochet.hardware.twins.drawers.generator import takes
from ricochet.hardware.twins.drawers.generator.takes import Setting

PAGE = Path("docs/systems/drawers.md")


def test_the_generator_is_the_one_that_was_frozen() -> None:
    """Its results are others after an edit: `DIGEST`, and what was measured, must be made anew."""
    assert frozen.digest() == frozen.DIGEST


def test_the_page_names_the_digest() -> None:
    assert frozen.DIGEST in PAGE.read_text()


def test_a_recording_is_what_it_was() -> None:
    """Rooms and arrays are not of the generator's sources, and decide its sound as well."""
    take = takes.record(Setting("cabinet-top", seconds=4.0, light_off=2.0), 7)
    levels = np.sqrt((take.samples.astype(float) ** 2).mean(1))
    known = [0.00815985, 0.00861725, 0.00931913, 0.00873245, 0.00907004, 0.01024201]
    np.testing.assert_allclose(levels, known, rtol=1e-4)
    samples = [-1.525377e-4, 5.959047e-4, -9.407274e-3, 9.985806e-4]
    np.testing.assert_allclose(take.samples[0, :32_000:8000], samples, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(take.motion[60:180:60, 1], [0.0376672, 0.3266647], atol=1e-5)
