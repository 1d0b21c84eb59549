"""Moving pucks of the study of shooting: those of the challenge's hit task, and who is in goal.

    alone       pucks as the 2023 Robot Air Hockey Challenge starts them, nobody in goal
    sweep       the same pucks at the challenge's default opponent
    follow      the same at a mallet that follows the puck
    disturbed   nobody in goal, and the airflow and the noise of Table I

The challenge has neither airflow nor noise; the law of its motors does not know the mallet.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.systems.air_hockey.studies.rows import ENERGIES
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.trials import Start

SEED = 61_000


@dataclass(frozen=True)
class Pucks:
    """A set of moving pucks: who is in goal, and whether they are disturbed."""

    opponent: str
    is_disturbed: bool = False

    def starts(self, shots: int, seed: int) -> tuple[Start, ...]:
        """Return the starts; the same pucks for every set."""
        return trials.task_starts("hit", shots, seed=SEED + seed, opponent=self.opponent)

    def disturbance(self, whole: Disturbance) -> Disturbance:
        """Return what disturbs them, of what there is."""
        return whole if self.is_disturbed else replace(whole, airflow=0.0, position_noise=0.0)


SETS: Mapping[str, Pucks] = {
    "alone": Pucks("none"),
    "sweep": Pucks("sweep"),
    "follow": Pucks("follow"),
    "disturbed": Pucks("none", is_disturbed=True),
}
JOBS = tuple(product(SETS, ENERGIES))
"""Each set and row."""
CHALLENGE: Mapping[str, Mapping[str, Any]] = {
    "alone": {"score": 0.59, "score_interval": [0.49, 0.69]},
    "sweep": {"score": 0.41, "score_interval": [0.31, 0.51]},
}
"""What the challenge's own baseline scores there, of 100 each, measured on its environment."""
