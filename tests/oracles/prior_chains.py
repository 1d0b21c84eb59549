"""Sessions of whole chains of bounces of which everything is drawn from its prior.

The law is a member of the family of a ball of unknown size, each with equal chances, its parameters
have the laws of `chains.parameters`, and height, tilt and the array's errors are those of one
session, as `chains.observations` states them. What is inferred of such sessions holds the truth as
often as it says, if it is the posterior. Sessions with an interval shorter than `SHORTEST`, in
which a detector finds no second bounce, or a place farther than `FARTHEST`, where the array's
errors have no first order, are drawn again: what is kept depends on what was observed alone, so
that the posterior of what is kept stays what it was.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones import interface
from ricochet.models.sound import array_errors
from ricochet.models.systems.bouncing_ball import family_simulator
from ricochet.models.systems.bouncing_ball.chains import family, parameters
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, TILT_SD, Take
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.simulator import Bounces

SHORTEST = 0.01
"""s."""
FARTHEST = 1.0
"""From the middle of the array, m per axis."""
HEIGHT, HEIGHT_SD = 0.26, 5e-3
TIME_SD, PLACE_SD = 3e-5, 2e-3
STARTED = 0.2
_ROUNDS = 8
ARRAY = interface.default_rig("simulated").array()


@dataclass(frozen=True)
class PriorSession:
    """A session and what it was drawn with, in the coordinates of `parameters`."""

    takes: list[Take]
    member: str
    theta: Float[ndarray, " parameter"]
    shared: Float[ndarray, " error"]


def session(takes: int, bounces: int, *, seed: int) -> PriorSession:
    """Draw a session."""
    draw = np.random.default_rng(seed)
    while True:
        found = _session(takes, bounces, draw)
        shortest = min(np.diff(take.times).min() for take in found.takes)
        farthest = max(np.abs(take.places).max() for take in found.takes)
        if shortest > SHORTEST and farthest < FARTHEST:
            return found


def theta_of(prior: Prior, draw: np.random.Generator) -> Float[ndarray, " parameter"]:
    """Draw coordinates from a prior."""
    theta = np.where(prior.spread > 0.0, prior.centre, 0.0)
    free = prior.free
    theta[free] += prior.spread[free] * draw.standard_normal(len(free))
    theta[:2] = draw.uniform(*parameters.BOX)
    return np.asarray(theta)


def _session(takes: int, bounces: int, draw: np.random.Generator) -> PriorSession:
    priors = family.members(family.drag_prior(None, 20.0))
    member = str(draw.choice(list(priors)))
    prior = priors[member]
    theta = theta_of(prior, draw)
    values = parameters.values(theta[None])
    errors = len(SHARED) + len(array_errors.errors(len(ARRAY.positions)).names)
    shared = draw.standard_normal(errors)
    found = _dropped(prior, values, shared, (takes, bounces), draw)
    return PriorSession(_observed(found, values, shared, draw), member, theta, shared)


def _dropped(
    prior: Prior,
    values: parameters.Values,
    shared: Float[ndarray, " error"],
    size: tuple[int, int],
    draw: np.random.Generator,
) -> Bounces:
    takes, bounces = size
    numbers = torch.Generator().manual_seed(int(draw.integers(2**62)))
    units = {name: torch.from_numpy(np.repeat(v, takes)) for name, v in vars(values).items()}
    starts = family_simulator.start_velocities(
        (takes,), horizontal_sd=float(values.release_speed[0]), draw=numbers
    )
    return family_simulator.simulate(
        family_simulator.contact_by_take(units, draw=numbers),
        starts,
        drop_height=HEIGHT * float(np.exp(HEIGHT_SD / HEIGHT * shared[0])),
        law=prior.law,
        around=Surroundings(units["drag"], torch.from_numpy(TILT_SD * shared[1:3])),
        bounces=bounces,
        draw=numbers,
    )


def _observed(
    found: Bounces,
    values: parameters.Values,
    shared: Float[ndarray, " error"],
    draw: np.random.Generator,
) -> list[Take]:
    times, places = found.times.numpy(), found.positions.numpy()[..., :2]
    times = times - times[:, :1] + STARTED
    rows = []
    for when, where in zip(times, places, strict=True):
        late = values.time_noise * TIME_SD * draw.standard_normal(len(when))
        off = values.place_noise * PLACE_SD * draw.standard_normal(where.shape)
        own, seen = shared[len(SHARED) :], where
        for _ in range(_ROUNDS):  # until where = seen - A(seen) f
            moved = array_errors.distortion(seen, when, microphones=ARRAY)
            seen = where + moved.places @ own
        seen = seen + off
        moved = array_errors.distortion(seen, when, microphones=ARRAY)
        none = np.zeros((len(when), 2, len(SHARED)))
        rows.append(
            Take(
                times=when + late,
                places=seen,
                time_sd=np.full(len(when), TIME_SD),
                place_sd=np.full(len(when), PLACE_SD),
                height=HEIGHT,
                height_sd=HEIGHT_SD,
                session=0,
                distortion=np.concatenate((none, moved.places), -1),
                areas=np.concatenate((none[:, 0], moved.areas), -1),
            )
        )
    return rows
