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

from ricochet.hardware.microphones import interface
from ricochet.hardware.microphones.interface import Recorder, Rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.constants import GRAVITY
from ricochet.models.core.progress import Progress
from ricochet.tasks.console.progress import bar
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.recordings import recorder as sealing
from ricochet.tasks.recordings.sessions import Session, Truth
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.systems.bouncing_ball.settings import Drops
from ricochet.tasks.validation.outcomes import SIMULATED


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
    if session != Path(session).name or session.startswith("."):
        raise BadInput("--session", repr(session), "a plain name, as of a folder")
    recorder = open_rig(rig, settings, seed=seed ^ zlib.crc32(session.encode()))
    return sealing.record_session(
        recorder,
        _plan(settings[Drops], folder / session, recorder.rig, simulated=rig == SIMULATED),
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
            position(place, f"capture.microphones, entry {number}")
            for number, place in enumerate(capture.microphones)
        ],
    )


def position(stated: Any, where: str) -> interface.Position:
    """Return a place of the settings, m; `BadInput` if it is not three finite numbers."""
    numbers = isinstance(stated, list) and all(isinstance(x, int | float) for x in stated)
    if not numbers or len(stated) != 3 or not all(math.isfinite(x) for x in stated):
        raise BadInput(where, repr(stated)[:60], "three finite numbers, metres")
    return float(stated[0]), float(stated[1]), float(stated[2])


def _simulated(rig: Rig, settings: Settings, seed: int) -> Recorder:
    from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig

    drops = settings[Drops]
    if drops.drop_height is None:
        raise BadInput("capture.drop_height", "null", "a height for the simulated rig, m")
    _check_duration(drops, drops.drop_height, settings[Capture].duration)
    scene = Scene(
        restitution=drops.restitution,
        log10_concentration=drops.log10_concentration,
        drop_height=drops.drop_height,
        reverberation_time=drops.reverberation_time,
        snr=drops.snr,
        noise_steps=drops.noise_steps,
        survey_sd=drops.survey_sd,
        contact_sd=drops.contact_sd,
    )
    return SimulatedRig(rig, scene, draw=np.random.default_rng(seed))


def _check_duration(drops: Drops, height: float, duration: float) -> None:
    """Refuse takes that end before the third bounce."""
    from ricochet.hardware.microphones.simulated_drops import LATEST_RELEASE

    e = drops.restitution
    third = math.sqrt(2.0 * height / GRAVITY) * (1.0 + 2.0 * e + 2.0 * e**2)
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


def _plan(drops: Drops, folder: Path, rig: Rig, *, simulated: bool) -> Session:
    truth = Truth(drops.restitution, drops.log10_concentration) if simulated else None
    return Session(
        folder=folder,
        identity=folder.name,
        started_at=interface.now(),
        rig=rig,
        ball=drops.ball,
        surface=drops.surface,
        drop_height=drops.drop_height,
        truth=truth,
    )
