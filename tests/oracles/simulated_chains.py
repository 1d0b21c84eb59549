"""Sessions of whole chains of bounces, simulated by the family, as a detector would state them."""

from dataclasses import dataclass, field

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball import contact, family_simulator, problem
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings

UNITS = {
    "restitution": 0.85,
    "concentration": 10**3.5,
    "slope": 0.0,
    "drag": 1e-5,
    "tangential_loss": 0.0,
    "tail_share": 1e-12,
    "tail_ratio": 0.1,
    "scatter": 3e-4,
    "take_scatter": 1e-6,
    "release_speed": 0.1,
    "time_noise": 1.0,
    "place_noise": 1.0,
}


def values(points: int = 1, **other: float) -> Values:
    """Return the paper's ball, but for what is named, at some equal points."""
    return Values(**{name: np.full(points, v) for name, v in (UNITS | other).items()})


@dataclass(frozen=True)
class Case:
    """A ball on a surface and a rig."""

    takes: int = 20
    bounces: int = 10
    height: float = 0.26
    stated: float | None = None
    tilt: tuple[float, float] = (0.0, 0.0)
    time_sd: float = 1e-4
    place_sd: float = 5.35e-3
    law: RestitutionLaw = contact.constant
    units: dict[str, float] = field(default_factory=dict)


def session(case: Case, seed: int) -> list[Take]:
    """Simulate the takes of one session."""
    draw = torch.Generator().manual_seed(seed)
    units = UNITS | {"scatter": 0.0, "tail_share": 0.0} | case.units
    column = {
        name: torch.full((case.takes,), value, dtype=torch.float64) for name, value in units.items()
    }
    ball = family_simulator.contact_by_take(column, draw=draw)
    starts = family_simulator.start_velocities(
        (case.takes,), horizontal_sd=units["release_speed"], draw=draw
    )
    around = Surroundings(column["drag"], torch.tensor(case.tilt, dtype=torch.float64))
    found = family_simulator.simulate(
        ball, starts, drop_height=case.height, law=case.law, around=around,
        bounces=case.bounces, draw=draw,
    )  # fmt: skip
    noise = problem.constant_noise((case.takes,), time_sd=case.time_sd, position_sd=case.place_sd)
    times, places = problem.measure(found, noise, draw=draw)
    stated = case.height if case.stated is None else case.stated
    errors = np.full(case.bounces, case.time_sd), np.full(case.bounces, case.place_sd)
    none = {"distortion": np.zeros((case.bounces, 2, 3)), "areas": np.zeros((case.bounces, 3))}
    return [
        Take(t, p, *errors, height=stated, height_sd=5e-3, session=0, **none)
        for t, p in zip(times.numpy(), places.numpy(), strict=True)
    ]
