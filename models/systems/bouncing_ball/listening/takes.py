"""From one take to the times and places of its bounces.

Onsets make chains (`onsets`, `bounce_chains`), the chain of the highest score is the drop, and
each of its bounces is located (`localisation`). What is stated is the time of emission, arrival
less distance over the speed of sound: with a ball that wanders by 0.1 m arrivals alone are off by
0.3 ms. A constant shift of all times by a few microseconds, the click's own, has no meaning for
intervals.

With fewer than three microphones there are no places; times are then those of arrival at the
nearest microphone.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.sound import arrays, channel_faults, localisation, multilateration, onsets
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.sound.localisation import Location
from ricochet.models.sound.multilateration import Region
from ricochet.models.systems.bouncing_ball.listening import bounce_chains
from ricochet.models.systems.bouncing_ball.listening.bounce_chains import Chain

FEWEST = 3  # bounces that make a ratio of intervals
MARGIN = 0.6  # m round the microphones where bounces may be: a ball of concentration 10 gets there
HELD = 4  # equal samples at a channel's extreme that only a clipped recording holds
NEAR = (-1e-3, 5e-3)  # s about an arrival where clipping spoils its delays


@dataclass(frozen=True)
class DetectedTake:
    """What one take says about its drop.

    Attributes:
        times, time_sd: Of emission (of arrival without positions) of each bounce, s.
        positions: Points of the surface, m, NaN where nothing fits; None with fewer than three
            microphones.
        covariances: Of each position, m^2; None without positions.
        outliers: Bounces whose position should not be relied upon; their times are those of arrival
            less the travel from the region's middle, with an honest standard deviation.
        missing: Indices n such that a bounce between n and n + 1 was missed.
        arrivals, arrival_sd: At each microphone on the clock of `times`, s; what the places are
            made of. None without positions.
        gains: Logarithms of the microphones' gains as each bounce implies them, less their mean;
            None without positions.
        other: First of the bounces of another drop among these, s; None where there is none.
    """

    times: Float[ndarray, " bounce"]
    time_sd: Float[ndarray, " bounce"]
    positions: Float[ndarray, "bounce 2"] | None
    covariances: Float[ndarray, "bounce 2 2"] | None
    outliers: Bool[ndarray, " bounce"]
    missing: tuple[int, ...] = ()
    arrivals: Float[ndarray, "bounce channel"] | None = None
    arrival_sd: Float[ndarray, "bounce channel"] | None = None
    gains: Float[ndarray, "bounce channel"] | None = None
    other: float | None = None


def detect(
    samples: Float[ndarray, "channel frame"],
    microphones: Microphones,
    *,
    region: Region | None = None,
    tolerances: Tolerances | None = None,
    most: int | None = None,
) -> DetectedTake:
    """Detect the bounces of one drop.

    Args:
        samples: The recording, one row a microphone.
        region: Where impacts can be; None is MARGIN round the microphones.
        tolerances: What the stated uncertainty adds to noise and echoes; None takes the defaults.
        most: Number of bounces from the first that are kept; None keeps all.

    Raises:
        ChannelFaultError: A flat channel; of three or more, a dead one or two that are copies.
        ValueError: Channels that are not the array's, values that are not finite, fewer than three
            bounces, clipping at a bounce that should be located, or microphones
            on one line.
    """
    samples = _checked(samples, microphones)
    chain, other = _best_chain(samples, microphones)
    count = len(chain.times) if most is None else min(most, len(chain.times))
    missing = tuple(index for index in chain.missing if index + 1 < count)
    arrivals = chain.times[:count]
    if len(samples) < 3:
        unplaced = np.zeros(count, dtype=bool)
        time_sd = chain.time_sd[:count]
        return DetectedTake(arrivals, time_sd, None, None, unplaced, missing, other=other)
    _check_clipping(samples, arrivals, sample_rate=microphones.sample_rate)
    channel_faults.check(samples, arrivals, microphones=microphones)
    region = region or multilateration.surroundings(microphones, margin=MARGIN)
    located = _locate_all(
        samples,
        arrivals,
        microphones=microphones,
        region=region,
        tolerances=tolerances or Tolerances(),
    )
    times, time_sd = _emissions(located, chain, microphones=microphones, region=region)
    return DetectedTake(
        times,
        time_sd,
        np.array([location.position for location in located]),
        np.array([location.covariance for location in located]),
        np.array([location.outlier for location in located]),
        missing,
        np.array([location.arrivals.times for location in located]),
        np.array([location.arrivals.sd for location in located]),
        np.array([location.gains for location in located]),
        other,
    )


def _best_chain(
    samples: Float[ndarray, "channel frame"], microphones: Microphones
) -> tuple[Chain, float | None]:
    """Return the chain of the highest score, and where another begins that overlaps it."""
    chains = bounce_chains.find_chains(onsets.detect(samples, microphones.sample_rate))
    long = [chain for chain in chains if len(chain.times) >= FEWEST]
    if not long:
        most = max((len(chain.times) for chain in chains), default=0)
        raise ValueError(f"fewer than three bounces of one drop: the take holds {most}")
    best = max(long, key=lambda chain: chain.score)
    first, last = best.times[0], best.times[-1]
    others = (chain.times for chain in long if chain is not best)
    among = (float(times[0]) for times in others if times[0] < last and times[-1] > first)
    return best, next(among, None)


def _checked(
    samples: Float[ndarray, "channel frame"], microphones: Microphones
) -> Float[ndarray, "channel frame"]:
    """Return the samples in double precision, or say what is wrong with them."""
    samples = np.asarray(samples, dtype=np.float64)
    channels = len(microphones.positions)
    if samples.ndim != 2 or len(samples) != channels:
        raise ValueError(f"samples must have shape ({channels}, frame), not {samples.shape}")
    if not np.isfinite(samples).all():
        channel, frame = np.argwhere(~np.isfinite(samples))[0]
        raise ValueError(f"samples are not finite in channel {channel} at frame {frame}")
    if not samples.size:
        raise ValueError("samples are empty")
    channel_faults.check_flat(samples, sample_rate=microphones.sample_rate)
    if channels >= 3:
        arrays.check_layout(microphones.positions)
    return samples


def _check_clipping(
    samples: Float[ndarray, "channel frame"],
    times: Float[ndarray, " bounce"],
    *,
    sample_rate: float,
) -> None:
    """Refuse a recording that is clipped where a bounce should be located."""
    extreme = np.abs(samples).max(axis=1, keepdims=True)
    full = np.abs(samples) >= extreme * (1 - 1e-9)
    frames = samples.shape[1] - HELD + 1
    held = np.all([full[:, shift : shift + frames] for shift in range(HELD)], axis=0)
    for channel, frame in np.argwhere(held):
        since = frame / sample_rate - times
        if np.any((since > NEAR[0]) & (since < NEAR[1])):
            raise ValueError(
                f"samples are clipped at a bounce: channel {channel} at {frame / sample_rate:.4f} s"
            )


def _locate_all(
    samples: Float[ndarray, "channel frame"],
    times: Float[ndarray, " bounce"],
    *,
    microphones: Microphones,
    region: Region,
    tolerances: Tolerances,
) -> list[Location]:
    """Locate every bounce; those in doubt or outside the array again with the gains known.

    Outside the triangle of three microphones two places may explain the same delays. The clear
    bounces show the microphones' gains, and then loudness tells the two apart.
    """

    def locate(time: float, gains: Float[ndarray, " channel"] | None) -> Location:
        return localisation.locate(
            samples,
            time,
            microphones=microphones,
            region=region,
            tolerances=tolerances,
            gains=gains,
        )

    located = [locate(float(time), None) for time in times]
    among = multilateration.surroundings(microphones, margin=0.0)
    sure = [location for location in located if not location.outlier]
    inner = [location for location in sure if among.holds(location.position)]
    clear = [location.gains for location in inner or sure]
    if not clear:
        return located
    gains = np.median(clear, axis=0)
    for index, location in enumerate(located):
        if location.outlier or not among.holds(location.position):
            located[index] = locate(float(times[index]), gains)
    return located


def _emissions(
    located: list[Location], chain: Chain, *, microphones: Microphones, region: Region
) -> tuple[Float[ndarray, " bounce"], Float[ndarray, " bounce"]]:
    """Times of emission and their deviations; outliers fall back on the arrival."""
    ticks = np.linspace(region.low, region.high, 9)
    points = np.stack(np.meshgrid(*ticks.T), axis=-1).reshape(-1, 2)
    travel, _ = multilateration.gradients(points, microphones=microphones)
    nearest = travel.min(axis=1)
    times = np.array([location.emission_time for location in located])
    time_sd = np.array([location.time_sd for location in located])
    lost = np.array([location.outlier for location in located])
    count = len(located)
    times[lost] = chain.times[:count][lost] - nearest.mean()
    time_sd[lost] = np.hypot(chain.time_sd[:count][lost], nearest.std())
    return times, time_sd
