"""The sample that travels with the repository: four simulated pairs of a ball and a surface.

python -m ricochet.tasks.systems.bouncing_ball.sample      makes the sessions that are missing under
data/
"""

from dataclasses import dataclass
from pathlib import Path

from ricochet.tasks.console.progress import bar
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball import capture as capturing
from ricochet.tasks.systems.bouncing_ball.settings import Drops

DATA = Path("data")


@dataclass(frozen=True)
class Pair:
    """A ball on a surface and what is true of it."""

    ball: str
    surface: str
    restitution: float
    log10_concentration: float

    @property
    def name(self) -> str:
        """Name of the session."""
        return f"{self.ball}-{self.surface}"


PAIRS = (
    Pair("ping-pong", "table", 0.85, 3.5),
    Pair("tennis", "table", 0.72, 3.0),
    Pair("moon-ball", "table", 0.90, 1.8),
    Pair("ping-pong", "asphalt", 0.78, 2.3),
)


def make(folder: Path, settings: Settings, *, seed: int = 1) -> tuple[Path, ...]:
    """Record the sessions that are not there yet.

    Args:
        folder: Where the sessions' folders lie.
        settings: How to record; the ball, surface and truth are those of each pair.
        seed: Seed of the first pair's simulated rig; the others' follow.

    Returns:
        The four sessions' folders.
    """
    for place, pair in enumerate(PAIRS):
        with bar(pair.name) as progress:
            capturing.capture(
                settings.changed(Drops, **vars(pair)),
                folder,
                rig=capturing.SIMULATED,
                session=pair.name,
                seed=seed + place,
                progress=progress,
            )
    return tuple(folder / pair.name for pair in PAIRS)


if __name__ == "__main__":
    from ricochet.tasks.systems import catalogue

    make(DATA, catalogue.load_settings())
