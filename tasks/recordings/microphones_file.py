"""Where microphones stand, as a person writes it down: a YAML file beside the recordings.

    microphones:                  # m; the surface is z = 0, x and y from any point of it
      - [-0.300, -0.250, 0.076]
      - [0.250, -0.300, 0.076]
      - [0.000, 0.320, 0.076]
    channels: [0, 1, 2]           # of the recording, one for each; left out: in this order
    temperature: 21.5             # of the air, degrees Celsius
    survey_sd: 0.0015             # m, by which each coordinate may be off (standard deviation)

`channels` and `survey_sd` may be left out, and `temperature` where it is stated elsewhere.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Interval, Len
from pydantic import BeforeValidator

from ricochet.hardware.microphones.interface import Microphone, Position
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound.arrays import LEAST_DISTANCE, check_layout
from ricochet.tasks.storage import checked_json, checked_yaml, limits
from ricochet.tasks.storage.checked_json import EXACT, Whole, expecting

EXPECTED = "a file of microphones, with the keys microphones and temperature"
LARGEST = 2**16  # bytes of the file
FARTHEST = limits.FARTHEST  # m of a coordinate
MOST = limits.CHANNELS  # microphones
LOCATING = 3  # microphones from which a place can be found

Coordinate = Annotated[float, Interval(ge=-FARTHEST, le=FARTHEST)]
Place = Annotated[
    tuple[Coordinate, Coordinate, Coordinate],
    BeforeValidator(tuple),
    expecting(f"three numbers, metres, each at most {FARTHEST:g} from zero"),
]


@dataclass(frozen=True)
class StatedMicrophones:
    """What the file states.

    Attributes:
        microphones: In the order of their channels.
        temperature: Degrees Celsius; None where it is left out.
        survey_sd: m; None where it is left out.
    """

    microphones: tuple[Microphone, ...]
    temperature: float | None
    survey_sd: float | None


@dataclass(frozen=True)
class _File:
    __pydantic_config__ = EXACT
    microphones: Annotated[tuple[Place, ...], Len(0, MOST)]
    channels: Annotated[tuple[Whole, ...], Len(0, MOST)] | None = None
    temperature: Annotated[float, Interval(ge=limits.COLDEST, le=limits.HOTTEST)] | None = None
    survey_sd: Annotated[float, Interval(gt=0.0, le=0.1)] | None = None


def read(path: Path) -> StatedMicrophones:
    """Read the file.

    Raises:
        BadInput: It is too large or no YAML, a key is missing or unknown, a place is no place, two
            microphones stand in one, three or more on one line, or channels do not match.
    """
    content = checked_json.read(_File, _as_json(path), str(path))
    _check_places(content.microphones, f"{path}: microphones")
    channels = content.channels or tuple(range(len(content.microphones)))
    if sorted(channels) != list(range(len(content.microphones))):
        expected = f"each of 0 to {len(content.microphones) - 1} once, one a microphone"
        raise BadInput(f"{path}: channels", str(list(channels)), expected)
    found = sorted(zip(channels, content.microphones, strict=True))
    microphones = tuple(Microphone(channel, place) for channel, place in found)
    return StatedMicrophones(microphones, content.temperature, content.survey_sd)


def _as_json(path: Path) -> str:
    """Return the YAML as JSON, which has one reader for all files from outside."""
    found = checked_yaml.read(path, EXPECTED, largest=LARGEST)
    if not isinstance(found, dict):
        raise BadInput(str(path), f"a {type(found).__name__}", EXPECTED)
    try:
        return json.dumps({str(key): value for key, value in found.items()}, default=str)
    except (TypeError, ValueError) as error:  # of keys that are no texts
        raise BadInput(str(path), f"no YAML: {error}", EXPECTED) from error


def _check_places(places: tuple[Position, ...], where: str) -> None:
    """Refuse microphones in one place, and three or more that cannot fix a point."""
    if not 1 <= len(places) <= MOST:
        raise BadInput(where, f"{len(places)} places", f"1 to {MOST}")
    for second, place in enumerate(places):
        for first in range(second):
            if np.linalg.norm(np.subtract(place, places[first])) < LEAST_DISTANCE:
                found = f"entries {first} and {second} in one place"
                raise BadInput(where, found, "a place of its own for each")
    if len(places) >= LOCATING:
        try:
            check_layout(np.array(places))
        except ValueError as error:
            raise BadInput(where, str(error), "a triangle at least") from error
