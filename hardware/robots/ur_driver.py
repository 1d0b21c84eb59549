"""A UR robot as the process that owns it opens and stops it, from plain settings."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ricochet.hardware.robots import ur, ur_stop
from ricochet.hardware.robots.messages import Driver
from ricochet.hardware.robots.paddle_arm import Arm, Point
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace


def driver(host: str, workspace: Workspace, *, base: Point, armed: bool) -> Driver:
    """Return what opens the robot at an address.

    Args:
        base: Where its base stands, m.
        armed: Whether it may move; the operator must have confirmed it.
    """
    settings: dict[str, Any] = {
        "host": host,
        "workspace": {name: _plain(value) for name, value in asdict(workspace).items()},
        "base": list(base),
        "armed": armed,
    }
    return Driver(__name__, settings)


def open_arm(settings: Mapping[str, Any]) -> Arm:
    """Connect to a robot; nothing is armed that could not be stopped beside its driver.

    Raises:
        BadInput: As `UniversalRobot`, or if the second way of stopping is closed.
    """
    host, (x, y, z) = settings["host"], settings["base"]
    if settings["armed"]:
        try:
            ur_stop.check(host)
        except OSError as error:
            expected = f"port {ur_stop.PORT} open: it stops the robot when its driver hangs"
            raise BadInput(f"robot {host}", error.strerror or str(error), expected) from error
    words: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in settings["workspace"].items()
    }
    return ur.UniversalRobot(host, Workspace(**words), arm=settings["armed"], base=(x, y, z))


def emergency_stop(settings: Mapping[str, Any]) -> None:
    """Stop the robot without its driver; `OSError` if it cannot be reached."""
    if settings["armed"]:
        ur_stop.stop(settings["host"])


def _plain(value: float | tuple[float, ...]) -> Any:
    return list(value) if isinstance(value, tuple) else value
