"""Ricochet from Python: the names below; each is imported when it is asked for.

    import ricochet
    result = ricochet.calibrate(Path("clip.wav"), Path("answer"))          # base install
    held = ricochet.champion("ping-pong-table", ricochet.Folder(Path("packages")), Path("kept"))
    values = ricochet.restitution(held.current().package, np.array([1.0, 2.0]))

`simulate`, `features` and `exact_posterior` need the extra `lab`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ricochet.models.core.bad_input import BadInput
    from ricochet.models.systems.bouncing_ball.calibration.posterior import (
        posterior as exact_posterior,
    )
    from ricochet.models.systems.bouncing_ball.features import form_features as features
    from ricochet.models.systems.bouncing_ball.problem import simulate_drops as simulate
    from ricochet.tasks.registry.champion import Champion, NoPosteriorError
    from ricochet.tasks.registry.packages import Package
    from ricochet.tasks.registry.sources import Folder, Server
    from ricochet.tasks.systems.bouncing_ball.from_python import (
        calibrate,
        champion,
        load_posterior,
        restitution,
    )

__all__ = [
    "BadInput",
    "Champion",
    "Folder",
    "NoPosteriorError",
    "Package",
    "Server",
    "calibrate",
    "champion",
    "exact_posterior",
    "features",
    "load_posterior",
    "restitution",
    "simulate",
]

_BALL = "systems.bouncing_ball"
_PLACES = {
    "BadInput": ("models.core.bad_input", "BadInput"),
    "Champion": ("tasks.registry.champion", "Champion"),
    "NoPosteriorError": ("tasks.registry.champion", "NoPosteriorError"),
    "Folder": ("tasks.registry.sources", "Folder"),
    "Server": ("tasks.registry.sources", "Server"),
    "Package": ("tasks.registry.packages", "Package"),
    "calibrate": (f"tasks.{_BALL}.from_python", "calibrate"),
    "champion": (f"tasks.{_BALL}.from_python", "champion"),
    "load_posterior": (f"tasks.{_BALL}.from_python", "load_posterior"),
    "restitution": (f"tasks.{_BALL}.from_python", "restitution"),
    "exact_posterior": (f"models.{_BALL}.calibration.posterior", "posterior"),
    "features": (f"models.{_BALL}.features", "form_features"),
    "simulate": (f"models.{_BALL}.problem", "simulate_drops"),
}
_LAB = ("exact_posterior", "features", "simulate")


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _PLACES:
        raise AttributeError(f"module 'ricochet' has no attribute {name!r}")
    module, attribute = _PLACES[name]
    try:
        return getattr(import_module(f"ricochet.{module}"), attribute)
    except ModuleNotFoundError as error:
        needed = f'ricochet.{name} needs {error.name}: pip install "ricochet-lab[lab]"'
        raise ModuleNotFoundError(needed, name=error.name) from error


def __dir__() -> list[str]:
    """Return what can be imported here: `help` imports all of it."""
    absent = _LAB if find_spec("torch") is None else ()
    return [name for name in __all__ if name not in absent]
