"""A fake of the sound card's driver: a thread that calls back, as PortAudio does."""

import threading
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
