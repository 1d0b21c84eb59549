"""Which numbers of a MuJoCo model are unknown, and between which limits: a file of YAML.

bob_mass:
  of: body bob mass       # kind, name, quantity (`mujoco_parameters.QUANTITIES`)
  low: 0.1
  high: 2.0
  unit: kg                # for tables and figures; 1 when absent
friction:
  of: joint hinge damping
  low: 1.0e-4
  high: 1.0
  unit: N m s
  logarithmic: true       # searched by its order of magnitude
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import torch
from jaxtyping import Bool
from torch import Tensor

from ricochet.models.core.bad_input import BadInput, shown, unknown_key
from ricochet.models.inference.limits import Limits
from ricochet.models.systems.rigid_bodies import mujoco_parameters
from ricochet.models.systems.rigid_bodies.mujoco_parameters import Place
from ricochet.tasks.storage import checked_yaml

LARGEST = 2**16
"""Bytes of the file."""
MOST = 20
"""Parameters."""
LONGEST = 40
"""Letters of a name or a unit."""
KEYS = ("of", "low", "high", "unit", "logarithmic")
EXPECTED = "names, each with of, low, high, unit"


@dataclass(frozen=True)
class Unknown:
    """Parameters that are to be inferred, in the order of the file."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    places: tuple[Place, ...]
    limits: Limits
    logarithmic: Bool[Tensor, " parameter"]


@dataclass(frozen=True)
class _Entry:
    place: Place
    low: float
    high: float
    unit: str
    logarithmic: bool


def beside(model: Path) -> Path:
    """Return the file of parameters that has the stem of a model's.

    Raises:
        BadInput: If there is none.
    """
    for ending in (".yaml", ".yml"):
        if model.with_suffix(ending).is_file():
            return model.with_suffix(ending)
    raise BadInput(str(model.with_suffix(".yaml")), "no such file", "it, or --parameters FILE.yaml")


def read(file: Path, model: mujoco.MjModel) -> Unknown:
    """Read which parameters of a model are unknown.

    Raises:
        BadInput: If the file cannot be read, or an entry is not what `KEYS` are to hold.
    """
    content = _content(file)
    entries = {
        str(name): _entry(f"{file}: {name}", value, model) for name, value in content.items()
    }
    _check_places(file, entries)
    parts = list(entries.values())
    low, high = (
        torch.tensor([getattr(each, end) for each in parts], dtype=torch.float64)
        for end in ("low", "high")
    )
    return Unknown(
        tuple(entries),
        tuple(each.unit for each in parts),
        tuple(each.place for each in parts),
        Limits(low, high),
        torch.tensor([each.logarithmic for each in parts]),
    )


def _content(file: Path) -> Mapping[Any, Any]:
    """Return the names with their entries, neither too many nor none."""
    found = checked_yaml.read(file, EXPECTED, largest=LARGEST)
    if not isinstance(found, dict) or not found:
        raise BadInput(str(file), type(found).__name__ if found else "nothing", EXPECTED)
    if len(found) > MOST:
        raise BadInput(str(file), f"{len(found)} parameters", f"at most {MOST}")
    for name in found:
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST or not name.isprintable():
            raise BadInput(
                str(file), f"the name {str(name)[:60]!r}", f"a word of {LONGEST} at most"
            )
    return found


def _entry(where: str, value: Any, model: mujoco.MjModel) -> _Entry:
    if not isinstance(value, dict):
        raise BadInput(where, shown(value), ", ".join(KEYS))
    for key in value:
        if key not in KEYS:
            raise unknown_key(where, key, KEYS)
    for key in ("of", "low", "high"):
        if key not in value:
            raise BadInput(f"{where}.{key}", "nothing", "a value")
    place = _place(f"{where}.of", value["of"], model)
    low, high = (_number(f"{where}.{end}", value[end]) for end in ("low", "high"))
    if not low < high:
        raise BadInput(f"{where}.low", f"{low:g}", f"less than high, {high:g}")
    if low < place.least:
        least = "at least 0" if place.least == 0.0 else "a positive number"
        raise BadInput(f"{where}.low", f"{low:g}", least)
    logarithmic, unit = value.get("logarithmic", False), value.get("unit", "1")
    if not isinstance(logarithmic, bool):
        raise BadInput(f"{where}.logarithmic", repr(logarithmic)[:80], "true or false")
    if logarithmic and not low > 0.0:
        raise BadInput(f"{where}.low", f"{low:g}", "a positive number, as it is logarithmic")
    if not isinstance(unit, str | int) or not 0 < len(str(unit)) <= LONGEST:
        raise BadInput(f"{where}.unit", shown(unit), f"a word of {LONGEST} letters at most")
    return _Entry(place, low, high, str(unit), logarithmic)


def _place(where: str, words: Any, model: mujoco.MjModel) -> Place:
    if not isinstance(words, str) or len(words) > 400:
        raise BadInput(where, shown(words), "words such as body bob mass")
    try:
        return mujoco_parameters.find(model, words)
    except ValueError as error:
        found, _, expected = str(error).partition(", expected ")
        raise BadInput(where, found, expected) from error


def _number(where: str, value: Any) -> float:
    """Return a number; YAML takes 1e-4 for a text."""
    try:
        found = math.nan if isinstance(value, bool | list | dict) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise BadInput(where, shown(value), "a finite number")
    return found


def _check_places(file: Path, entries: Mapping[str, _Entry]) -> None:
    """Refuse two names of one number."""
    by_place: dict[tuple[str, int | None, int], str] = {}
    for name, entry in entries.items():
        place = (entry.place.field, entry.place.element, entry.place.number)
        if place in by_place:
            raise BadInput(f"{file}: {name}.of", f"what {by_place[place]} is of", "another number")
        by_place[place] = name
