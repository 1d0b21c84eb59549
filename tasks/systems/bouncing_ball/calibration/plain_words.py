"""The answer to a recording in words that need no statistics.

Restitution e is the share of its speed that a ball keeps at a bounce; it keeps e^2 of its energy
and, without air, rises to e^2 of the height from which it fell.
"""

import math
from collections.abc import Mapping
from typing import Any

from ricochet.models.systems.bouncing_ball import air

PAGE = "docs/systems/bouncing_ball.md#one-microphone"
MOST_DIGITS = 6
LEAST = 3
"""Microphones that locate a bounce."""
UNKNOWN = 5.0
"""Ratio of the ends of an interval from which a speed counts as unknown."""
_COMPARED = air.COMMON_BALLS["ping-pong"]


def lines(result: Mapping[str, Any]) -> list[str]:
    """Return the lines at the terminal: the sentences, and where they are explained."""
    explained = f"Every bounce is in bounces.csv. What the numbers mean: --page shows it, or {PAGE}"
    return [f"  {sentence}" for sentence in (*sentences(result), explained)]


def sentences(result: Mapping[str, Any]) -> list[str]:
    """Say what a ball keeps at its first bounce, and how sure that is."""
    at = result["restitution"]["at_first_bounce"]
    e, (low, high) = at["mean"], at["region_90"]
    speed, least, most = _percents(e, low, high)
    energy, lowest, highest = _percents(e**2, low**2, high**2)
    return [
        f"At its first bounce, {at['speed']:.1f} m/s fast, the ball keeps {speed} of its "
        f"speed; between {least} and {most}, nine times out of ten.",
        f"That is {energy} of its energy: without air it rises to {energy} of the "
        f"height from which it fell ({lowest} to {highest}).",
    ]


def digits(width: float, least: int) -> int:
    """Return the digits behind the point that show an interval of such a width, `least` or more.

    >>> digits(0.008, 3), digits(0.0004, 3)
    (3, 4)
    """
    return max(least, min(MOST_DIGITS, math.ceil(-math.log10(max(width, 1e-12) / 3.0))))


def shares(summary: Mapping[str, Any]) -> list[str]:
    """Return mean, low and high end of a restitution, to the digits that tell the ends apart."""
    low, high = summary["region_90"]
    return [f"{value:.{digits(high - low, 3)}f}" for value in (summary["mean"], low, high)]


def about_drag(result: Mapping[str, Any]) -> str:
    """Say what the air does to the ball, whose part was stated by its size or is inferred."""
    ball = result["object"]
    if "air_temperature" in ball:
        return (
            f"What the air takes from {sized(ball)} is known at "
            f"{ball['air_temperature']:g} degrees and is no part of these numbers."
        )
    speed = result["restitution"]["terminal_speed_if_constant"]
    (low, high), known = speed["region_90"], air.terminal_speed(air.drag(_COMPARED))
    if high > UNKNOWN * low:
        return (
            "The air slows a ball too; these bounces are too few or too slow to show by how much. "
            "With the ball's name, --ball NAME, the answer is narrower."
        )
    return (
        "The air slows a ball too, and from the sound alone that looks much like a ball that keeps "
        "less of a high speed. If it keeps the same share at every speed, it would fall through "
        f"air at {speed['median']:.1f} m/s at most ({low:.1f} to {high:.1f}, nine times out of "
        f"ten; a ping-pong ball: {known:.1f}). With the ball's name, --ball NAME, the answer is "
        "narrower."
    )


def sized(ball: Mapping[str, Any]) -> str:
    """Name a ball of known size, by its name or by its size alone."""
    named = "a ball" if "," in ball["ball"] else f"a {ball['ball']} ball"
    return f"{named} of {1e3 * ball['diameter']:g} mm and {1e3 * ball['mass']:g} g"


def about_places(channels: int) -> list[str]:
    """Ask where the microphones stand, if a recording without a session has several."""
    if channels < 2:
        return []
    if channels < LEAST:
        return ["  two channels count as one device: to locate bounces takes three microphones"]
    return [
        f"  {channels} channels: where do the microphones stand? With their places the scatter of "
        "the bounces is inferred too:",
        "    ricochet import FOLDER --ball NAME --surface NAME --microphones FILE.yaml "
        "--release-height METRES",
    ]


def _percents(mean: float, low: float, high: float) -> list[str]:
    """Return shares in percent, to the digits that tell the ends of the interval apart."""
    count = digits(100.0 * (high - low), 1)
    return [f"{100.0 * share:.{count}f} %" for share in (mean, low, high)]
