"""Controllers from packages: a folder, or a name in the registry.

    follower = controllers.load("drawer-kitchen-small")          # the champion of the registry
    follower = controllers.load("artifacts/train/drawer/package")
    hand = follower.hear(samples)                                # (channel, sample) at 16 kHz
    hand = follower.hear(samples, Seen(0.12, 0.003))             # while a camera sees the drawer, m
    follower.estimate, follower.faults

Numpy alone is needed; a name asks MLflow too.
"""

from pathlib import Path

from ricochet.models.systems.drawers import controller
from ricochet.models.systems.drawers.controller import Controller
from ricochet.tasks.registry import by_source
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.systems.drawers import packages
from ricochet.tasks.systems.drawers.kinds import DRAWER
from ricochet.tasks.systems.drawers.packages import Drawer


def make(drawer: Drawer) -> Controller:
    """Make a controller."""
    return controller.make(drawer.hearing, len(drawer.microphones))


def load(source: str | Path, *, alias: str = CHAMPION, key: Key | None = None) -> Controller:
    """Make a controller from a package folder or a name in the registry.

    Args:
        source: Folder that holds `drawer.json`, or `drawer-<name>`.
        alias: In the registry.
        key: By which it must be signed, as `signatures.demanded` says.

    Raises:
        BadInput: If there is no such package, or it is not whole, or not signed by the key.
    """
    package, where = by_source.load(source, DRAWER, alias=alias, key=key)
    return make(packages.from_package(package, where=where))
