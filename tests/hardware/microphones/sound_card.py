"""Fakes of the sound card's driver: a thread that calls back, as PortAudio does."""

import threading
import time
from types import SimpleNamespace

import numpy as np


class Driver:
    """A sound card that plays noise from a thread, and overflows at chosen blocks."""

    class PortAudioError(Exception):
        pass

    def __init__(self, *, overflow=(), blocks=10_000, channels=3, size=480):
        self.overflow, self.blocks, self.channels, self.size = overflow, blocks, channels, size
        self.sent = []

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
        draw = np.random.default_rng(1)
        for number in range(self.driver.blocks):
            if self.stop.is_set():
                return
            block = draw.uniform(-0.1, 0.1, (self.driver.size, self.channels)).astype(np.float32)
            self.driver.sent.append(block)
            status = SimpleNamespace(input_overflow=number in self.driver.overflow)
            self.callback(block, len(block), None, status)
            self.stop.wait(0.0005)


class Room(Driver):
    """A card in a room: each time it is opened it records the next sound, as it happens, then hiss.

    `dies` is when it stops, s after it was opened; the first opening, a look, always lasts.
    """

    def __init__(self, sounds=(), *, dies=None, rate=44100, **words):
        super().__init__(size=441, **words)
        self.sounds, self.dies, self.rate, self.opened = list(sounds), dies, rate, 0

    def InputStream(self, *, channels, callback, **_):  # noqa: N802
        if channels > self.channels:
            raise self.PortAudioError("Invalid number of channels")
        self.opened += 1
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
            self.stop.wait(max(began + number * size / self.driver.rate - time.monotonic(), 0.0))
            self.callback(block, size, None, SimpleNamespace(input_overflow=False))
