"""Simulated sessions of real balls and rooms: departures from the paper's model, and from ours.

A departure changes the ball, the surface, the release, the array or the takes. Takes are simulated
bounce by bounce with the errors of the default rig's detections; errors of the array are put in by
locating the true arrivals anew with the array as it is stated. Every session has a ball of its own,
drawn by `ball_of`, whose `truth` the answer is held against: restitution at the reference speed,
and log10 concentration of the usual redirections. An anisotropic redirection has no concentration;
its nearest equivalent is that of the mean variance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones import interface
from ricochet.models.core.constants import GRAVITY
from ricochet.models.sound import array_errors
from ricochet.models.sound.arrays import Microphones
from ricochet.models.systems.bouncing_ball import air, contact, family_simulator
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration.calibrate import MeasuredDrops
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, Take
from ricochet.models.systems.bouncing_ball.contact import RestitutionLaw
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.problem import Release

RESTITUTIONS, LOG10_CONCENTRATIONS = (0.72, 0.92), (2.2, 3.6)
"""Of the balls: tennis to ping-pong on hard floors, asphalt to glass."""
HEIGHT, HEIGHT_SD = 0.26, 5e-3
TIME_SD, PLACE_SD = 3e-5, 2e-3
"""Own errors of a detected bounce of the default rig: `python -m benchmarks.sound.bounces`."""
BOUNCES = 3
"""Of a take that the paper's model looks at."""
STARTED = 0.2
"""When the first bounce is, after its recording began, s."""
Places = Float[ndarray, "take bounce 2"]
Times = Float[ndarray, "take bounce"]


@dataclass(frozen=True)
class Ball:
    """A ball on a surface, as the paper's model has it, at the reference speed."""

    restitution: float
    log10_concentration: float

    @property
    def truth(self) -> Float[ndarray, " 2"]:
        """What an answer is held against."""
        return np.array([self.restitution, self.log10_concentration])

    @property
    def concentration(self) -> float:
        """Of the exit direction."""
        return float(10.0**self.log10_concentration)


def ball_of(seed: int) -> Ball:
    """Draw the ball of a session."""
    draw = np.random.default_rng([seed, 2])
    return Ball(float(draw.uniform(*RESTITUTIONS)), float(draw.uniform(*LOG10_CONCENTRATIONS)))


@dataclass(frozen=True)
class Departure:
    """One way in which a session differs from the paper's model.

    Attributes:
        held: Whether the family of models has it as a parameter.
        units: Of `Contact`, and drag, take_scatter and release_speed beside them.
        size: Of the ball, as the session states it.
        array: Errors of the array by name, in SI units.
        narrow: By how much redirections along x are more concentrated than along y; 1 is equal.
        noisier: How much larger errors are than stated.
        stated: Height, m.
    """

    held: bool = True
    law: RestitutionLaw = contact.constant
    units: Mapping[str, float] = field(default_factory=dict)
    tilt: float = 0.0
    size: Size | None = None
    array: Mapping[str, float] = field(default_factory=dict)
    narrow: float = 1.0
    noisier: float = 1.0
    stated: float = HEIGHT


def _drag_of(name: str) -> Departure:
    size = air.COMMON_BALLS[name]
    return Departure(units={"drag": air.drag(size)}, size=size)


def _tails(ratio: float) -> Departure:
    return Departure(units={"tail_share": 0.15, "tail_ratio": ratio})


def _sloped(slope: float) -> Departure:
    return Departure(law=contact.linear, units={"slope": slope})


DEPARTURES: dict[str, Departure] = {
    "none": Departure(),
    "slope 0.01 s/m": _sloped(0.01),
    "slope 0.03 s/m": _sloped(0.03),
    "drag of tennis": _drag_of("tennis"),
    "drag of tennis, size unknown": replace(_drag_of("tennis"), size=None),
    "drag of ping-pong": _drag_of("ping-pong"),
    "drag of ping-pong, size unknown": replace(_drag_of("ping-pong"), size=None),
    "tails 15 % at a tenth": _tails(0.1),
    "tails 15 % at a hundredth": _tails(0.01),
    "anisotropic 4:1": Departure(held=False, narrow=4.0),
    "anisotropic 25:1": Departure(held=False, narrow=25.0),
    "speed of sound 1 %": Departure(array={"speed of sound": 0.01}),
    "speed of sound 3 %": Departure(array={"speed of sound": 0.03}),
    "microphone 5 mm": Departure(array={"microphone 2 y": 0.005}),
    "microphone 15 mm": Departure(array={"microphone 2 y": 0.015}),
    "clock 2 samples/s": Departure(array={"drift of channel 1": 2.0 / 44100.0}),
    "clock 20 samples/s": Departure(array={"drift of channel 1": 20.0 / 44100.0}),
    "channel 0.05 ms late": Departure(array={"delay of channel 1": 5e-5}),
    "channel 0.2 ms late": Departure(array={"delay of channel 1": 2e-4}),
    "takes scatter 0.003": Departure(units={"take_scatter": 0.003}),
    "takes scatter 0.01": Departure(units={"take_scatter": 0.01}),
    "tangential loss 20 %": Departure(units={"tangential_loss": 0.2}),
    "tangential loss 40 %": Departure(units={"tangential_loss": 0.4}),
    "tilt 1 degree": Departure(tilt=float(np.radians(1.0))),
    "tilt 3 degrees": Departure(tilt=float(np.radians(3.0))),
    "errors 5 dB larger": Departure(noisier=10**0.25),
    "errors 10 dB larger": Departure(noisier=10**0.5),
    "release at 0.3 m/s": Departure(units={"release_speed": 0.3}),
    "release at 0.6 m/s": Departure(units={"release_speed": 0.6}),
    "release 2 cm higher": Departure(stated=HEIGHT - 0.02),
    "release 5 cm higher": Departure(stated=HEIGHT - 0.05),
}


def simulate(
    departure: Departure, ball: Ball, *, takes: int, bounces: int, seed: int
) -> list[Take]:
    """Simulate a session as its detections state it."""
    draw, numbers = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    times, places = _bounced(departure, ball, (takes, bounces), numbers)
    times = times - times[:, :1] + STARTED
    times = times + departure.noisier * TIME_SD * draw.standard_normal(times.shape)
    array = interface.default_rig("simulated").array()
    located = _located(departure, array, places, times)
    located = located + departure.noisier * PLACE_SD * draw.standard_normal(located.shape)
    return [_take(departure, array, *each) for each in zip(times, located, strict=True)]


def takes_of(times: Times, places: Places, draw: np.random.Generator) -> list[Take]:
    """Return takes of bounces that truly were at times, s, and places, m, of a rig in order."""
    array = interface.default_rig("simulated").array()
    times = times - times[:, :1] + STARTED + TIME_SD * draw.standard_normal(times.shape)
    places = places + PLACE_SD * draw.standard_normal(places.shape)
    return [_take(Departure(), array, *each) for each in zip(times, places, strict=True)]


def three_bounces(takes: Sequence[Take]) -> MeasuredDrops:
    """Return the first three bounces of takes of one session, for the paper's model."""
    count = len(takes)
    start = slice(0, BOUNCES)
    return MeasuredDrops(
        times=torch.from_numpy(np.stack([take.times[start] for take in takes])),
        positions=torch.from_numpy(np.stack([take.places[start] for take in takes])),
        time_sd=torch.full((count,), TIME_SD).double(),
        position_sd=torch.full((count,), PLACE_SD).double(),
        release=Release(
            torch.tensor([take.height for take in takes]).double(),
            torch.tensor([take.height_sd for take in takes]).double(),
            torch.zeros(count, dtype=torch.int64),
        ),
        later_times=tuple(take.times for take in takes),
        names=tuple(f"take-{number:02d}" for number in range(count)),
    )


def _bounced(
    departure: Departure, ball: Ball, size: tuple[int, int], draw: torch.Generator
) -> tuple[Times, Places]:
    takes, bounces = size
    units = {"restitution": ball.restitution, "concentration": ball.concentration}
    units |= {"drag": 0.0, "take_scatter": 0.0, "release_speed": 0.1, "slope": 0.0}
    units |= {"tangential_loss": 0.0, "tail_share": 0.0, "tail_ratio": 1.0, "scatter": 0.0}
    units |= departure.units
    column = {name: torch.full((takes,), value).double() for name, value in units.items()}
    contacts = family_simulator.contact_by_take(column, draw=draw)
    starts = family_simulator.start_velocities(
        (takes,), horizontal_sd=units["release_speed"], draw=draw
    )
    if departure.narrow != 1.0:
        return _anisotropic(departure.narrow, ball, starts, bounces=bounces, draw=draw)
    around = Surroundings(column["drag"], torch.tensor([departure.tilt, 0.0]).double())
    found = family_simulator.simulate(
        contacts, starts, drop_height=HEIGHT, law=departure.law, around=around, bounces=bounces,
        draw=draw,
    )  # fmt: skip
    return found.times.numpy(), found.positions.numpy()[..., :2]


def _anisotropic(
    narrow: float, ball: Ball, start: torch.Tensor, *, bounces: int, draw: torch.Generator
) -> tuple[Times, Places]:
    """Redirect by a normal law in the tangent plane whose variances along x and y differ."""
    wide = 2.0 * narrow / (1.0 + narrow) / ball.concentration  # their mean is 1 / concentration
    spread = np.sqrt([wide / narrow, wide])
    numbers = np.random.default_rng(int(torch.randint(2**62, (1,), generator=draw)))
    velocity = start.numpy().copy()
    velocity[:, 2] = -np.sqrt(2.0 * GRAVITY * HEIGHT)
    duration = np.sqrt(2.0 * HEIGHT / GRAVITY)
    times, place = np.full(len(velocity), duration), velocity[:, :2] * duration
    rows = []
    for _ in range(bounces):
        rows.append((times, place))
        exit_ = velocity * [1.0, 1.0, -ball.restitution]
        speed = np.linalg.norm(exit_, axis=1, keepdims=True)
        turned = exit_ / speed
        turned[:, :2] += spread * numbers.standard_normal((len(turned), 2))
        exit_ = speed * turned / np.linalg.norm(turned, axis=1, keepdims=True)
        flight = 2.0 * exit_[:, 2] / GRAVITY
        times, place = times + flight, place + exit_[:, :2] * flight[:, None]
        velocity = exit_ * [1.0, 1.0, -1.0]
    found_times, found_places = zip(*rows, strict=True)
    return np.stack(found_times, 1), np.stack(found_places, 1)


def _located(departure: Departure, array: Microphones, places: Places, times: Times) -> Places:
    """Locate what a departing array picked up with the array as it is stated.

    What cannot be located is not a number.
    """
    if not departure.array:
        return places
    named = array_errors.errors(len(array.positions)).names
    sizes = np.array([departure.array.get(name, 0.0) for name in named])
    true, _, _ = array_errors.corrected(array, sizes)
    found, _ = array_errors.relocated(
        places.reshape(-1, 2), times.reshape(-1), -sizes, microphones=true
    )
    return np.asarray(found).reshape(places.shape)


def _take(
    departure: Departure, array: Microphones, times: Times, places: Float[ndarray, "bounce 2"]
) -> Take:
    located = np.isfinite(places).all(-1)
    places = np.where(located[:, None], places, 0.0)
    moved, areas = _distorted(places, times, array)
    return Take(
        times=times,
        places=places,
        time_sd=np.full(len(times), TIME_SD),
        place_sd=np.where(located, PLACE_SD, np.inf),
        height=departure.stated,
        height_sd=HEIGHT_SD,
        session=0,
        distortion=moved,
        areas=areas,
    )


def _distorted(
    places: Float[ndarray, "bounce 2"], times: Times, array: Microphones
) -> tuple[Float[ndarray, "bounce 2 error"], Float[ndarray, "bounce error"]]:
    """Return what shared errors add to places, and relatively to areas about them."""
    found = array_errors.distortion(places, times, microphones=array)
    still = np.zeros((len(times), 2, len(SHARED)))
    moved = np.concatenate((still, found.places), -1)
    return moved, np.concatenate((still[:, 0], found.areas), -1)


def relocated(takes: list[Take], shared: Float[ndarray, "session error"]) -> list[Take]:
    """Return the takes of a session as located without given shared errors."""
    array = interface.default_rig("simulated").array()
    sizes = shared[0, len(SHARED) :] * array_errors.errors(len(array.positions)).sd
    return [_relocated(take, array, shared[0], sizes) for take in takes]


def _relocated(
    take: Take,
    array: Microphones,
    shared: Float[ndarray, " error"],
    sizes: Float[ndarray, " error"],
) -> Take:
    found, times = array_errors.relocated(take.places, take.times, sizes, microphones=array)
    located = np.isfinite(found).all(-1)
    found = np.where(located[:, None], found, take.places)
    times = np.where(np.isfinite(times), times, take.times)
    corrected, _, _ = array_errors.corrected(array, sizes)
    moved, areas = _distorted(found, times, corrected)
    places, areas = found + moved @ shared, array_errors.about(areas, shared)
    place_sd = np.where(located, take.place_sd, np.inf)
    return replace(
        take, times=times, places=places, place_sd=place_sd, distortion=moved, areas=areas
    )
