"""Fakes of the sound card's driver: a thread that calls back, as PortAudio does."""

import threading
import time
from types import SimpleNamespace

import numpy as np

RATE = 44100


class Driver:
    """A sound card that plays noise from a thread, and overflows at chosen blocks.

    Blocks come faster than they sound; when they were recorded is stated as it would be. Of those
    in `lost` and `doubled` nothing is flagged; `spoils` are (block, frame, channel, value).
    `clock` is the machine's, as a stream in real time would find it: each callback `late` by up to
    so much, s, and by its `drift` slow; the stream's too, unless it `counts` frames.
    """

    class PortAudioError(Exception):
        pass

    def __init__(
        self, *, overflow=(), blocks=10_000, channels=3, size=480, lost=(), doubled=(), spoils=(),
        late=0.0, drift=0.0, counts=False,
    ):  # fmt: skip
        self.overflow, self.blocks, self.channels, self.size = overflow, blocks, channels, size
        self.lost, self.doubled, self.spoils = lost, doubled, spoils
        self.late, self.drift, self.now = late, drift, 0.0
        self.counts = counts
        self.sent = []

    def clock(self):
        return self.now

    def spoil(self, number, block):
        for at, frame, channel, value in self.spoils:
            if at == number:
                block[frame, channel] = value
        return block

    def InputStream(self, *, channels, callback, **_):  # noqa: N802
        if channels > self.channels:
            raise self.PortAudioError("Invalid number of channels")
        return _Stream(self, channels, callback)


class _Stream:
    def __init__(self, driver, channels, callback):
        self.driver, self.channels, self.callback = driver, channels, callback
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def run(self):
        draw, driver, elapsed = np.random.default_rng(1), self.driver, 0
        for number in range(driver.blocks):
            if self.stop.is_set():
                return
            shape = (driver.size, self.channels)
            block = draw.uniform(-0.1, 0.1, shape).astype(np.float32)
            block = driver.spoil(number, block)
            elapsed += driver.size
            if number in driver.lost:
                continue
            for _ in range(1 + (number in driver.doubled)):
                end = elapsed / RATE * (1.0 + driver.drift)
                driver.now = end + draw.uniform(0.0, driver.late)
                driver.sent.append(block)
                status = SimpleNamespace(input_overflow=number in driver.overflow)
                begun = (elapsed if driver.counts else end * RATE) - driver.size
                self.callback(block, len(block), stated(begun / RATE), status)
            self.stop.wait(0.0005)


def stated(adc):
    """PortAudio's times of a block whose first frame was recorded at a time, s."""
    return SimpleNamespace(inputBufferAdcTime=adc + 0.5, currentTime=0.0, outputBufferDacTime=0.0)


class Room(Driver):
    """A card in a room: each time it is opened it records the next sound, as it happens, then hiss.

    `dies` is when it stops, s after it was opened; the first opening, a look, always lasts.
    """

    def __init__(self, sounds=(), *, dies=None, rate=44100, spoilt=(), **words):
        super().__init__(size=441, **words)
        self.spoilt = list(spoilt)  # what is spoilt, as `Driver`'s, each time that it is opened
        self.sounds, self.dies, self.rate, self.opened = list(sounds), dies, rate, 0

    def InputStream(self, *, channels, callback, **_):  # noqa: N802
        if channels > self.channels:
            raise self.PortAudioError("Invalid number of channels")
        self.opened += 1
        if self.opened > 1:
            self.spoils = self.spoilt.pop(0) if self.spoilt else ()
        sound = self.sounds.pop(0) if self.opened > 1 and self.sounds else None
        return _Heard(self, channels, callback, sound, self.dies if self.opened > 1 else None)


class _Heard(_Stream):
    def __init__(self, driver, channels, callback, sound, dies):
        super().__init__(driver, channels, callback)
        self.sound = np.zeros((channels, 0), np.float32) if sound is None else sound
        self.dies = np.inf if dies is None else dies

    def run(self):
        draw, size, began = np.random.default_rng(2), self.driver.size, time.monotonic()
        number = 0
        while not self.stop.is_set() and number * size < self.dies * self.driver.rate:
            block = draw.normal(0.0, 1e-4, (size, self.channels)).astype(np.float32)
            sound = self.sound[:, number * size : (number + 1) * size].T
            block[: len(sound)] = sound
            number += 1
            block = self.driver.spoil(number, block)
            self.stop.wait(max(began + number * size / self.driver.rate - time.monotonic(), 0.0))
            adc = began + (number - 1) * size / self.driver.rate
            self.callback(block, size, stated(adc), SimpleNamespace(input_overflow=False))
