"""The ball and the surface that a session is planned for, as a calibration has them.

Of a `result.json` of `ricochet.calibration/2` the most probable member and the middle of what is
known of each of its parameters; of `ricochet.calibration/1`, and of a weak answer, the paper's.
"""

import math
import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.chains import family, parameters
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES
from ricochet.models.systems.bouncing_ball.planning.planned_sessions import KnownBall
from ricochet.tasks.storage import checked_json

SCHEMAS = ("ricochet.calibration/1", "ricochet.calibration/2")
NORMAL_90 = 1.645
"""Half the width of a central 90 % interval, in standard deviations."""
_LEAST_WEIGHT, _MOST_MEMBERS = 0.02, 3
_TEMPERATURE = 20.0
_HIGHEST = 1000.0  # as a session may state it, m
_PAPER = {"log_scatter": 3e-4, "log_take_scatter": 1e-4, "log_release_speed": 0.1}
_LOGS = {
    "log_tail_ratio": "tail_ratio",
    "log_scatter": "scatter",
    "log_take_scatter": "take_scatter",
    "log_release_speed": "release_speed",
    "log_time_noise": "time_noise",
    "log_place_noise": "place_noise",
}


@dataclass(frozen=True)
class Planned:
    """What is planned for.

    Attributes:
        members: Laws that its calibration did not rule out.
        drag: Centre and spread of the prior of log drag, by the size of the ball.
        height: From which it fell, m; None where that was not stated.
    """

    name: str
    ball: KnownBall
    members: tuple[str, ...]
    drag: tuple[float, float]
    height: float | None

    @property
    def take_scatter(self) -> float:
        """By how much restitution varies from take to take, absolute."""
        values = parameters.values(self.ball.theta[None])
        return float(values.take_scatter[0] * values.restitution[0])


def read(path: Path) -> dict[str, Any]:
    """Read a calibration's result.json; `BadInput` if it cannot be."""
    return checked_json.load(path, "the folder of one calibration, with its result.json")


def of_result(result: Mapping[str, Any], where: str) -> Planned:
    """Return what a result says; `BadInput` if it is none of one ball on one surface."""
    if result.get("schema") not in SCHEMAS:
        raise BadInput(where, f"schema {result.get('schema')!r}", " or ".join(SCHEMAS))
    if unknown := result.get("unknown"):
        unknown = ", ".join(map(str, unknown)) if isinstance(unknown, list) else "something"
        expected = "the calibration of a session whose microphones gave places"
        raise BadInput(where, f"a result in which {unknown} is unknown", expected)
    try:
        return _planned(result)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        found = f"a result that cannot be read ({type(error).__name__}: {error})"
        raise BadInput(where, found, f"the keys of {result['schema']}") from error


def _planned(result: Mapping[str, Any]) -> Planned:
    thing = result["object"]
    whole = result["schema"] == SCHEMAS[1] and result.get("stated") == "whole_takes"
    drag = _drag(result, whole=whole)
    priors = family.members(drag)
    weights = {name: float(result["members"][name]) for name in priors} if whole else {}
    ranked = sorted(weights, key=lambda name: -weights[name])[:_MOST_MEMBERS]
    members = tuple(name for name in ranked if weights[name] >= _LEAST_WEIGHT)
    if not members:
        members = tuple(name for name in priors if name.startswith("constant"))[::-1]
    prior = priors[members[0]]
    theta = prior.centre.copy()
    first, second = result["mean"]
    theta[:2] = float(first), float(second)
    values = _middles(result["nuisances"]) if whole else {
        name: math.log(value) for name, value in _PAPER.items()
    }  # fmt: skip
    for name, value in values.items():
        theta[NAMES.index(name)] = value
    theta[prior.absent] = prior.centre[prior.absent]
    name = f"{thing['ball']}-{thing['surface']}"
    if not re.fullmatch(checked_json.NAME, name) or len(name) > checked_json.LONGEST_NAME:
        raise ValueError(f"{name[:40]!r} is no name of a folder")
    ball = KnownBall(theta, prior.law)
    return Planned(name, ball, members, drag, _height(result))


def _height(result: Mapping[str, Any]) -> float | None:
    """Return the height that the balls fell from, which need not be the stated one; or None."""
    stated = result["object"].get("drop_height")
    if "release" in result:
        stated = statistics.median(float(row["height"]) for row in result["release"])
    if stated is None:
        return None
    if not 0.0 < (height := float(stated)) <= _HIGHEST:
        raise ValueError(f"a height of {height:g} m")
    return height


def _drag(result: Mapping[str, Any], *, whole: bool) -> tuple[float, float]:
    """Return centre and spread of the prior of log drag: by the ball's size, else by the result.

    Where a size was known and is not stated in the result, no law has a member without air, and the
    interval of the drag is as narrow as the size made it.
    """
    diameter, mass = (result["object"].get(name) for name in ("diameter", "mass"))
    if diameter is not None and mass is not None:
        return family.drag_prior(Size(float(diameter), float(mass)), _TEMPERATURE)
    if not whole or any(name.endswith(family.WITHOUT_LOSS_OR_AIR) for name in result["members"]):
        return family.drag_prior(None, _TEMPERATURE)
    low, high = (math.log(float(end)) for end in result["nuisances"]["drag"]["region_90"])
    return 0.5 * (low + high), (high - low) / (2.0 * NORMAL_90)


def _middles(known: Mapping[str, Any]) -> dict[str, float]:
    """Return coordinates in the middle of their 90 % intervals, or at their means."""
    found = {name: math.log(_middle(known[unit])) for name, unit in _LOGS.items()}
    share = _middle(known["tail_share"])
    found["logit_tail_share"] = math.log(share / (1.0 - share))
    found["log_drag"] = math.log(_middle(known["drag"]))
    found["slope"] = float(known["slope"]["mean"])
    found["tangential_loss"] = float(known["tangential_loss"]["mean"])
    return found


def _middle(known: Mapping[str, Any]) -> float:
    """Return the geometric middle of a positive number's 90 % interval."""
    low, high = (float(end) for end in known["region_90"])
    return math.sqrt(low * high)
