"""What the rails do to a drawer that moves: forces of roughness, rollers, joints and stick-slip.

The slide rests on the rail with a patch of contact. With x the opening and h the height of the rail
under the patch, the contact's spring presses with a force that follows h(x(t)): how strong it is at
a frequency f at the speed v is what the rail has at the wavelength v / f. Nothing else ties sound
to speed.

- Roughness is self-affine: its power over the wave number k falls as k^-(1 + 2 H) below 10 mm, and
  the patch (a normal kernel) levels what is shorter than itself.
- Rollers bring their own waviness, once a turn, and slip a little as they turn.
- Joints are bumps of about a millimetre at fixed places.
- Slides that stick let go after a slip length, again and again, where they move slower than the
  speed below which friction falls with speed.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

GRID = 5e-6  # m, of a profile
FINER = 4  # samples a frame at which heights are read; at 1 m/s they change faster than frames
LONGEST_WAVE = 0.01  # m, of roughness
HARMONICS = 12  # of a roller
ROLL_SLIP = 0.03  # m^(1/2): a roller's phase drifts by so many turns' lengths over root of distance


@dataclass(frozen=True)
class Rail:
    """A rail with its slide or rollers.

    Attributes:
        roughness: Standard deviation of the height, of the force's unit.
        hurst: H, of roughness.
        patch: Standard deviation of the patch of contact, m.
        waviness: Of the rollers, of the same unit; 0: it slides.
        radius: Of the rollers, m.
        joints: Number of bumps.
        bump: Their height, of the same unit.
        slip: Force of a slip, of the same unit; 0: it never sticks.
        slip_length: Mean length of a slip, m.
        slip_speed: Below which it sticks, m/s.
    """

    roughness: float = 1.0
    hurst: float = 0.5
    patch: float = 1e-5
    waviness: float = 0.0
    radius: float = 0.006
    joints: int = 3
    bump: float = 4.0
    slip: float = 0.0
    slip_length: float = 4e-4
    slip_speed: float = 0.12


@dataclass(frozen=True)
class Surface:
    """A rail's heights at GRID and its rollers' amplitudes and phases by harmonic."""

    heights: Float[ndarray, " place"]
    amplitudes: Float[ndarray, " harmonic"]
    phases: Float[ndarray, " harmonic"]


def surface(rail: Rail, length: float, draw: np.random.Generator) -> Surface:
    """Return a rail of a length, m, as it was made."""
    count = round(length / GRID) + 1
    heights = rail.roughness * _rough(rail, 2 * count, draw)[:count]
    places = np.arange(count) * GRID
    for centre in draw.uniform(0.0, length, rail.joints):
        width = draw.uniform(4e-4, 1.2e-3)
        heights += rail.bump * draw.uniform(0.5, 1.5) * np.exp(-(((places - centre) / width) ** 2))
    order = np.arange(1, HARMONICS + 1)
    amplitudes = rail.waviness * draw.rayleigh(1.0, HARMONICS) / order
    return Surface(heights, amplitudes, draw.uniform(0.0, 2 * np.pi, HARMONICS))


def forces(
    rail: Rail,
    made: Surface,
    position: Float[ndarray, " frame"],
    rate: float,
    draw: np.random.Generator,
    *,
    by_position: bool = True,
) -> tuple[Float[ndarray, " frame"], Float[ndarray, " frame"]]:
    """Return the forces of the rail's heights, and those of slips.

    Args:
        rail: With its surface `made`.
        position: Opening of the drawer at a sample rate, m.
        rate: Hz.
        draw: Of slips.
        by_position: Whether a place of the rail is always the same; otherwise heights follow the
            distance that was gone, as of a rail that goes on and on.
    """
    travelled = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(position)))])
    length = (len(made.heights) - 1) * GRID
    force = _read(made, position) if by_position else _read(made, travelled, length)
    if rail.waviness > 0.0:
        force = force + _rolling(rail, made, position, travelled, draw)
    return force, _slips(rail, position, rate, draw)


def _read(
    made: Surface, place: Float[ndarray, " frame"], length: float = np.inf
) -> Float[ndarray, " frame"]:
    """Return the heights at places, which begin anew after a length, m."""
    frames = np.arange(FINER * len(place)) / FINER
    fine = np.interp(frames, np.arange(len(place)), place)
    fine = np.mod(fine, length) if np.isfinite(length) else fine
    heights = np.interp(fine, np.arange(len(made.heights)) * GRID, made.heights)
    return np.asarray(signal.resample_poly(heights, 1, FINER))


def _rough(rail: Rail, count: int, draw: np.random.Generator) -> Float[ndarray, " place"]:
    wave = 2 * np.pi * np.fft.rfftfreq(count, GRID)
    longest = 2 * np.pi / LONGEST_WAVE
    size = np.maximum(wave, longest) ** (-0.5 - rail.hurst) * (wave >= longest)
    size = size * np.exp(-0.5 * (wave * rail.patch) ** 2)
    noise = np.fft.irfft(size * np.fft.rfft(draw.standard_normal(count)), count)
    return np.asarray(noise / noise.std())


def _rolling(
    rail: Rail,
    made: Surface,
    position: Float[ndarray, " frame"],
    travelled: Float[ndarray, " frame"],
    draw: np.random.Generator,
) -> Float[ndarray, " frame"]:
    """Return the force of rollers that turn as the drawer moves, with slip."""
    knots = np.arange(0.0, travelled[-1] + 0.02, 0.01)
    slip = np.cumsum(ROLL_SLIP * np.sqrt(0.01) * draw.standard_normal(len(knots)))
    turned = position / rail.radius + np.interp(travelled, knots, slip)
    force = np.zeros(len(position))
    for order, (amplitude, phase) in enumerate(zip(made.amplitudes, made.phases, strict=True), 1):
        force += amplitude * np.cos(order * turned + phase)
    return force


def _slips(
    rail: Rail, position: Float[ndarray, " frame"], rate: float, draw: np.random.Generator
) -> Float[ndarray, " frame"]:
    """Return impulses wherever a slide that sticks lets go."""
    found = np.zeros(len(position))
    if rail.slip == 0.0:
        return found
    step = np.abs(np.diff(position, prepend=position[0]))
    slow = np.cumsum(np.where(step * rate < rail.slip_speed, step, 0.0))
    count = int(1.5 * slow[-1] / rail.slip_length) + 10
    lengths = rail.slip_length * draw.gamma(2.0, 0.5, count)
    frames = np.searchsorted(slow, np.cumsum(lengths))
    frames, lengths = frames[frames < len(position)], lengths[: np.sum(frames < len(position))]
    sizes = rail.slip * lengths / rail.slip_length * draw.choice([-1.0, 1.0], len(frames))
    np.add.at(found, frames, sizes)
    return found
