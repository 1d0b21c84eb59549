"""A simulated rig beside a drawer: a ring of microphones, a camera, and the motion that was made.

Each take is one of the generator's; the tracks of the last one are kept for whoever records.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ricochet.hardware.microphones.interface import Recording, Rig, default_rig, now
from ricochet.hardware.twins.drawers.generator import rooms, takes
from ricochet.hardware.twins.drawers.generator.takes import Setting, Take

TEMPERATURE = 21.5


class SimulatedDrawer:
    """A recorder of takes of one drawer."""

    exclusive = False

    def __init__(self, setting: Setting, *, seed: int) -> None:
        """Place the ring; nothing sounds yet.

        Args:
            setting: What is recorded, and how; the length is each take's own.
            seed: Of the session; its takes have seeds from it.
        """
        self.rig = ring_rig(setting.array, setting.place)
        self._setting = setting
        self._seeds = np.random.SeedSequence(seed)
        self.last: Take | None = None

    def record(self, duration: float, *, journal: Path | None = None) -> Recording:
        """Record one take; it is complete at once, so that no journal is written."""
        seed = int(self._seeds.spawn(1)[0].generate_state(1)[0])
        started = now()
        self.last = takes.record(replace(self._setting, seconds=duration), seed)
        return Recording(self.last.samples, started)


def ring_rig(array: str, place: str) -> Rig:
    """Return a ring as a rig, the closed front's middle being the origin."""
    positions = rooms.ring(array, place).positions.tolist()
    places = [(round(x, 6), round(y, 6), round(z, 6)) for x, y, z in positions]
    return default_rig(
        f"{array}-{place}", sample_rate=int(rooms.RATE), temperature=TEMPERATURE, places=places
    )
