"""Packages of pendulums that tests of the gate have in common, honest and overconfident."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from ricochet.models.systems.rigid_bodies.pendulum_coordinates import PendulumCoordinates
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW, PARAMETERS, UNITS
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.storage.files import digest_of, sha256
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies import particle_packages, pendulum_inference
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum
from tests.models.systems.rigid_bodies import rods


def package(draws: Draws, files: list[Path], particles: int = 10) -> Package:
    """Return the package of some draws, learnt from a first half second of files."""
    low, high = np.minimum(LOW, 1e-6), HIGH
    bounds = zip(PARAMETERS, UNITS, low, high, strict=True)
    settings = catalogue.load_settings().changed(
        Pendulum, span=0.5, instants=[0.0], particles=particles
    )
    return Package(
        name="pendulum-rods",
        kind=particle_packages.KIND,
        parameters=tuple(
            Parameter(name, unit, float(low) - 1.0 if low < 0.0 else 0.0, float(high) + 1.0)
            for name, unit, low, high in bounds
        ),
        arrays=particle_packages.arrays_of(draws),
        inputs=particle_packages.watched(draws),
        checks={},
        data_digest=digest_of([sha256(file) for file in files]),
        git_commit="unknown",
        settings={"pendulum": asdict(settings[Pendulum]), "rate": draws.rate},
    )


def recorded(folder: Path, seconds: float = 4.0, seed: int = 0) -> Path:
    """Write the angles of a motion of two rods, seen with little error."""
    draw = np.random.default_rng(seed)
    own = rods.draws(1, spread=0.0, departing=False)
    start = rods.starts(1, draw)
    states = rods.swung(own, start, round(seconds * rods.RATE), draw)[:, 0, :2]
    seen = states + 1e-3 * draw.normal(size=states.shape)
    lines = ["angle_1,angle_2", *(f"{a:.9g},{b:.9g}" for a, b in seen)]
    file = folder / f"run-{seed}.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def squeezed(honest: Package, division: float) -> Package:
    """Return a package whose covariance is divided, in coordinates in which it is all but normal.

    In those of the parameters themselves draws would leave the bent ridge on which motions agree.
    """
    coordinates = PendulumCoordinates(pendulum_inference.limits())
    x = coordinates.of(torch.from_numpy(np.array(honest.arrays["samples"])))
    middle = x.mean(0)
    theta = coordinates.parameters(middle + (x - middle) / division**0.5).numpy()
    draws = replace(particle_packages.draws_of(honest), theta=theta)
    return replace(honest, arrays=particle_packages.arrays_of(draws))
