"""Takes on which candidate and champion are tried: of the simulated rig, or of sessions.

Take i of a seed is the same whoever is tried. What is seen ends with the light; what is true is for
the comparison alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.drawers.generator import rooms
from ricochet.hardware.twins.drawers.generator.drawers import DRAWERS
from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.systems.drawers import recorded_takes, session_sets, sessions
from ricochet.tasks.systems.drawers.packages import Drawer
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.trials import Frames, Sight

APART = 1e-3
"""m, by which microphones may stand elsewhere than those of a package."""
RINGS = tuple((array, place) for array in ("ring-4", "ring-6") for place in ("side", "front"))
STREAM = 31
"""Of the seeds of takes."""


@dataclass(frozen=True)
class FreshTake:
    """A take, lit at first and then dark.

    Attributes:
        dark: Of each frame.
        sound: Digest of the recording; None of the simulated rig.
    """

    name: str
    frames: Frames
    sight: Sight
    dark: ndarray
    sound: str | None = None


@dataclass(frozen=True)
class SimulatedTakes:
    """Takes of the simulated rig.

    Attributes:
        seconds, light_off: Of each, s.
    """

    drawer: str
    seed: int
    count: int
    seconds: float
    light_off: float

    def of(self, drawer: Drawer) -> Iterator[FreshTake]:
        """Yield the takes as the ring of a package hears them.

        Raises:
            BadInput: If no ring of the simulated rig stands where the package's does.
        """
        array, place = ring_of(drawer.microphones, f"drawer-{self.drawer}")
        setting = Setting(
            self.drawer, array=array, place=place, seconds=self.seconds, light_off=self.light_off
        )
        for number in range(self.count):
            states = np.random.SeedSequence([self.seed, STREAM, number]).generate_state(1)
            yield simulated(setting, int(states[0]), number)


@dataclass(frozen=True)
class RecordedTakes:
    """Takes of sessions that were lit at first and then dark, and whose motion was measured.

    Attributes:
        drawer: Whose they must be.
        whole: Whether every session must be of it; else those that are not are passed over.
    """

    folders: tuple[Path, ...]
    drawer: str
    whole: bool = True

    @property
    def count(self) -> int:
        """How many takes there are, used or not."""
        return sum(len(sessions.read_manifest(each / MANIFEST).takes) for each in self.folders)

    def of(self, drawer: Drawer) -> Iterator[FreshTake]:
        """Yield the takes, each recording once.

        Raises:
            BadInput: If a session is of another drawer, or of other microphones than the package's.
        """
        read = session_sets.read(self.folders)
        if self.whole and read.errors:
            raise read.errors[0]
        first = read.sessions[0][0]
        if first.drawer != self.drawer:
            raise BadInput(str(first.folder), f"the drawer {first.drawer}", self.drawer)
        _check_ring(drawer.microphones, first.rig.array().positions, str(first.folder))
        for each in (recorded_takes.recorded(*pair) for pair in read.takes):
            if each.is_known_in_the_dark:
                seen, dark = recorded_takes.sight(each), recorded_takes.dark(each)
                yield FreshTake(each.name, each.frames, seen, dark, read.sounds[each.name])


def simulated(setting: Setting, seed: int, number: int) -> FreshTake:
    """Return a take of the simulated rig."""
    made = recorded.session(setting, seed)
    count = len(made.frames.labels.speed)
    dark = PERIOD * np.arange(1, count + 1) > setting.light_off
    sight = recorded.sight(made, setting, seed)
    return FreshTake(f"simulated-{number}", made.frames, sight, dark)


def ring_of(microphones: Float[ndarray, "channel 3"], where: str) -> tuple[str, str]:
    """Return the ring of the simulated rig whose microphones these are, and its place."""
    for array, place in RINGS:
        known = np.round(rooms.ring(array, place).positions, 6)
        if known.shape == microphones.shape and np.abs(known - microphones).max() <= APART:
            return array, place
    raise BadInput(where, "microphones of no simulated ring", "--rig recorded for those of a lab")


def refuse_drawer(name: str, where: str) -> None:
    """Refuse a drawer that is not simulated."""
    if name not in DRAWERS:
        raise BadInput(
            where, f"the drawer {name!r}", f"one of {', '.join(DRAWERS)}, or a rig of it"
        )


def _check_ring(known: ndarray, other: ndarray, where: str) -> None:
    if known.shape != other.shape or np.abs(known - other).max() > session_sets.APART:
        raise BadInput(where, "microphones that stand elsewhere", "those of the package")
