"""The sample that comes with the repository: four simulated pairs of a ball and a surface.

python -m ricochet.tasks.systems.bouncing_ball.sample      makes the sessions that are missing under
data/
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ricochet.models.systems.bouncing_ball.balls import BALLS, Ball
from ricochet.tasks.console.progress import bar
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball import capture as capturing
from ricochet.tasks.systems.bouncing_ball.settings import Drops, Nature
from ricochet.tasks.validation.outcomes import SIMULATED

DATA = Path("data")


@dataclass(frozen=True)
class SamplePair:
    """A ball and a surface by their words in recordings, without spaces, and the ball's truth."""

    ball: str
    surface: str
    truth: Ball

    @property
    def name(self) -> str:
        """Name of the session."""
        return f"{self.ball}-{self.surface}"


PAIRS = (
    SamplePair("ping-pong", "table", BALLS["ping-pong"]),
    SamplePair("tennis", "table", BALLS["tennis"]),
    SamplePair("moon-ball", "table", BALLS["moon ball"]),
    SamplePair(
        "ping-pong",
        "asphalt",
        replace(BALLS["ping-pong"], restitution=0.78, log10_concentration=2.3),
    ),
)

TRUTHS = {pair.name: pair.truth for pair in PAIRS}
"""The natures that are known, by the name of the pair."""


def make(
    folder: Path,
    settings: Settings,
    *,
    seed: int = 1,
    pairs: Sequence[SamplePair] = PAIRS,
) -> tuple[Path, ...]:
    """Record the sessions that are missing and return the sessions' folders.

    The seeds of the simulated rigs follow the first.
    """
    for place, pair in enumerate(pairs):
        recorded = settings.changed(
            Drops,
            ball=pair.ball,
            surface=pair.surface,
            restitution=pair.truth.restitution,
            log10_concentration=pair.truth.log10_concentration,
        )
        nature = {name: getattr(pair.truth, name) for name in capturing.CONTACT}
        recorded = recorded.changed(Nature, drag=pair.truth.drag, **nature)
        with bar(pair.name) as progress:
            capturing.capture(
                recorded,
                folder,
                rig=SIMULATED,
                session=pair.name,
                seed=seed + place,
                progress=progress,
            )
    return tuple(folder / pair.name for pair in pairs)


if __name__ == "__main__":
    from ricochet.tasks.systems import catalogue

    make(DATA, catalogue.load_settings())
