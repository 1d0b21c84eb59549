"""Which packages of the bouncing ball the registry holds: posteriors and the density network."""

from ricochet.tasks.registry.kinds import PackageKind, Reader


def _grid_reader() -> Reader:
    from ricochet.tasks.systems.bouncing_ball import grid_package

    return grid_package.GRID


def _density_reader() -> Reader:
    from ricochet.tasks.systems.bouncing_ball.calibration import density_packages

    return density_packages.READER


POSTERIOR = PackageKind(
    pattern="<ball>-<surface>",
    prefix="",
    matches=lambda name: all(name.rpartition("-")),
    refuse=lambda name: None,
    load_reader=_grid_reader,
    made_by="ricochet calibrate",
)
"""A posterior of one ball on one surface; any ball and surface may be calibrated."""

DENSITY = PackageKind(
    pattern="ball-density",
    prefix="ball-density",
    matches=lambda name: name == "ball-density",
    refuse=lambda name: None,
    load_reader=_density_reader,
    made_by="ricochet train density",
)
"""The conditional density of the bouncing ball, `calibration.density_packages`."""
