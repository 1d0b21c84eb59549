"""Sound cards by name, and how loud each of their channels is (sounddevice).

A level is the largest sample of a channel over some seconds, in dB of full scale. Needs the extra
`capture` and Debian's libportaudio2.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones import sound_device
from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress

TICK = 0.1  # s between looks at the clock
PATIENCE = 5.0  # s beyond the meter's length after which a silent card is given up
FLOOR = -90.0  # dB; the last bit of 16


@dataclass(frozen=True)
class Device:
    """An input device: its number and name, how many channels it has, and its rate, Hz."""

    number: int
    name: str
    channels: int
    sample_rate: int


def inputs(driver: Any) -> tuple[Device, ...]:
    """Return all devices that record.

    Args:
        driver: A module like sounddevice.
    """
    rows = enumerate(driver.query_devices())
    return tuple(
        Device(number, str(row["name"]), channels, round(float(row["default_samplerate"])))
        for number, row in rows
        if (channels := int(row["max_input_channels"])) > 0
    )


def named(name: str, found: Sequence[Device]) -> Device:
    """Return the device of a name or a number; `BadInput` if there is none."""
    for each in found:
        if name in (each.name, str(each.number)):
            return each
    expected = "one of " + ", ".join(f"{each.number} ({each.name})" for each in found)
    raise BadInput("--device", repr(name), expected)


def usual(driver: Any, found: Sequence[Device]) -> Device:
    """Return the device that the system records with unless asked otherwise, else the first.

    Raises:
        BadInput: No device records.
    """
    if not found:
        raise BadInput("sound cards", "no input device", "one that records")
    try:
        number = driver.query_devices(kind="input")["index"]
    except (driver.PortAudioError, ValueError):
        return found[0]
    return next((each for each in found if each.number == number), found[0])


def measure(
    device: Device, seconds: float, *, driver: Any, progress: Progress = no_progress
) -> Float[ndarray, " channel"]:
    """Listen for some seconds and return the level of each channel, dB of full scale.

    Raises:
        BadInput: The device cannot be opened.
        RuntimeError: It gave too little sound, or samples that are not finite.
    """
    rig = default_rig(
        device.name, sample_rate=device.sample_rate, places=[(0.0, 0.0, 0.0)] * device.channels
    )
    peaks, seen, full = np.zeros(device.channels), [0], threading.Event()
    bad = np.zeros(device.channels, np.int64)
    wanted = round(seconds * device.sample_rate)

    def callback(block: Any, frames: int, _time: Any, _status: Any) -> None:
        good = np.isfinite(block)
        np.maximum(peaks, np.abs(np.where(good, block, 0.0)).max(axis=0), out=peaks)
        bad[:] += (~good).sum(axis=0)
        seen[0] += frames
        if seen[0] >= wanted:
            full.set()

    with sound_device.open_input(rig, callback, driver=driver, device=device.number):
        for _ in range(round((seconds + PATIENCE) / TICK)):
            progress(min(seen[0], wanted), wanted)
            if full.wait(TICK):
                break
        else:
            raise RuntimeError(f"{device.name}: {seen[0]} of {wanted} frames came, then none")
    if bad.any():
        found = f"{bad.max()} samples of channel {bad.argmax()} not finite"
        raise RuntimeError(f"{device.name}: found {found}, expected numbers")
    return np.maximum(20.0 * np.log10(np.maximum(peaks, 1e-9)), FLOOR)


def bar(level: float, *, width: int = 40) -> str:
    """Draw a level, dB of full scale, with characters.

    >>> bar(-45.0, width=10)
    '#####-----'
    """
    filled = round(width * (min(level, 0.0) - FLOOR) / -FLOOR)
    return "#" * filled + "-" * (width - filled)
