"""Sessions that have not been recorded: chains of bounces as a rig would observe those of a ball.

A ball whose contact is known is let go again and again from one height. Each bounce is observed
with errors of its own, and the takes of a session share errors f of the release and of the array
(`chains.observations`, `array_errors`), a place P being located where

    P = P_seen - A(P_seen) f - own error,    own covariance: `multilateration.bound` of arrivals.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import array_errors, multilateration
from ricochet.models.sound.array_errors import Distortion
from ricochet.models.sound.arrays import Microphones
from ricochet.models.systems.bouncing_ball import family_simulator
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, TILT_SD, Take
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.simulator import Bounces

ARRIVAL_SD = 2e-6
"""How well the arrival of a click is known, s, at 28 dB over the background."""
LEAST_PLACE_SD = 3e-4
"""What no real contact keeps below, m."""
_STARTED = 0.2  # s after the recording, at the first bounce
_ROUNDS = 8


@dataclass(frozen=True)
class Rig:
    """What observes: microphones and how well all is known.

    Attributes:
        contact_sd: Of the instant of a contact by its click, s.
        survey_sd: Of each coordinate of a microphone, m.
        release_sd: Of the height of release, the same in all takes of a session, m.
        arrival_sd: Of a click's arrival at a microphone, s.
    """

    microphones: Microphones
    contact_sd: float = 20e-6
    survey_sd: float = 1.5e-3
    release_sd: float = 5e-3
    arrival_sd: float = ARRIVAL_SD


@dataclass(frozen=True)
class KnownBall:
    """A ball on a surface whose contact is taken to be known, in coordinates of `parameters`."""

    theta: Float[ndarray, " parameter"]
    law: RestitutionLaw


@dataclass(frozen=True)
class Session:
    """How many takes of how many bounces from which height, m."""

    takes: int
    height: float
    bounces: int = 6


def simulate(
    ball: KnownBall, session: Session, rig: Rig, *, draw: np.random.Generator
) -> list[Take]:
    """Return the takes of a session that such a rig would observe."""
    channels = len(rig.microphones.positions)
    spread = array_errors.surveyed(rig.survey_sd)
    actual = array_errors.errors(channels, replace(spread, place=rig.survey_sd)).sd
    assumed = array_errors.errors(channels, spread).sd
    coordinates = 3 * channels
    shared = np.zeros(len(SHARED) + len(assumed))
    shared[: len(SHARED)] = draw.standard_normal(len(SHARED))
    surveyed = draw.standard_normal(coordinates) * actual[:coordinates] / assumed[:coordinates]
    shared[len(SHARED) : len(SHARED) + coordinates] = surveyed
    bounces = _dropped(ball, session, rig, shared, draw)
    values = parameters.values(ball.theta[None])
    noise = float(values.time_noise[0]), float(values.place_noise[0])
    times, places = bounces.times.numpy(), bounces.positions.numpy()[..., :2]
    times = times - times[:, :1] + _STARTED
    own = shared[len(SHARED) :]
    away = noise[1] * draw.standard_normal(places.shape)
    seen, place_sd, moved = _located(times, places, rig, own, away)
    late = noise[0] * rig.contact_sd * draw.standard_normal(times.shape)
    none = np.zeros((session.bounces, 2, len(SHARED)))
    shape = (*times.shape, -1)
    return [
        Take(
            times=when,
            places=where,
            time_sd=np.full(len(when), rig.contact_sd),
            place_sd=sd,
            height=session.height,
            height_sd=rig.release_sd,
            session=0,
            distortion=np.concatenate((none, by), -1),
            areas=np.concatenate((none[:, 0], areas), -1),
        )
        for when, where, sd, by, areas in zip(
            times + late,
            seen,
            place_sd,
            moved.places.reshape(*places.shape, -1),
            moved.areas.reshape(shape),
            strict=True,
        )
    ]


def _located(
    times: Float[ndarray, "take bounce"],
    places: Float[ndarray, "take bounce 2"],
    rig: Rig,
    own: Float[ndarray, " error"],
    away: Float[ndarray, "take bounce 2"],
) -> tuple[Float[ndarray, "take bounce 2"], Float[ndarray, "take bounce"], Distortion]:
    """Return where bounces seem to be, with errors of their own, and what errors of the array do.

    Args:
        own: Errors of the array, in units of their standard deviations.
        away: Errors of the bounces, likewise.
    """
    array = rig.microphones
    arrivals = np.full((*times.shape, len(array.positions)), rig.arrival_sd)
    covariance = multilateration.bound(places, arrivals, microphones=array)[..., :2, :2]
    variance = np.trace(covariance, axis1=-2, axis2=-1) / 2.0
    place_sd = np.hypot(np.sqrt(variance), LEAST_PLACE_SD)
    true = (places + place_sd[..., None] * away).reshape(-1, 2)
    since, seen = times.reshape(-1), true
    spread = array_errors.surveyed(rig.survey_sd)
    moved = array_errors.distortion(seen, since, microphones=array, spread=spread)
    for _ in range(_ROUNDS):  # until true = seen - A(seen) f
        seen = true + moved.places @ own
        moved = array_errors.distortion(seen, since, microphones=array, spread=spread)
    return seen.reshape(places.shape), place_sd, moved


def _dropped(
    ball: KnownBall,
    session: Session,
    rig: Rig,
    shared: Float[ndarray, " error"],
    draw: np.random.Generator,
) -> Bounces:
    values = parameters.values(ball.theta[None])
    numbers = torch.Generator().manual_seed(int(draw.integers(2**62)))
    count = session.takes
    units = {name: torch.from_numpy(np.repeat(v, count)) for name, v in vars(values).items()}
    starts = family_simulator.start_velocities(
        (count,), horizontal_sd=float(values.release_speed[0]), draw=numbers
    )
    return family_simulator.simulate(
        family_simulator.contact_by_take(units, draw=numbers),
        starts,
        drop_height=session.height * float(np.exp(rig.release_sd / session.height * shared[0])),
        law=ball.law,
        around=Surroundings(units["drag"], torch.from_numpy(TILT_SD * shared[1:3])),
        bounces=session.bounces,
        draw=numbers,
    )
