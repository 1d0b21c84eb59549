"""The verb that hears a ball bounce at this computer: listen."""

import argparse
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ricochet.flows.command_line.recording_verbs import known_balls, report_answers
from ricochet.flows.command_line.verb import COMPUTES, Call, Verb, complete_by
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce

LONGEST = 600.0
MOST_CHANNELS = 2
"""A card may promise channels by the dozen that are all the same; a computer has one or two."""
AHEAD = 20.0
"""Seconds of sound that wait while an answer is computed."""
PATIENCE = 3.0
"""Seconds without sound after which a card is given up; some take a while to begin."""


def listen(call: Call) -> Mapping[str, Any]:
    """Record a ball, print what each bounce adds, and calibrate what was recorded."""
    announce("opening the microphone ...")
    from ricochet.hardware.microphones import levels, sound_device
    from ricochet.hardware.microphones.interface import default_rig
    from ricochet.hardware.microphones.sound_stream import SoundStream
    from ricochet.tasks.recordings import audio_files
    from ricochet.tasks.systems.bouncing_ball import listen as listening
    from ricochet.tasks.systems.bouncing_ball.calibration import run
    from ricochet.tasks.systems.bouncing_ball.calibration.targets import CalibrationRequest
    from ricochet.tasks.systems.bouncing_ball.live import LiveCalibration

    given = call.arguments
    path = _recording(call.out, given.name)
    request = CalibrationRequest(call.settings, path.parent, call.seed, ball=given.ball)
    size = request.size
    if not 1.0 <= given.seconds <= LONGEST:
        raise BadInput("--seconds", f"{given.seconds:g}", f"1 to {LONGEST:g}")
    driver = sound_device.sounddevice()
    found = levels.inputs(driver)
    usual = levels.usual(driver, found)
    device = usual if given.device is None else levels.named(given.device, found)
    audio_files.check_size(
        "--seconds",
        channels=min(device.channels, MOST_CHANNELS),
        frames=round(given.seconds * device.sample_rate),
        sample_rate=device.sample_rate,
    )
    places = [(0.0, 0.0, 0.0)] * min(device.channels, MOST_CHANNELS)
    rig = default_rig(device.name, sample_rate=device.sample_rate, places=places)
    stream = SoundStream(rig, device=device.number, driver=driver, ahead=AHEAD, patience=PATIENCE)
    live = LiveCalibration(rig.sample_rate, size)
    call.report_line(
        f"{device.name}, {device.sample_rate} Hz: let the ball fall. Ends when it lies "
        f"still, after {given.seconds:g} s, or with Ctrl-C"
    )
    listening.record(stream, path, live, seconds=given.seconds, report_line=call.report_line)
    call.report_line(f"recorded {path}")
    return report_answers([str(path)], run.run([str(path)], request), call)


def _recording(out: Path, name: str | None) -> Path:
    """Return where the sound goes, in a folder of its own; `BadInput` if the name is taken."""
    chosen = datetime.now().strftime("%Y-%m-%d-%H%M%S") if name is None else name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", chosen):
        raise BadInput("--name", repr(chosen), "letters, digits, dots and dashes, at most 64")
    path = out / chosen / f"{chosen}.wav"
    if path.exists():
        raise BadInput("--name", f"{path}, which is there already", "a new name")
    return path


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", metavar="NAME", help="name or number in `ricochet devices` (default: the usual)"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="longest recording (default 60)"
    )
    ball = parser.add_argument(
        "--ball", metavar="NAME", help="as of `ricochet calibrate`, which sets its drag"
    )
    complete_by(ball, known_balls)
    parser.add_argument("--name", metavar="ID", help="of the recording (default: date and time)")
    parser.add_argument(
        "--page", action="store_true", help="write page.html: its sound with the bounces"
    )


VERB = Verb(
    ("listen",),
    "hear a ball bounce at this computer's microphone, with the answer after each bounce",
    "ricochet listen --ball ping-pong",
    listen,
    _options,
    takes=COMPUTES,
)
