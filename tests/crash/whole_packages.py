"""A sound package of every kind that the registry holds, small and quick to make."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from ricochet.models.inference import density_arrays, mixture_density_networks
from ricochet.models.inference.mixture_density_networks import Training
from ricochet.models.systems.bouncing_ball import problem
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.systems.air_hockey.policies import packages as policies
from ricochet.tasks.systems.batting import packages as batting
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.calibration import density, density_packages
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.drawers import packages as drawers
from ricochet.tasks.systems.rigid_bodies import model_packages, particle_packages
from tests import grid_packages
from tests.tasks.systems.air_hockey import shooters
from tests.tasks.systems.batting import batters
from tests.tasks.systems.bouncing_ball import test_family_package
from tests.tasks.systems.drawers import test_packages as test_drawers
from tests.tasks.systems.rigid_bodies import test_particle_packages

KINDS = ("grid", "family", "density", "particles", "draws", "drawer", "batting", "shooting")
READERS: dict[str, Reader] = {
    "grid": GRID,
    "family": GRID,
    "density": density_packages.READER,
    "particles": particle_packages.READER,
    "draws": model_packages.READER,
    "drawer": drawers.READER,
    "batting": batting.READER,
    "shooting": policies.READER,
}


def made(kind: str, folder: Path) -> Package:
    """Return a sound package of a kind; a folder that is not there takes what is written of it."""
    if kind == "grid":
        return grid_packages.narrow()
    if kind == "family":
        return contact_package.with_contacts(grid_packages.narrow(), test_family_package.draws())
    if kind == "density":
        return of_density()
    if kind == "particles":
        return test_particle_packages.package()
    if kind == "draws":
        return of_draws()
    if kind == "drawer":
        drawer = drawers.Drawer(
            replace(test_drawers.hearings.random(3), grammar=test_drawers.Grammar(*GRAMMAR)),
            test_drawers.PLACES,
        )
        test_drawers.write(drawer, folder)
    elif kind == "batting":
        batters.written(folder)
    else:
        shooters.write(folder)
    return read_package(folder, reader=READERS[kind])


GRAMMAR = (0.01, 0.29, 0.7, 0.1, 0.2, 1.5, 0.3, 0.93)


def of_density() -> Package:
    """Return a package of a network that was trained for a moment."""
    draw = torch.Generator().manual_seed(0)
    theta, inputs = density.training_pairs(200, draw=draw)
    training = Training(components=3, hidden=8, steps=20)
    fit = mixture_density_networks.fit(
        theta, inputs, box=problem.PRIOR, training=training, draw=draw
    )
    rows = slice(0, density_packages.REFERENCES)
    return Package(
        kind=density_packages.KIND,
        name="ball-density",
        parameters=density_packages.parameters(),
        arrays=density_arrays.to_arrays(fit.density),
        inputs={
            "theta": theta[rows].numpy(),
            "values": inputs.values[rows].numpy(),
            "location": inputs.coordinates.location[rows].numpy(),
            "scale": inputs.coordinates.scale[rows].numpy(),
        },
        checks={"held_out": 3.0},
        data_digest="0" * 64,
        git_commit="unknown",
    )


def of_draws() -> Package:
    """Return a package of draws of two numbers of a model."""
    samples = np.random.default_rng(0).normal(0.0, 1.0, (200, 2))
    noise = np.full((200, 3), 0.1)
    return Package(
        kind=model_packages.KIND,
        name="model-crane",
        parameters=tuple(Parameter(name, "kg", -9.0, 9.0) for name in ("a", "b")),
        arrays={
            "samples": samples,
            "observation": noise,
            "departure": noise,
            "mean": samples.mean(0),
            "covariance": np.cov(samples.T),
        },
        inputs=model_packages.inputs(),
        checks={},
        data_digest="0" * 32,
        git_commit="unknown",
    )
