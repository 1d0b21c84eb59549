"""Shooting packages, `ricochet.shooting/2`: all that an agent needs to shoot, and no code.

    shooting.json         schema, inputs with their bounds, setting, table, digest, commit, sha256s
    shooting.safetensors  `energy.*` (the net), `modes.*` (the contacts), `strokes.*` (the arm)
    checks.json           what was measured: regret, agreement of modes, history of the training
    reference.safetensors states and angles with their energies, stroke speeds and predictions

It is written, checked and read by the rules of `tasks.registry.packages`: numpy and safetensors
alone. The bounds are those of the states that the energy was trained on; outside them it knows
nothing.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.arm import stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import energy_network, objective
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.shots.objective import Conditions, Setting
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.registry import signatures
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import (
    Arrays,
    Package,
    check_names,
    read_package,
    write_package,
)
from ricochet.tasks.registry.quantities import Quantity
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies import policy_checks
from ricochet.tasks.systems.air_hockey.policy_names import PREFIX

SCHEMA = "ricochet.shooting/2"
KIND = "shooting-energy"
INPUTS = ("x", "y", "velocity_x", "velocity_y", "airflow_x", "airflow_y", "angle")
UNITS = ("m", "m", "m/s", "m/s", "m/s^2", "m/s^2", "rad")
REFERENCES, MOST_INPUTS = 16, 1000
HELD_OUT = "held_out_history"
"""Curve of the losses that a package's checks hold; those of the training are another."""


@dataclass(frozen=True, eq=False)
class Shooter:
    """What an agent that shoots is made of.

    Attributes:
        setting: The weights and the promised share of Eq. 12.
        low: Least puck state, then angle, that the energy was trained on, m, m/s, m/s^2, rad.
        high: Greatest.
    """

    setting: Setting
    energy: Energy
    modes: PuckModes
    strokes: Strokes
    table: Table
    low: Float[ndarray, " 7"]
    high: Float[ndarray, " 7"]

    @property
    def name(self) -> str:
        """Its name in the registry."""
        return f"{PREFIX}{self.setting.name}"

    def conditions(self, *, aim: float) -> Conditions:
        """Return what decides its shots; each axis of the aim errs by a standard deviation, m."""
        return Conditions(
            self.modes, self.strokes.speed, objective.contact_covariance(aim=aim), self.table
        )


def folder_of(training: Path, name: str) -> Path:
    """Return the folder of a package among the results of a training."""
    return training / name / "package"


def is_current(folder: Path, key: str) -> bool:
    """Tell whether a whole package with this key is in a folder."""
    try:
        return read_package(folder, reader=READER).data_digest == key
    except BadInput:
        return False


def write(
    shooter: Shooter,
    folder: Path,
    *,
    checks: Mapping[str, Any],
    key: str,
    git_commit: str,
    settings: Mapping[str, Any],
) -> None:
    """Write a shooter as a package; `BadInput` if the place cannot be written."""
    named = zip(INPUTS, UNITS, shooter.low, shooter.high, strict=True)
    facts = {"setting": asdict(shooter.setting), "table": asdict(shooter.table)}
    package = Package(
        kind=KIND,
        name=shooter.name,
        parameters=tuple(Parameter(n, unit, float(a), float(b)) for n, unit, a, b in named),
        arrays=_arrays(shooter),
        inputs=_inputs(shooter),
        checks=checks,
        data_digest=key,
        git_commit=git_commit,
        settings={**facts, "training": dict(settings)},
    )
    write_package(folder, package, reader=READER)


def read(folder: Path, *, table: Table | None = None, key: Key | None = None) -> Shooter:
    """Read a shooter from a verified package; see `from_package`.

    Args:
        key: By which it must be signed, as `signatures.demanded` says.
    """
    package = read_package(folder, reader=READER, key=signatures.demanded(key))
    return from_package(package, where=str(folder), table=table)


def from_package(package: Package, *, where: str, table: Table | None = None) -> Shooter:
    """Rebuild the shooter of a package that is to play on a table, the standard one when absent.

    `BadInput` if it is of another kind or another table, or its settings cannot be read.
    """
    shooter = _shooter(package, table or Table(), where)
    _refuse_other_table(package.settings.get("table"), shooter.table, where)
    return shooter


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Evaluate a package of this kind at its reference inputs, `states` and `angles`.

    Returns `energy`, the stroke's `speed`, m/s, and the state a period later, `mean`.
    """
    states, angles, table = inputs["states"], inputs["angles"], Table()
    net = energy_network.from_arrays(_part("energy", arrays))
    strokes = stroke_table.from_arrays(_part("strokes", arrays))
    modes = dynamics.from_arrays(_part("modes", arrays))
    normal = np.stack((np.cos(angles), np.sin(angles)), -1)
    mallet = states[:, :2] - table.contact_radius * normal
    covariance = np.zeros((len(states), 6, 6))
    return {
        "energy": np.asarray(energy_network.evaluate(net, states, angles), dtype=np.float64),
        "speed": strokes.speed(mallet - np.array(table.robot_base[:2]), angles),
        "mean": dynamics.step(modes, states, covariance, table)[0],
    }


def describe(package: Package) -> tuple[Quantity, ...]:
    """Return the scores by which a policy is known: what it loses, and which modes it finds."""
    names = {"regret_share": "share of the best objective lost", "agreement": "modes that agree"}
    return tuple(
        Quantity(words, "1", float(package.checks[name]))
        for name, words in names.items()
        if isinstance(package.checks.get(name), int | float)
    )


def check(package: Package, where: str) -> None:
    """Refuse a package that is no policy, of this table or another: `BadInput`."""
    shooter = _shooter(package, Table(), where)
    expected = _arrays(shooter)
    check_names(package, expected, where)
    if any(array.shape != expected[name].shape for name, array in package.arrays.items()):
        raise BadInput(f"{where}: arrays", "other shapes", "those of a policy")
    policy_checks.check(shooter, where)
    if shooter.name != package.name:
        raise BadInput(f"{where}: setting", shooter.name[:80], f"that of {package.name}")
    units = tuple(each.unit for each in package.parameters)
    rows = {name: len(array) if array.ndim else 0 for name, array in package.inputs.items()}
    if units != UNITS or set(rows) != {"states", "angles"} or max(rows.values()) > MOST_INPUTS:
        raise BadInput(where, "other units or inputs", f"{', '.join(UNITS)}; {MOST_INPUTS} at most")
    stated = package.settings.get("table")
    if not isinstance(stated, Mapping) or set(stated) != set(asdict(Table())):
        raise BadInput(f"{where}: table", repr(stated)[:80], "a table's dimensions")
    for name, value in stated.items():
        numbers = np.asarray(value)
        if numbers.dtype.kind not in "if" or not np.isfinite(numbers).all():
            raise BadInput(f"{where}: table.{name}", repr(value)[:80], "finite numbers, m")


READER = Reader(
    evaluate, SCHEMA, "shooting", describe=describe, check=check, made_by=POLICY.made_by
)
"""The reader of this kind."""


def _shooter(package: Package, table: Table, where: str) -> Shooter:
    names = tuple(parameter.name for parameter in package.parameters)
    if (package.kind, names) != (KIND, INPUTS):
        raise BadInput(where, f"kind {package.kind} of {', '.join(names)}"[:200], KIND)
    try:
        setting = policy_checks.setting_of(package.settings["setting"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(where, f"settings without {error}"[:200], "`setting`") from error
    return Shooter(
        setting=setting,
        energy=energy_network.from_arrays(_part("energy", package.arrays)),
        modes=dynamics.from_arrays(_part("modes", package.arrays)),
        strokes=stroke_table.from_arrays(_part("strokes", package.arrays)),
        table=table,
        low=np.array([parameter.low for parameter in package.parameters]),
        high=np.array([parameter.high for parameter in package.parameters]),
    )


def _arrays(shooter: Shooter) -> Arrays:
    parts = {
        "energy": energy_network.to_arrays(shooter.energy),
        "modes": dynamics.to_arrays(shooter.modes),
        "strokes": shooter.strokes.to_arrays(),
    }
    return {
        f"{part}.{name}": array for part, arrays in parts.items() for name, array in arrays.items()
    }


def _part(part: str, arrays: Arrays) -> Arrays:
    start = f"{part}."
    return {n.removeprefix(start): array for n, array in arrays.items() if n.startswith(start)}


def _inputs(shooter: Shooter) -> Arrays:
    draw = np.random.default_rng(0)
    rows = draw.uniform(shooter.low, shooter.high, (REFERENCES, len(INPUTS)))
    return {"states": rows[:, :6], "angles": rows[:, 6]}


def _refuse_other_table(found: Any, wanted: Table, where: str) -> None:
    expected = asdict(wanted)
    if not isinstance(found, Mapping) or set(found) != set(expected):
        raise BadInput(f"{where}: table", repr(found), f"the keys {', '.join(expected)}")
    for name, value in expected.items():
        if not np.array_equal(np.asarray(found[name]), np.asarray(value)):
            raise BadInput(f"{where}: table.{name}", repr(found[name]), repr(value))
