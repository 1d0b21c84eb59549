"""What is known of bounces before any sound: how intervals shrink and what else happens.

The ratios' prior covers restitutions from 0.4 to 1. The scatters cover collision noise: with
concentration 10^3.5 the log ratio of a ball scatters by 0.002, with 10^1.8 by 0.03 at first and by
0.1 after some bounces, when speed across the surface has become speed upwards.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Law:
    """How the intervals of one ball shrink, and how often other things happen.

    Attributes:
        lowest, shortest, longest: Least ratio of successive intervals; their bounds, s.
        ratio, ratio_sd: Centre of the prior of the first ratio, and deviation of its logarithm.
        walk: Standard deviation of the change of the log ratio from bounce to bounce.
        scatters: Standard deviations tried for the log ratio about its mean, one for a whole chain.
        shares: Prior probability of each of these.
        stray: Most by which a log ratio is off the expected one: beyond it another ball begins.
        miss_rate: Probability that a bounce inside a chain makes no onset.
        drops: Expected number of dropped balls, per second.
        timing: Standard deviation of an onset, added to its own, s.
        loudness_sd: Standard deviation of the change in log loudness.
    """

    lowest: float = 0.4
    longest: float = 1.6
    shortest: float = 9e-3
    ratio: float = 0.75
    ratio_sd: float = 0.25
    walk: float = 0.008
    scatters: tuple[float, ...] = (0.004, 0.016, 0.05, 0.13, 0.3)
    shares: tuple[float, ...] = (0.5, 0.28, 0.15, 0.05, 0.02)
    stray: float = 0.7
    miss_rate: float = 0.01
    drops: float = 0.2
    timing: float = 0.2e-3
    loudness_sd: float = 0.7
