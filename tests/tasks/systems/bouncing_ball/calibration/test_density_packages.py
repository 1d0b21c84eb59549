"""What the package of a density network may compute when it is read."""

import pytest

from ricochet.tasks.systems.bouncing_ball.calibration import density_packages
from tests.crash import whole_packages


def test_layers_and_rows_that_multiply_beyond_all_measure_are_refused(monkeypatch) -> None:
    """A thousand rows in 64 members of 4096 units are 2 GB a layer."""
    package = whole_packages.of_density()
    weights = [array for name, array in package.arrays.items() if name.startswith("weight")]
    widest = max(weight.shape[0] * weight.shape[-1] for weight in weights)
    rows = len(package.inputs["theta"])
    monkeypatch.setattr(density_packages, "MOST_OUTPUTS", widest * rows)
    assert len(density_packages.evaluate(package.arrays, package.inputs)["log_density"]) == rows
    monkeypatch.setattr(density_packages, "MOST_OUTPUTS", widest * rows - 1)
    with pytest.raises(ValueError, match=f"{widest} units for {rows} rows"):
        density_packages.evaluate(package.arrays, package.inputs)
