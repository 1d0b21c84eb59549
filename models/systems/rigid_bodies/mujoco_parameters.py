"""Numbers of a MuJoCo model by name: `body bob mass`, `joint hinge damping`, `option gravity z`.

A name is an element's kind, its own name, a quantity and, of a quantity that has several numbers,
which of them: counted from 0 as MuJoCo counts, or x, y, z of a place or a direction. `QUANTITIES`
lists what there is. Whatever MuJoCo computes from these numbers follows when they are set; a mass
leaves the inertia as it is, and neither is computed anew from shapes.

Source: MuJoCo's mjModel and mj_setConst (Todorov, Erez and Tassa 2012).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.nearest_name import did_you_mean

AXES = ("x", "y", "z")
_NONE = 1e-12


@dataclass(frozen=True)
class Quantity:
    """Numbers that each element of a kind has.

    Attributes:
        field: Of mjModel, or of its options.
        numbers: How many there are.
        least: What they must not be below.
        usual: Which of them is meant where none is named; None asks for a name.
    """

    field: str
    numbers: int = 1
    least: float = -math.inf
    usual: int | None = 0


QUANTITIES = {
    "body mass": Quantity("body_mass", least=_NONE),
    "body inertia": Quantity("body_inertia", 3, _NONE, None),
    "body ipos": Quantity("body_ipos", 3, usual=None),
    "body pos": Quantity("body_pos", 3, usual=None),
    "joint damping": Quantity("dof_damping", least=0.0),
    "joint stiffness": Quantity("jnt_stiffness", least=0.0),
    "joint frictionloss": Quantity("dof_frictionloss", least=0.0),
    "joint armature": Quantity("dof_armature", least=0.0),
    "joint springref": Quantity("qpos_spring"),
    "joint pos": Quantity("jnt_pos", 3, usual=None),
    "geom friction": Quantity("geom_friction", 3, 0.0),
    "site pos": Quantity("site_pos", 3, usual=None),
    "tendon damping": Quantity("tendon_damping", least=0.0),
    "tendon stiffness": Quantity("tendon_stiffness", least=0.0),
    "tendon frictionloss": Quantity("tendon_frictionloss", least=0.0),
    "actuator gear": Quantity("actuator_gear", 6),
    "actuator gain": Quantity("actuator_gainprm", 10),
    "actuator bias": Quantity("actuator_biasprm", 10, usual=None),
    "option gravity": Quantity("gravity", 3, usual=None),
    "option wind": Quantity("wind", 3, usual=None),
    "option density": Quantity("density", least=0.0),
    "option viscosity": Quantity("viscosity", least=0.0),
}
"""What parameters may be, by kind and quantity."""
KINDS = {
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "joint": mujoco.mjtObj.mjOBJ_JOINT,
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
    "site": mujoco.mjtObj.mjOBJ_SITE,
    "tendon": mujoco.mjtObj.mjOBJ_TENDON,
    "actuator": mujoco.mjtObj.mjOBJ_ACTUATOR,
}
"""Kinds of elements that have names; options have none."""


@dataclass(frozen=True)
class Place:
    """Where a number stands in a model.

    Attributes:
        element: Its row in the field, None among the options.
        number: Its place in the row.
        least: What it must not be below.
    """

    field: str
    element: int | None
    number: int
    least: float


def names(model: mujoco.MjModel, kind: str) -> list[str]:
    """Return the names of all elements of a kind that have one.

    >>> model = mujoco.MjModel.from_xml_string("<mujoco/>")
    >>> names(model, "body")
    ['world']
    """
    count = int(getattr(model, {"joint": "njnt", "actuator": "nu"}.get(kind, f"n{kind}")))
    found = [mujoco.mj_id2name(model, KINDS[kind], each) for each in range(count)]
    return [name for name in found if name]


def find(model: mujoco.MjModel, words: str) -> Place:
    """Return the place of a number.

    >>> model = mujoco.MjModel.from_xml_string("<mujoco/>")
    >>> place = find(model, "option gravity z")
    >>> place.field, place.number, read(model, [place])
    ('gravity', 2, array([-9.81]))

    Raises:
        ValueError: If there is none of this name; it says what there is.
    """
    kind, *rest = words.split() or [""]
    if kind != "option" and kind not in KINDS:
        known = [*KINDS, "option"]
        raise ValueError(f"{words!r}, expected {', '.join(known)} first{did_you_mean(kind, known)}")
    which = rest.pop() if len(rest) > 1 and _is_number(rest[-1]) else None
    quantity = rest.pop() if rest else ""
    found = QUANTITIES.get(f"{kind} {quantity}")
    if found is None:
        known = [each.partition(" ")[2] for each in QUANTITIES if each.startswith(f"{kind} ")]
        near = did_you_mean(quantity, known)
        raise ValueError(f"{words!r}, expected {', '.join(known)} of a {kind}{near}")
    element = _element(model, kind, " ".join(rest), words)
    return Place(found.field, element, _number(found, which, words), found.least)


def read(model: mujoco.MjModel, places: Sequence[Place]) -> Float[ndarray, " parameter"]:
    """Return the numbers at some places."""
    return np.array([float(_row(model, place)[place.number]) for place in places])


def assign(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    places: Sequence[Place],
    values: Float[ndarray, " parameter"],
) -> None:
    """Set the numbers at some places of a model, and all that follows from them.

    Args:
        data: Of this model, to compute in.
    """
    for place, value in zip(places, values, strict=True):
        if place.element is None and np.ndim(getattr(model.opt, place.field)) == 0:
            setattr(model.opt, place.field, value)
        else:
            _row(model, place)[place.number] = value
    mujoco.mj_setConst(model, data)


def _row(model: mujoco.MjModel, place: Place) -> ndarray:
    if place.element is None:
        return np.atleast_1d(getattr(model.opt, place.field))
    return np.atleast_1d(getattr(model, place.field)[place.element : place.element + 1]).reshape(-1)


def _element(model: mujoco.MjModel, kind: str, name: str, words: str) -> int | None:
    """Return the row of an element: of a joint those of its one degree of freedom."""
    if kind == "option":
        if name:
            raise ValueError(f"{words!r}, expected no name between option and its quantity")
        return None
    found = mujoco.mj_name2id(model, KINDS[kind], name) if name else -1
    if found < 0:
        known = names(model, kind)
        near = did_you_mean(name, known) or f"; it has {', '.join(known[:8]) or 'none with a name'}"
        raise ValueError(f"{words!r}, expected a {kind} of the model{near}")
    return int(found)


def _number(quantity: Quantity, which: str | None, words: str) -> int:
    if which is None:
        if quantity.usual is None:
            ends = "x, y or z" if quantity.numbers == 3 else f"0 to {quantity.numbers - 1}"
            raise ValueError(f"{words!r}, expected {ends} after it: it has several numbers")
        return quantity.usual
    number = AXES.index(which) if which in AXES else int(which)
    if not number < quantity.numbers:
        raise ValueError(f"{words!r}, expected a number from 0 to {quantity.numbers - 1}")
    return number


def _is_number(word: str) -> bool:
    return word in AXES or (word.isascii() and word.isdecimal() and len(word) < 4)
