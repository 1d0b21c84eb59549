"""The answer to a recording in words that need no statistics.

Restitution e is the share of its speed that a ball keeps at a bounce; it keeps e^2 of its energy
and, without air, rises to e^2 of the height from which it fell.
"""

from collections.abc import Mapping
from typing import Any

PAGE = "docs/systems/bouncing_ball.md#one-microphone"
LEAST = 3
"""Microphones that locate a bounce."""


def lines(result: Mapping[str, Any]) -> list[str]:
    """Say what a ball keeps at its first bounce, how sure that is, and where it is explained."""
    at = result["restitution"]["at_first_bounce"]
    e, (low, high) = at["mean"], at["region_90"]
    kept = _percent(e**2)
    return [
        f"  At its first bounce, {at['speed']:.1f} m/s fast, the ball keeps {_percent(e)} of its "
        f"speed; between {_percent(low)} and {_percent(high)}, nine times of ten.",
        f"  That is {kept} of its energy: without air it rises to {kept} of the "
        f"height from which it fell ({_percent(low**2)} to {_percent(high**2)}).",
        f"  Every bounce is in bounces.csv. What the numbers mean: {PAGE}",
    ]


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


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"
