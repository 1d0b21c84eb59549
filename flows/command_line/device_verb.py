"""The verb that lists sound cards and shows how loud their channels are: devices."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ricochet.flows.command_line.verb import RESULT, Call, Verb, write_result
from ricochet.models.core.bad_input import BadInput

SCHEMA = "ricochet.devices/1"
LONGEST = 60.0
CLIPPED, QUIET = -0.1, -60.0
"""dB of full scale."""


def devices(call: Call) -> Mapping[str, Any]:
    """List input devices and measure the levels of one."""
    from ricochet.hardware.microphones import levels, sound_device
    from ricochet.tasks.console.progress import bar

    given = call.arguments
    if not 0.1 <= given.seconds <= LONGEST:
        raise BadInput("--seconds", f"{given.seconds:g}", f"0.1 to {LONGEST:g}")
    driver = sound_device.sounddevice()
    found = levels.inputs(driver)
    usual = levels.usual(driver, found)
    heard = usual if given.device is None else levels.named(given.device, found)
    with bar(heard.name) as progress:
        measured = levels.measure(heard, given.seconds, driver=driver, progress=progress)
    result = {
        "schema": SCHEMA,
        "devices": [asdict(each) for each in found],
        "measured": heard.number,
        "levels_db": measured.tolist(),
    }
    write_result(call.out, result)
    for each in found:
        call.report_line(
            f"{each.number:3d}  {each.name}: {each.channels} channels, {each.sample_rate} Hz"
        )
    call.report_line(f"levels of {heard.name}, largest sample in {given.seconds:g} s, dB:")
    for channel, level in enumerate(measured):
        note = "  clipped" if level > CLIPPED else "  quiet" if level < QUIET else ""
        call.report_line(f"  channel {channel:2d}  {levels.bar(level)}  {level:6.1f}{note}")
    call.report_next(f"ricochet listen --device {heard.number}")
    return result


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", metavar="NAME", help="name or number (default: the system's)")
    parser.add_argument(
        "--seconds", type=float, default=3.0, metavar="S", help="to listen for (default 3)"
    )


VERBS = (
    Verb(
        ("devices",),
        "list sound cards and show how loud each channel is",
        "ricochet devices --device 2 --seconds 5",
        devices,
        _options,
        takes=RESULT,
    ),
)
