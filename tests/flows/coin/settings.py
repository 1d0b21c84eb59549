"""The settings of the coin."""

from collections.abc import Mapping
from dataclasses import dataclass

from ricochet.tasks.general_settings import Count, Share


@dataclass(frozen=True)
class Coin:
    """How often a coin is flipped, and how far it may be off."""

    flips: Count
    bias: Share


SECTIONS: Mapping[str, type] = {"coin": Coin}
