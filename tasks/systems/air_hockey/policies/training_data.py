"""What all energies share: how the puck moves, what the arm can do, and shots with their outcomes.

Each step keeps its arrays under the digest of what decides them, so that a training that was
interrupted goes on where it stopped, and a search trains again without simulating again.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.arm import stroke_table as stroke_tables
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.puck import (
    dataset,
    dynamics,
    mode_fitting,
    prediction_checks,
)
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.prediction_checks import Row
from ricochet.models.systems.air_hockey.shots import objective as shots
from ricochet.models.systems.air_hockey.shots.objective import Conditions, Shots
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.console.progress import Progress, silent
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import digest_of, kept_arrays, output_folder
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.air_hockey import disturbance
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey

STEPS = "steps"
MODES, STROKES, LABELS, UNSEEN = range(4)
"""Streams of randomness."""
LONG = 100
"""Periods of an episode that predictions are held against."""


@dataclass(frozen=True)
class Order:
    """What is wanted.

    Attributes:
        settings: The settings.
        out: Folder of the results.
        seed: Seed of all randomness.
        beside: Folders of other trainings, whose steps serve where they are the same.
    """

    settings: Settings
    out: Path
    seed: int
    beside: tuple[Path, ...] = ()

    def draw(self, stream: int) -> np.random.Generator:
        """Return a step's own source of randomness."""
        return np.random.default_rng([self.seed, stream])

    @property
    def kept(self) -> Path:
        """Folder of what the steps keep."""
        return output_folder(self.out / STEPS)

    def find(
        self, name: str, key: str, make: Callable[[], Mapping[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """Return what a step kept, here or beside, or make it and keep it here.

        Args:
            name: What it is.
            key: Digest of everything that decides it.
            make: Makes the named arrays.
        """
        others = [place / STEPS for place in self.beside if place != self.out]
        return kept_arrays(self.kept, name, key, make, beside=others)


@dataclass(frozen=True, eq=False)
class Labels:
    """Shots and what becomes of them.

    Attributes:
        states: Of the puck at contact, m, m/s, m/s^2.
        angles: Tried for each, rad.
        shots: What becomes of each.
    """

    states: Float[np.ndarray, "state 6"]
    angles: Float[np.ndarray, "state angle"]
    shots: Shots


def modes(order: Order, progress: Progress = silent) -> PuckModes:
    """Record the simulated table and learn how the puck moves on it.

    Args:
        order: What is wanted.
        progress: Told of each episode.

    Returns:
        The modes.

    Raises:
        BadInput: If so few episodes hold too few contacts.
    """
    wanted = order.settings[Hockey]

    def make() -> dict[str, np.ndarray]:
        world = simulator.build()
        recording = dataset.collect(
            world,
            episodes=wanted.episodes,
            steps=wanted.steps,
            disturbance=disturbance.disturbance(wanted),
            draw=order.draw(MODES),
            progress=lambda done: progress(done, wanted.episodes),
        )
        try:
            return dynamics.to_arrays(mode_fitting.fit(recording, world.table))
        except ValueError as error:
            found = f"{wanted.episodes}, {wanted.steps} ({error})"
            expected = "records that hold enough contacts"
            raise BadInput("hockey.episodes, hockey.steps", found, expected) from error

    return dynamics.from_arrays(order.find("modes", modes_key(order), make))


def predictions(order: Order, progress: Progress = silent) -> tuple[Row, ...]:
    """Hold the modes against episodes that they were not learnt from.

    Args:
        order: What is wanted.
        progress: Told of each episode.

    Returns:
        Errors and coverage by what happened to the puck, after a period and after a second.
    """
    draw, world, wanted = order.draw(UNSEEN), simulator.build(), order.settings[Hockey]
    unseen = dataset.collect(
        world,
        episodes=wanted.episodes,
        steps=LONG,
        disturbance=disturbance.disturbance(wanted),
        draw=draw,
        progress=lambda done: progress(done, wanted.episodes),
    )
    noise, learnt = wanted.position_noise, modes(order)
    return prediction_checks.prediction_table(learnt, unseen, world.table, noise=noise, draw=draw)


def strokes(order: Order, progress: Progress = silent) -> Strokes:
    """Compute what the arm can do.

    Args:
        order: What is wanted.
        progress: Told of the hundredths of the work.

    Returns:
        The table of strokes.
    """

    def make() -> dict[str, np.ndarray]:
        return stroke_tables.build(
            draw=order.draw(STROKES), progress=lambda share: progress(round(100 * share), 100)
        ).to_arrays()

    return stroke_tables.from_arrays(order.find("strokes", strokes_key(order), make))


def labels(order: Order, progress: Progress = silent) -> Labels:
    """Draw pucks at contact and roll out many angles for each.

    Args:
        order: What is wanted.
        progress: Told of the shots.

    Returns:
        The shots.
    """
    wanted = order.settings[Energies]

    def make() -> dict[str, np.ndarray]:
        learnt, draw = modes(order), order.draw(LABELS)
        played = Conditions(
            learnt, strokes(order).speed, shots.contact_covariance(aim=wanted.aim_sd)
        )
        states = shots.draw_states(wanted.states, airflow_sd=learnt.airflow_sd, draw=draw)
        angles = shots.draw_angles(wanted.states, wanted.candidates, draw=draw)
        found = shots.exhaustive(played, states, angles, lambda done: progress(done, angles.size))
        return {"states": states, "angles": angles, **vars(found)}

    arrays = order.find("labels", labels_key(order), make)
    states, angles = arrays.pop("states"), arrays.pop("angles")
    return Labels(states, angles, Shots(**arrays))


def labels_key(order: Order) -> str:
    """Name everything that decides the shots that energies learn from.

    Args:
        order: What is wanted.

    Returns:
        A digest.
    """
    wanted = order.settings[Energies]
    told = {"states": wanted.states, "candidates": wanted.candidates, "aim": wanted.aim_sd}
    return _key(order, LABELS, upstream=[modes_key(order), strokes_key(order)], **told)


def predictions_key(order: Order) -> str:
    """Name everything that decides how well the modes are found to foretell the puck.

    Args:
        order: What is wanted.

    Returns:
        A digest.
    """
    code = code_digest(__name__)
    return digest_of([modes_key(order), code, asdict(order.settings[Hockey])])


def modes_key(order: Order) -> str:
    """Name everything that decides the modes.

    Args:
        order: What is wanted.

    Returns:
        A digest.
    """
    wanted = order.settings[Hockey]
    told = {"airflow": wanted.airflow, "episodes": wanted.episodes, "steps": wanted.steps}
    return _key(order, MODES, hockey=told)


def strokes_key(order: Order) -> str:
    """Name everything that decides the table of strokes.

    Args:
        order: What is wanted.

    Returns:
        A digest.
    """
    return _key(order, STROKES)


def _key(order: Order, stream: int, **told: object) -> str:
    facts = {"seed": order.seed, "stream": stream, "code": code_digest(__name__), **told}
    return digest_of({**facts, "table": asdict(Table())})
