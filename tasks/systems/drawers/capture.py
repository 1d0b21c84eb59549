"""Recording a session of a drawer, with a ring of microphones or with the simulated rig.

A real rig records sound alone; what a film of a scale says of the motion is added afterwards, by
`add_motion`. The simulated one has a camera, and knows the motion.
"""

import json
import zlib
from pathlib import Path
from typing import Any

from ricochet.hardware.microphones.interface import Recorder, Rig, default_rig, now
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.drawers.labels import MOST_MICROPHONES, SAMPLE_RATE
from ricochet.models.systems.drawers.tracks import Track
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.recordings import positions
from ricochet.tasks.recordings import recorder as sealing
from ricochet.tasks.recordings.manifests import LOCATABLE, MANIFEST
from ricochet.tasks.recordings.recorder import Beside, Sealed
from ricochet.tasks.systems.drawers import sessions, track_files
from ricochet.tasks.systems.drawers.sessions import Session
from ricochet.tasks.systems.drawers.settings import DrawerSessions
from ricochet.tasks.systems.interface import CaptureRequest
from ricochet.tasks.validation.outcomes import SIMULATED


def run(request: CaptureRequest) -> Sealed:
    """Record and seal the session that is asked for.

    Raises:
        BadInput: If the rig or the drawer is unknown, or a place of a microphone is none.
    """
    wanted, general = request.settings[DrawerSessions], request.settings[Capture]
    if request.rig == SIMULATED:
        return simulated(
            request.folder,
            _setting(wanted),
            takes=wanted.takes,
            seed=request.seed,
            form=general.format,
            progress=request.progress,
        )
    if request.rig != "sound_device":
        raise BadInput("--rig", repr(request.rig), f"one of {SIMULATED}, sound_device")
    return record(
        _sound_card(wanted, general),
        request.folder,
        wanted.drawer,
        wanted.takes,
        wanted.seconds,
        general.format,
        progress=request.progress,
    )


def simulated(
    folder: Path,
    setting: Any,
    *,
    takes: int,
    seed: int,
    form: str = "flac",
    progress: Progress = no_progress,
) -> Sealed:
    """Record a session of the simulated drawer, its tracks beside the sound.

    Args:
        folder: Where it is to lie; its name is the session's id.
        setting: A `Setting` of the generator; its length is that of a take.
        seed: With the id, of all takes.
    """
    from ricochet.hardware.twins.drawers.rig import SimulatedDrawer

    rig = SimulatedDrawer(setting, seed=seed ^ zlib.crc32(folder.name.encode()))

    def beside(partial: Path, number: int) -> dict[str, Any]:
        take = rig.last
        assert take is not None
        names = {"vision": f"vision-{number:04d}.csv", "motion": f"motion-{number:04d}.csv"}
        track_files.write(partial / names["vision"], Track(*take.vision.T))
        track_files.write(partial / names["motion"], Track(*take.motion.T))
        return names | {"light_off_at": min(setting.light_off, setting.seconds)}

    return record(
        rig, folder, setting.drawer, takes, setting.seconds, form, beside=beside, progress=progress
    )


def record(
    recorder: Recorder,
    folder: Path,
    drawer: str,
    takes: int,
    seconds: float,
    form: str = "flac",
    *,
    beside: Beside | None = None,
    progress: Progress = no_progress,
) -> Sealed:
    """Record and seal a session of a drawer; the same id is never recorded twice.

    Args:
        recorder: The rig, at 16 kHz.
        folder: Where it is to lie; its name is the session's id.
        drawer: Name of the drawer.
        seconds: Length of a take.
        beside: As in `tasks.recordings.recorder.record`.

    Raises:
        BadInput: If the id or the drawer cannot be a name, or the rig cannot hear a place.
    """
    planned = _planned(folder, drawer, recorder.rig)
    stated = sessions.to_json(planned)
    sessions.parse(json.dumps(stated), folder / MANIFEST)
    return sealing.record(
        recorder,
        folder,
        stated,
        takes=takes,
        duration=seconds,
        form=form,
        beside=beside,
        progress=progress,
    )


def _planned(folder: Path, drawer: str, rig: Rig) -> Session:
    return Session(folder, folder.name, now(), rig, drawer)


def _setting(wanted: DrawerSessions) -> Any:
    from ricochet.hardware.twins.drawers.generator import drawers
    from ricochet.hardware.twins.drawers.generator.takes import Setting

    if wanted.drawer not in drawers.DRAWERS:
        expected = "of the simulated rig one of " + ", ".join(drawers.DRAWERS)
        raise BadInput("drawers.drawer", repr(wanted.drawer), expected)
    return Setting(
        wanted.drawer,
        array=wanted.array,
        place=wanted.place,
        seconds=wanted.seconds,
        light_off=wanted.light_off,
    )


def _sound_card(wanted: DrawerSessions, general: Capture) -> Recorder:
    from ricochet.hardware.microphones.sound_device import SoundCard

    if not LOCATABLE <= len(wanted.microphones) <= MOST_MICROPHONES:
        found = f"{len(wanted.microphones)} places"
        expected = f"{LOCATABLE} to {MOST_MICROPHONES}, one for each channel"
        raise BadInput("drawers.microphones", found, expected)
    places = [
        positions.position(place, f"drawers.microphones, entry {number}")
        for number, place in enumerate(wanted.microphones)
    ]
    rig = default_rig(
        "sound_device", sample_rate=SAMPLE_RATE, temperature=general.temperature, places=places
    )
    return SoundCard(rig, device=general.device or None)
