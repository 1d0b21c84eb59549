"""The policy that plays: no shot without its chance.

The energy's angle is rolled out, and taken if its chance of a goal is what was promised, else the
expert's if that is, else none. An energy knows of no opponent: past one it is the expert's. So no
stroke begins without its chance; one under way whose chance falls goes on. States
are in m, m/s, m/s^2, angles in rad; `strike_plan.AnglePolicy` says what the methods return.
"""

from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.shots.angle_policies import (
    Better,
    EnergyPolicy,
    ExhaustivePolicy,
    Ranked,
)
from ricochet.models.systems.air_hockey.shots.objective import Opposed


@dataclass
class CheckedPolicy:
    """The energy's angle where its chance holds, else the expert's, else none.

    Attributes:
        expert: Of the same setting; few candidates, for it is asked within the period.
    """

    energy: EnergyPolicy
    expert: ExhaustivePolicy

    def reset(self) -> None:
        """Forget the energy's samples."""
        self.energy.reset()

    def choose(
        self, state: Float[ndarray, " 6"], *, near: float | None, opposed: Opposed | None = None
    ) -> float | None:
        """Return the energy's angle, or the expert's where there is an opponent or no chance."""
        angle = None if opposed else self.energy.choose(state, near=near)
        if angle is not None and self.expert.promises(state, angle):
            return angle
        return self.expert.choose(state, near=near, opposed=opposed)

    def better_angle(
        self, states: Float[ndarray, "time 6"], *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        """Return the energy's better angle if its chance holds; the expert's where opposed."""
        if opposed is not None:
            return self.expert.better_angle(states, angle=angle, opposed=opposed)
        found = self.energy.better_angle(states, angle=angle)
        if found is None or not self.expert.promises(states[0], found.angle):
            return None
        return found

    def rank(self, states: Float[ndarray, "time 6"], opposed: Opposed | None = None) -> Ranked:
        """Return the expert's."""
        return self.expert.rank(states, opposed)
