"""The settings of a coin: none."""

from collections.abc import Mapping

SECTIONS: Mapping[str, type] = {}
