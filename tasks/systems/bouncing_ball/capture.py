"""Recording a session of drops with a rig by name.

The session's id is a parameter and the same id is never recorded twice; that, the rig's lock and
the salvage of an interrupted session are kept by `tasks.recordings.recorder`.
"""

import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ricochet.hardware.microphones import interface
from ricochet.hardware.microphones.interface import Recorder, Rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.constants import GRAVITY
from ricochet.models.core.progress import Progress
from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.tasks.console.progress import bar
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.recordings import positions, sessions
from ricochet.tasks.recordings import recorder as sealing
from ricochet.tasks.recordings.sessions import Session, Truth
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.systems.bouncing_ball.settings import Drops, Nature
from ricochet.tasks.validation.outcomes import SIMULATED

CONTACT = ("viscoelastic", "slope", "tangential_loss", "tail_share", "tail_ratio", "scatter")
"""What a ball, its settings and the truth of a session call alike."""
UNKNOWN_RADIUS = 0.02
"""Of a ball whose size is not stated, m; nothing that drops it depends on it."""


def run(settings: Settings, folder: Path, *, rig: str, session: str, seed: int) -> dict[str, Any]:
    """Record and seal a session under `folder/<session>`, and write `result.json`.

    The id is mixed into the seed of a simulated rig, so that two sessions differ. `BadInput` if
    the rig is unknown, the id cannot name a folder or the disk is full, `BusyError` if another
    process uses the rig.
    """
    with bar(session) as progress:
        sealed = capture(settings, folder, rig=rig, session=session, seed=seed, progress=progress)
    result = {
        "schema": "ricochet.capture/1",
        "session": session,
        "folder": str(sealed.session.folder),
        "state": sealed.state,
        "takes": len(sealed.session.takes),
        "rejected": [vars(entry) for entry in sealed.session.rejected],
        "published": None,
    }
    write_json(folder / "result.json", result)
    return result


def package_name(settings: Settings) -> str:
    """Return the name in the registry that recordings with these settings lead to."""
    return f"{settings[Drops].ball}-{settings[Drops].surface}"


def capture(
    settings: Settings, folder: Path, *, rig: str, session: str, seed: int, progress: Progress
) -> sealing.RecordedSession:
    """Record and seal a session under `folder/<session>`."""
    sealing.check_name(session)
    recorder = open_rig(rig, settings, seed=seed ^ zlib.crc32(session.encode()))
    return sealing.record_session(
        recorder,
        _plan(settings, folder / session, recorder.rig, simulated=rig == SIMULATED),
        takes=settings[Drops].drops,
        duration=settings[Capture].duration,
        form=settings[Capture].format,
        progress=progress,
    )


def open_rig(name: str, settings: Settings, *, seed: int) -> Recorder:
    """Open a rig by its name; `BadInput` if there is none."""
    if name not in RIGS:
        raise BadInput("--rig", repr(name), "one of " + ", ".join(RIGS))
    return RIGS[name](stated_rig(name, settings[Capture]), settings, seed)


def stated_rig(name: str, capture: Capture) -> Rig:
    """Return the microphones as the settings state them; `BadInput` if a place is no place."""
    if not capture.microphones:
        raise BadInput("capture.microphones", "no place", "one for each channel")
    return interface.default_rig(
        name,
        sample_rate=capture.sample_rate,
        temperature=capture.temperature,
        places=[
            positions.position(place, f"capture.microphones, entry {number}")
            for number, place in enumerate(capture.microphones)
        ],
    )


def _simulated(rig: Rig, settings: Settings, seed: int) -> Recorder:
    from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig

    drops, dropped = settings[Drops], ball(settings)
    if drops.drop_height is None:
        raise BadInput("capture.drop_height", "null", "a height for the simulated rig, m")
    _check_duration(dropped, drops.drop_height, settings[Capture].duration)
    scatter = settings[Nature].take_scatter
    scene = Scene(
        restitution=drops.restitution,
        log10_concentration=drops.log10_concentration,
        drop_height=drops.drop_height,
        reverberation_time=drops.reverberation_time,
        snr=drops.snr,
        noise_steps=drops.noise_steps,
        survey_sd=drops.survey_sd,
        contact_sd=drops.contact_sd,
        nature=None if dropped.plain and scatter == 0.0 else dropped.nature,
        take_scatter=scatter,
    )
    return SimulatedRig(rig, scene, draw=np.random.default_rng(seed))


def ball(settings: Settings) -> Ball:
    """Return the ball that the simulated rig drops; `BadInput` if its size is stated by half."""
    drops, nature = settings[Drops], settings[Nature]
    drag, size = nature.drag, _size(drops)
    if drag is None:
        drag = 0.0 if size is None else air.drag(size, settings[Capture].temperature)
    return Ball(
        name=drops.ball,
        restitution=drops.restitution,
        log10_concentration=drops.log10_concentration,
        radius=UNKNOWN_RADIUS if size is None else 0.5 * size.diameter,
        viscoelastic=nature.viscoelastic,
        slope=nature.slope,
        tangential_loss=nature.tangential_loss,
        tail_share=nature.tail_share,
        tail_ratio=nature.tail_ratio,
        scatter=nature.scatter,
        drag=drag,
    )


def _size(drops: Drops) -> Size | None:
    if drops.diameter is not None and drops.mass is not None:
        sessions.check_density(drops.diameter, drops.mass, "capture.mass")
        return Size(drops.diameter, drops.mass)
    if drops.diameter is None and drops.mass is None:
        return None
    lacking = "diameter" if drops.diameter is None else "mass"
    raise BadInput(f"capture.{lacking}", "null", "diameter and mass, or neither")


def _check_duration(dropped: Ball, height: float, duration: float) -> None:
    """Refuse takes that end before the third bounce, without air."""
    from ricochet.hardware.microphones.simulated_drops import LATEST_RELEASE

    fall = math.sqrt(2.0 * height / GRAVITY)
    first = dropped.nature.restitution(torch.tensor(GRAVITY * fall).double())
    second = dropped.nature.restitution(GRAVITY * fall * first)
    third = fall * (1.0 + 2.0 * float(first) + 2.0 * float(first * second))
    least = third + LATEST_RELEASE
    if duration < least:
        needed = f"at least {math.ceil(100.0 * least) / 100.0:g} s"
        raise BadInput("capture.duration", f"{duration:g} s", f"{needed} from {height:g} m")


def _sound_device(rig: Rig, settings: Settings, seed: int) -> Recorder:
    from ricochet.hardware.microphones.sound_device import SoundCard

    return SoundCard(rig, device=settings[Capture].device or None)


RIGS: dict[str, Callable[[Rig, Settings, int], Recorder]] = {
    SIMULATED: _simulated,
    "sound_device": _sound_device,
}


def _truth(settings: Settings) -> Truth:
    dropped = ball(settings)
    return Truth(
        restitution=dropped.restitution,
        log10_concentration=dropped.log10_concentration,
        take_scatter=settings[Nature].take_scatter,
        drag=dropped.drag,
        **{name: getattr(dropped, name) for name in CONTACT},
    )


def _plan(settings: Settings, folder: Path, rig: Rig, *, simulated: bool) -> Session:
    drops = settings[Drops]
    size = _size(drops)
    return Session(
        folder=folder,
        identity=folder.name,
        started_at=interface.now(),
        rig=rig,
        ball=drops.ball,
        surface=drops.surface,
        drop_height=drops.drop_height,
        diameter=None if size is None else size.diameter,
        mass=None if size is None else size.mass,
        truth=_truth(settings) if simulated else None,
    )
