"""How many takes, from which height, with which microphones: `ricochet plan`.

Sessions of 5, 10 and 20 takes are simulated for each rig and height and their posteriors searched
(`models.systems.bouncing_ball.planning`); the median deviation over a few of them is what one may
expect, and the fewest takes that reach all that is wanted are recommended.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.sound import arrays
from ricochet.models.sound.arrays import Microphones
from ricochet.models.systems.bouncing_ball.planning import expected_posterior, takes_needed
from ricochet.models.systems.bouncing_ball.planning.planned_sessions import Rig, Session
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball.planning.calibrated_ball import Planned
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate

SCHEMA = "ricochet.plan/1"
TRIED = (5, 10, 20)
MOST = 200
HEIGHTS = (0.10, 0.26, 0.50)
"""Of the release, m; the calibrated one takes the place of the nearest."""
_ALIKE = 1.1  # takes that are about as few
WEAKEST = 1.5
"""log10 concentration below which whole takes give no answer to rely on."""


@dataclass(frozen=True)
class Wanted:
    """Wanted posterior deviations of restitution and log10 concentration; None is any."""

    restitution: float | None
    concentration: float | None

    @property
    def both(self) -> tuple[float, float]:
        """The two, infinite where any will do."""
        pair = (self.restitution, self.concentration)
        first, second = (math.inf if each is None else each for each in pair)
        return first, second


@dataclass(frozen=True)
class Row:
    """What one rig reaches from one height.

    Attributes:
        deviations: Of both parameters after each of `TRIED` takes.
        takes: The fewest that reach what is wanted; None beyond `MOST`.
    """

    height: float
    microphones: tuple[tuple[float, ...], ...]
    deviations: Float[ndarray, "size 2"]
    takes: int | None

    def reached(self, takes: int) -> tuple[float, float]:
        """Return what a number of takes reaches."""
        tried = np.array(TRIED, dtype=float)
        first, second = (takes_needed.reached(takes, tried, column) for column in self.deviations.T)
        return first, second


@dataclass(frozen=True)
class Plan:
    """All rows, the recommended one first among those of as few takes."""

    planned: Planned
    wanted: Wanted
    rows: tuple[Row, ...]
    best: Row

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        rows = [
            {
                "height": row.height,
                "microphones": [list(place) for place in row.microphones],
                "sd": dict(zip(map(str, TRIED), _known(row.deviations), strict=True)),
                "takes": row.takes,
            }
            for row in self.rows
        ]
        wanted = (self.wanted.restitution, self.wanted.concentration)
        return {
            "schema": SCHEMA,
            "name": self.planned.name,
            "wanted_sd": dict(zip(PARAMETERS, wanted, strict=True)),
            "parameters": list(PARAMETERS),
            "rows": rows,
            "recommended": self.rows.index(self.best),
        }

    def lines(self) -> Iterator[str]:
        """Say it as a table and a recommendation."""
        sizes = ", ".join(map(str, TRIED))
        yield f"{self.planned.name}: expected posterior deviation after {sizes} takes"
        yield "  height  microphones  restitution               log10 concentration    takes needed"
        for row in self.rows:
            left = ", ".join(f"{value:.5f}" for value in row.deviations[:, 0])
            right = ", ".join(f"{value:.3f}" for value in row.deviations[:, 1])
            needed = f"more than {MOST}" if row.takes is None else str(row.takes)
            count = len(row.microphones)
            yield f"  {row.height:4.2f} m  {count:11d}  {left:26}{right:23}{needed:>12}"
        takes = self.best.takes or MOST
        first_sd, second_sd = self.best.reached(takes)
        yield (
            f"recommended: {takes} takes from {self.best.height:.2f} m with "
            f"{len(self.best.microphones)} microphones reach {first_sd:.5f} and {second_sd:.3f}; "
            f"`--set capture.drops={takes}`, then `--set calibrate.whole_takes={takes}`"
        )


@dataclass(frozen=True)
class _Job:
    planned: Planned
    rig: Rig
    session: Session
    seed: int


def make(
    planned: Planned,
    wanted: Wanted,
    settings: Settings,
    *,
    sessions: int,
    seed: int,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> Plan:
    """Plan sessions of a ball that was calibrated once.

    Args:
        sessions: Simulated of each size, rig and height.

    Raises:
        BadInput: If microphones or ball give no such answer, or no number of takes reaches it.
    """
    if planned.ball.theta[1] < WEAKEST:
        found = f"log10 concentration {planned.ball.theta[1]:.2f}"
        raise BadInput(planned.name, found, f"at least {WEAKEST}: paths are too far from normal")
    rigs = _rigs(settings, planned.height)
    bounces = settings[Calibrate].whole_bounces
    jobs = [
        _Job(planned, rig, Session(takes, height, bounces), seed * 1000 + number)
        for rig, height in rigs
        for takes in TRIED
        for number in range(sessions)
    ]
    reached = run_all(_deviations, jobs, workers=workers, progress=progress)
    shape = (len(rigs), len(TRIED), sessions, 2)
    medians = _medians(np.array(reached).reshape(shape))
    rows = tuple(
        _row(rig, height, table, wanted) for (rig, height), table in zip(rigs, medians, strict=True)
    )
    return Plan(planned, wanted, rows, _best(rows, planned, wanted))


def _deviations(job: _Job) -> tuple[float, float]:
    draw = np.random.default_rng([job.seed, job.session.takes])
    given = job.planned
    try:
        first, second = expected_posterior.deviations(
            given.ball, job.session, job.rig, drag=given.drag, members=given.members, draw=draw
        ).tolist()
    except ValueError:
        return math.nan, math.nan
    return first, second


def _medians(
    deviations: Float[ndarray, "rig size session 2"],
) -> Float[ndarray, "rig size 2"]:
    """Return medians over sessions, unknown (NaN) where fewer than half were explained."""
    known = np.where(np.isnan(deviations), np.inf, deviations)
    middle = np.median(known, axis=2)
    return np.where(np.isfinite(middle), middle, np.nan)


def _rigs(settings: Settings, height: float | None) -> list[tuple[Rig, float]]:
    """Return the rig of the settings at some heights, and with a fourth microphone at one."""
    rules, capture = settings[Calibrate], settings[Capture]
    places = np.array(capture.microphones, dtype=np.float64)
    if places.ndim != 2 or len(places) < 3 or places.shape[1:] != (3,):
        found = f"{len(capture.microphones)} microphones"
        raise BadInput("capture.microphones", found, "three or more: concentration needs places")
    try:
        arrays.check_layout(places)
    except ValueError as error:
        raise BadInput("capture.microphones", str(error), "places that fix a point") from error
    array = Microphones(places, float(capture.sample_rate), capture.temperature)
    rig = Rig(array, rules.contact_sd, rules.survey_sd, rules.release_sd)
    own = HEIGHTS[1] if height is None else height
    nearest = min(HEIGHTS, key=lambda each: abs(math.log(each / own)))
    rows = [(rig, own if each == nearest else each) for each in HEIGHTS]
    if len(places) == 3:
        fourth = np.append(2.0 * places[1:, :2].mean(0) - places[0, :2], places[0, 2])
        more = replace(array, positions=np.vstack((places, fourth)))
        rows.append((replace(rig, microphones=more), own))
    return rows


def _row(rig: Rig, height: float, table: Float[ndarray, "size 2"], wanted: Wanted) -> Row:
    tried, takes = np.array(TRIED, dtype=float), []
    for column, limit in zip(table.T, wanted.both, strict=True):
        known = bool(np.isfinite(column).all())
        found = takes_needed.needed(limit, tried, column, most=MOST) if known else None
        takes.append(MOST + 1 if found is None else found)
    most = max(takes)
    places = tuple(tuple(map(float, place)) for place in rig.microphones.positions)
    return Row(height, places, table, None if most > MOST else most)


def _known(table: Float[ndarray, "size 2"]) -> list[list[float | None]]:
    """Return deviations as JSON can hold them: unknown ones are null."""
    return [[None if math.isnan(each) else each for each in row] for row in table.tolist()]


def _best(rows: tuple[Row, ...], planned: Planned, wanted: Wanted) -> Row:
    """Return the row of the fewest microphones among those of about the fewest takes.

    Raises:
        BadInput: If no row reaches what is wanted.
    """
    able = [row for row in rows if row.takes is not None]
    if able:
        most = _ALIKE * min(row.takes or MOST for row in able)
        near = [row for row in able if (row.takes or MOST) <= most]
        return min(near, key=lambda row: (len(row.microphones), row.takes))
    if np.isnan([row.deviations for row in rows]).all(axis=(0, 1)).any():
        raise BadInput(planned.name, "no simulated session that is explained", "a likelier ball")
    ends = np.array([row.reached(MOST) for row in rows])
    parts = []
    for name, limit, column in zip(PARAMETERS, wanted.both, ends.T, strict=True):
        if limit < np.nanmin(column):
            parts.append(f"{name} {limit:g} (reached {np.nanmin(column):.2g}{_why(planned, name)})")
    expected = f"what {MOST} takes reach; sessions of other days, or a better rig, tell more"
    raise BadInput("wanted deviations", " and ".join(parts) or "both at once", expected)


def _why(planned: Planned, name: str) -> str:
    """Say where the ball itself is what limits the answer."""
    if name == PARAMETERS[0] and planned.take_scatter > 1e-3:
        return f", since restitution varies by {planned.take_scatter:.4f} from take to take"
    return ""
