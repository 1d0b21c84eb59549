"""Which figures a training of energies draws, and under which names.

    flights.png      Fig. 4: shots at the middle of the goal, and how their uncertainty grows
    objective.png        Fig. 5: what each setting chooses for pucks at rest on a grid
    landscapes.png   energy and objective over the angle, for some of them
    histories.png    loss of the held-out states

Figures are those of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for
Robot Air Hockey".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.models.systems.air_hockey.shots import (
    energy_network,
    energy_search,
    goal_probability,
    objective,
)
from ricochet.models.systems.air_hockey.shots.objective import Conditions, Speed
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE
from ricochet.tasks.figures import style
from ricochet.tasks.systems.air_hockey.figures import training
from ricochet.tasks.systems.air_hockey.figures.training import Flight, Landscape
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter

GRID = (np.linspace(-0.7, -0.2, 5), np.linspace(-0.35, 0.35, 7))
"""Pucks of Fig. 5, x and y, m."""
SHOWN = (-0.5, 0.15)
"""The puck of Fig. 4, m."""
FLIGHTS = ((1.2, 0), (2.0, 0), (1.2, 1))
"""Speed of the mallet, m/s, and banks of the shots of Fig. 4."""
PUCKS = ((-0.6, 0.0), (-0.4, 0.3), (-0.25, -0.2))
"""Those of the landscapes, m."""
FINE = np.linspace(-LARGEST_ANGLE, LARGEST_ANGLE, 541)
"""Angles tried, rad."""


def draw(
    shooters: Mapping[str, Shooter],
    losses: Mapping[str, Sequence[float]],
    *,
    candidates: int,
    aim: float,
    folder: Path,
) -> None:
    """Draw every figure of a training into a folder.

    The aim errs by a standard deviation of each axis of mallet against puck at contact, m.
    """
    conditions = next(iter(shooters.values())).conditions(aim=aim)
    drawn = {
        "flights": _flights(conditions),
        "shots": _chosen(shooters, conditions),
        "landscapes": training.landscapes(
            {name: _landscapes(shooter, conditions) for name, shooter in shooters.items()}
        ),
        "histories": training.histories(losses, candidates=candidates),
    }
    style.write(folder, drawn)


def found(shooter: Shooter, states: Float[ndarray, "state 6"]) -> Float[ndarray, " state"]:
    """Return the angles that a policy's search finds for pucks at contact, rad."""
    generator = np.random.default_rng(0)
    return np.array([energy_search.search(shooter.energy, s, draw=generator) for s in states])


def _flights(conditions: Conditions) -> Figure:
    """Draw the shots of Fig. 4, each with a mallet of a given speed."""
    rows, state = [], np.array([*SHOWN, 0.0, 0.0, 0.0, 0.0])
    for speed, banks in FLIGHTS:
        given = replace(conditions, speed=_constant(speed))
        tried = objective.evaluate(given, np.broadcast_to(state, (len(FINE), 6)), FINE)
        aimed = np.where((tried.banks == banks) & (tried.speed > 0.0), np.abs(tried.y), np.inf)
        best = int(aimed.argmin())
        means, covariances = _path(given, state, FINE[best])
        kind = training.BANKS[banks]
        title = f"{kind}, mallet at {speed:g} m/s: goal with probability {tried.goal[best]:.2f}"
        rows.append(Flight(title, means[:, :2], covariances[:, :2, :2], float(FINE[best])))
    return training.flights(rows, conditions.table)


def _constant(speed: float) -> Speed:
    """Return an arm that is as fast everywhere."""
    return lambda places, angles: np.full_like(angles, speed)


def _chosen(shooters: Mapping[str, Shooter], conditions: Conditions) -> Figure:
    """Draw the shots that each policy chooses for the pucks of Fig. 5."""
    places = np.stack(np.meshgrid(*GRID), -1).reshape(-1, 2)
    states = np.concatenate((places, np.zeros((len(places), 4))), 1)
    paths, banks = {}, {}
    for name, shooter in shooters.items():
        angles = found(shooter, states)
        banks[name] = objective.evaluate(conditions, states, angles).banks
        each = zip(states, angles, strict=True)
        paths[name] = [_path(conditions, *shot)[0][:, :2] for shot in each]
    return training.chosen_shots(paths, banks, conditions.table)


def _landscapes(shooter: Shooter, conditions: Conditions) -> list[Landscape]:
    """Return a policy's energy and objective over the angle for some pucks."""
    states = np.array([[*place, 0.0, 0.0, 0.0, 0.0] for place in PUCKS])
    shape = (len(states), len(FINE))
    tried = objective.exhaustive(conditions, states, np.broadcast_to(FINE, shape))
    setting = shooter.setting
    allowed = objective.feasible(setting, tried)
    values = np.where(allowed, objective.objective(setting, tried), np.nan)
    best, angles = objective.best(setting, tried), found(shooter, states)
    return [
        Landscape(
            title=f"puck at ({state[0]:g}, {state[1]:g}) m",
            angles=FINE,
            energy=energy_network.landscape(shooter.energy, state, FINE).astype(np.float64),
            objective=values[row],
            best=float(FINE[best[row]]),
            found=float(angles[row]),
        )
        for row, state in enumerate(states)
    ]


def _path(
    conditions: Conditions, state: Float[ndarray, " 6"], angle: float
) -> tuple[Float[ndarray, "time 6"], Float[ndarray, "time 6 6"]]:
    """Return mean and covariance of the puck's state from the strike to the goal line."""
    struck = objective.contact(conditions, state[None], np.array([angle]))
    mean, spread = objective.launched(conditions, state[None], *struck)
    return goal_probability.path(conditions.modes, mean[0], spread[0], conditions.table)
