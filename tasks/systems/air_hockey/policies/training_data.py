"""What all energies share: how the puck moves, what the arm can do, and shots with their outcomes.

Each step keeps its arrays under the digest of what decides them, so that a training that was
interrupted goes on where it stopped, and a search trains again without simulating again.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.arm import stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.puck import (
    dataset,
    dynamics,
    mode_fitting,
    prediction_checks,
    recorded_modes,
)
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.prediction_checks import Row
from ricochet.models.systems.air_hockey.puck.segmentation import Recording
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions, Shots
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.storage.files import cached_arrays, digest_of, output_folder
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.policies import labelling
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes
from ricochet.tasks.systems.air_hockey.recordings.puck_episodes import PuckEpisodes
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.training.steps import TrainingRequest

STEPS = "steps"
MODES, STROKES, TARGETS, UNSEEN = range(4)
"""Streams of randomness."""
MAKER = "ricochet.tasks.systems.air_hockey.policies.policy"
"""The module that makes a package of what the steps keep."""
SIMULATED = "simulated"
"""Stands for the digest of a recording where there is none."""
_ENOUGH = "records that hold enough contacts"
LONG = 100
"""Periods of an episode that predictions are held against."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Pucks at contact (m, m/s, m/s^2), angles tried for each, rad, and what comes of each shot."""

    states: Float[np.ndarray, "state 6"]
    angles: Float[np.ndarray, "state angle"]
    shots: Shots


def modes(request: TrainingRequest, progress: Progress = no_progress) -> PuckModes:
    """Learn how the puck moves on the recorded table, or on the simulated one.

    Raises:
        BadInput: If a recording cannot be used, or there are too few contacts.
    """
    return _modes(request, _recording(request), progress)


def recorded(request: TrainingRequest) -> str:
    """Return the digest of the recording that the modes are learnt from, or `SIMULATED`."""
    recording = _recording(request)
    return recording.digest if recording else SIMULATED


def predictions(request: TrainingRequest, progress: Progress = no_progress) -> tuple[Row, ...]:
    """Compare the modes' predictions with episodes that they were not learnt from.

    Raises:
        BadInput: As of `modes`, or the episodes that are held out cannot be smoothed.
    """
    draw, settings, recording = (
        _draw(request, UNSEEN),
        request.settings[Hockey],
        _recording(request),
    )
    learnt = _modes(request, recording, no_progress)
    if recording:
        unseen = _held_out(request, recording, learnt)
    else:
        unseen = dataset.collect(
            simulator.build(),
            episodes=settings.episodes,
            steps=LONG,
            disturbance=disturbance_of(settings),
            draw=draw,
            progress=lambda done: progress(done, settings.episodes),
        )
    noise = settings.position_noise
    return prediction_checks.prediction_table(learnt, unseen, Table(), noise=noise, draw=draw)


def strokes(request: TrainingRequest, progress: Progress = no_progress) -> Strokes:
    """Compute what the arm can do."""

    def make() -> dict[str, np.ndarray]:
        return stroke_table.build(
            draw=_draw(request, STROKES), progress=lambda share: progress(round(100 * share), 100)
        ).to_arrays()

    return stroke_table.from_arrays(_cached(request, "strokes", strokes_key(request), make))


def targets(request: TrainingRequest, progress: Progress = no_progress) -> Targets:
    """Draw pucks at contact and roll out many angles for each."""
    settings, recording = request.settings[Energies], _recording(request)

    def make() -> dict[str, np.ndarray]:
        learnt, draw = _modes(request, recording, no_progress), _draw(request, TARGETS)
        played = Conditions(
            learnt, strokes(request).speed, objective.contact_covariance(aim=settings.aim_sd)
        )
        states = objective.draw_states(settings.states, airflow_sd=learnt.airflow_sd, draw=draw)
        angles = objective.draw_angles(settings.states, settings.candidates, draw=draw)
        found = labelling.exhaustive(played, states, angles, progress)
        return {"states": states, "angles": angles, **vars(found)}

    arrays = _cached(request, "targets", _targets_key(request, recording), make)
    states, angles = arrays.pop("states"), arrays.pop("angles")
    return Targets(states, angles, Shots(**arrays))


def packages_key(request: TrainingRequest) -> str:
    """Return the digest of everything that decides the packages of a training."""
    settings = asdict(request.settings[Energies])
    return digest_of([targets_key(request), settings, code_digest(MAKER)])


def targets_key(request: TrainingRequest) -> str:
    """Return the digest of everything that decides the shots that energies learn from."""
    return _targets_key(request, _recording(request))


def predictions_key(request: TrainingRequest) -> str:
    """Return the digest of everything that decides how well the modes are found to predict."""
    code = code_digest(__name__)
    return digest_of([modes_key(request), code, asdict(request.settings[Hockey])])


def modes_key(request: TrainingRequest) -> str:
    """Return the digest of everything that decides the modes."""
    return _modes_key(request, _recording(request))


def strokes_key(request: TrainingRequest) -> str:
    """Return the digest of everything that decides the table of strokes."""
    return _key(request, STROKES)


def _recording(request: TrainingRequest) -> PuckEpisodes | None:
    """Return the recording that is learnt from, read once for its key and what is learnt."""
    path = request.settings[Hockey].recording
    return puck_episodes.read(Path(path)) if path else None


def _modes(
    request: TrainingRequest, recording: PuckEpisodes | None, progress: Progress
) -> PuckModes:
    """Return the modes of a recording, or of the simulated table."""

    def make() -> dict[str, np.ndarray]:
        if recording is None:
            return dynamics.to_arrays(_simulated_modes(request, progress))
        return dynamics.to_arrays(_recorded_modes(request, recording))

    return dynamics.from_arrays(_cached(request, "modes", _modes_key(request, recording), make))


def _modes_key(request: TrainingRequest, recording: PuckEpisodes | None) -> str:
    settings = request.settings[Hockey]
    if recording is not None:
        return _key(request, MODES, recording=recording.digest)
    facts = {"airflow": settings.airflow, "episodes": settings.episodes, "steps": settings.steps}
    return _key(request, MODES, hockey=facts)


def _targets_key(request: TrainingRequest, recording: PuckEpisodes | None) -> str:
    settings = request.settings[Energies]
    facts = {"states": settings.states, "candidates": settings.candidates, "aim": settings.aim_sd}
    upstream = [_modes_key(request, recording), strokes_key(request)]
    return _key(request, TARGETS, upstream=upstream, **facts)


def _simulated_modes(request: TrainingRequest, progress: Progress) -> PuckModes:
    """Record on the simulated table and learn its modes."""
    settings, world = request.settings[Hockey], simulator.build()
    recording = dataset.collect(
        world,
        episodes=settings.episodes,
        steps=settings.steps,
        disturbance=disturbance_of(settings),
        draw=_draw(request, MODES),
        progress=lambda done: progress(done, settings.episodes),
    )
    try:
        return mode_fitting.fit(recording, world.table)
    except ValueError as error:
        found = f"{settings.episodes}, {settings.steps} ({error})"
        raise BadInput("hockey.episodes, hockey.steps", found, _ENOUGH) from error


def _recorded_modes(request: TrainingRequest, recording: PuckEpisodes) -> PuckModes:
    """Learn the modes of a recording, but for the episodes that are held out."""
    learnt, _ = puck_episodes.split(recording)
    with _naming(request):
        return recorded_modes.fit(learnt, Table())[0]


def _held_out(request: TrainingRequest, recording: PuckEpisodes, learnt: PuckModes) -> Recording:
    """Return the episodes that are held out, with velocities by the modes."""
    _, held_out = puck_episodes.split(recording)
    with _naming(request):
        return recorded_modes.smoothed_by(learnt, held_out, Table())


@contextlib.contextmanager
def _naming(request: TrainingRequest) -> Iterator[None]:
    """Name the recording where the block finds that it holds too little."""
    try:
        yield
    except ValueError as error:
        raise BadInput(request.settings[Hockey].recording, str(error), _ENOUGH) from error


def _key(request: TrainingRequest, stream: int, **facts: object) -> str:
    facts = {"seed": request.seed, "stream": stream, "code": code_digest(__name__), **facts}
    return digest_of({**facts, "table": asdict(Table())})


def _draw(request: TrainingRequest, stream: int) -> np.random.Generator:
    """Return a step's own source of randomness."""
    return np.random.default_rng([request.seed, stream])


def _cached(
    request: TrainingRequest, name: str, key: str, make: Callable[[], Mapping[str, np.ndarray]]
) -> dict[str, np.ndarray]:
    """Return a step's arrays from this training or a fallback, or make them and keep them here."""
    others = [place / STEPS for place in request.fallbacks if place != request.out]
    return cached_arrays(output_folder(request.out / STEPS), name, key, make, fallbacks=others)
