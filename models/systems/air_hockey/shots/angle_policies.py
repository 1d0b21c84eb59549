"""Policies for the shooting angle: by the energy, by search over all shots, by the mean path alone.

    EnergyPolicy      Algorithm 1 of Jankowski, Maric et al., "Energy-based Contact Planning under
                      Uncertainty for Robot Air Hockey": one iteration a period, warm-started
    ExhaustivePolicy  the expert: every candidate angle is rolled out in every period
    NominalPolicy     the conventional one: no uncertainty is modelled; the direct shot whose mean
                      path crosses nearest the middle of the goal

A stroke under way can follow small changes only: then each policy looks near the stroke's angle.
Where that leads into a corner - the puck drifts to where such a shot is poor or there is none -
`better_angle` looks over the whole range again for a shot that is clearly better. `rank` looks at
several times of contact at once. States are in m, m/s, m/s^2, angles in rad;
`strike_plan.AnglePolicy` says what the methods return. An opponent is in the chance of a goal; the
energy and the nominal policy know of none.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.shots import energy_network, energy_search, objective
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.shots.energy_search import Samples
from ricochet.models.systems.air_hockey.shots.objective import (
    Conditions,
    Opposed,
    Setting,
    Shots,
)
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE

NEAR = 0.06
"""How far from its angle a stroke under way may turn in a period."""
MARGIN = 0.02
"""Share of their range by which states may lie outside what an energy was trained on."""
BETTER = 0.15
"""By how much another shot's objective must be better for a stroke under way to turn to it."""
LIKELIER = 3.0
"""By how much another shot's energy must be less: odds of twenty."""
RANKED = 41
"""Angles that are tried at each of several times of contact."""


@dataclass(frozen=True)
class Better:
    """A better shot than that of the stroke under way: at which of some times, and its angle."""

    time: int
    angle: float


@dataclass(frozen=True)
class Ranked:
    """The best shot at each of some times of contact; its worth is -inf where there is none."""

    angle: Float[ndarray, " time"]
    worth: Float[ndarray, " time"]


@dataclass
class EnergyPolicy:
    """The angle of least energy.

    Attributes:
        low, high: Least and greatest state and angle that it was trained on.
        seed: Of the samples; every search begins with it anew.
    """

    energy: Energy
    low: Float[ndarray, " 7"]
    high: Float[ndarray, " 7"]
    seed: int = 0

    def __post_init__(self) -> None:
        """Begin."""
        self.reset()

    def reset(self) -> None:
        """Forget the samples."""
        self._samples: Samples = energy_search.init()
        self._draw = np.random.default_rng(self.seed)

    def choose(
        self, state: Float[ndarray, " 6"], *, near: float | None, opposed: Opposed | None = None
    ) -> float | None:
        """Run one iteration; None for a state outside what the energy was trained on."""
        seen = self._seen(state)
        if seen is None:
            return None
        if near is not None:
            angles = np.clip(self._samples.angles, near - NEAR, near + NEAR)
            self._samples = replace(self._samples, angles=angles)
        self._samples, angle = energy_search.step(self.energy, seen, self._samples, draw=self._draw)
        return angle if near is None else float(np.clip(angle, near - NEAR, near + NEAR))

    def better_angle(
        self, states: Float[ndarray, "time 6"], *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        """Return the angle of least energy if that is far less than at the stroke's angle."""
        seen = self._seen(states[0])
        if seen is None:
            return None
        wide, found = energy_search.step(self.energy, seen, energy_search.init(), draw=self._draw)
        here, there = energy_network.landscape(self.energy, seen, np.array((angle, found)))
        if here - there < LIKELIER:
            return None
        self._samples = wide
        return Better(0, found)

    def rank(self, states: Float[ndarray, "time 6"], opposed: Opposed | None = None) -> Ranked:
        """Find the first time at which it knows the puck's state."""
        return _first(self, states)

    def _seen(self, state: Float[ndarray, " 6"]) -> Float[ndarray, " 6"] | None:
        """Return the nearest state that the energy was trained on, None if that is far."""
        low, high = self.low[:6], self.high[:6]
        room = MARGIN * (high - low)
        known = ((state >= low - room) & (state <= high + room)).all()
        return state.clip(low, high) if known else None


@dataclass
class ExhaustivePolicy:
    """The best of many angles by Eq. 12, all rolled out; takes longer than a period.

    Attributes:
        candidates, nearby: Angles tried over the whole range, and about that of a stroke under way.
    """

    conditions: Conditions
    setting: Setting
    candidates: int = 400
    nearby: int = 25

    def reset(self) -> None:
        """Do nothing: nothing is kept."""

    def choose(
        self, state: Float[ndarray, " 6"], *, near: float | None, opposed: Opposed | None = None
    ) -> float | None:
        """Roll out all candidates; None where none keeps the constraint."""
        angles = _candidates(near, self.candidates, self.nearby)
        found = self._shots(state, angles, opposed)
        best = int(objective.best(self.setting, found)[0])
        return float(angles[best]) if objective.feasible(self.setting, found)[0, best] else None

    def better_angle(
        self, states: Float[ndarray, "time 6"], *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        """Return the best shot if that is better by `BETTER` than the stroke's."""
        ranked = self.rank(states, opposed)
        now = Opposed(opposed.opponent, opposed.until_contact[:1]) if opposed else None
        here = self._shots(states[0], np.array((angle,)), now)
        kept = objective.feasible(self.setting, here)[0, 0]
        worth = float(objective.objective(self.setting, here)[0, 0]) if kept else 0.0
        best = int(ranked.worth.argmax())
        if not ranked.worth[best] > worth + BETTER:
            return None
        return Better(best, float(ranked.angle[best]))

    def promises(
        self, state: Float[ndarray, " 6"], angle: float, opposed: Opposed | None = None
    ) -> bool:
        """Return whether a shot keeps the chance constraint."""
        found = self._shots(state, np.array((angle,)), opposed)
        return bool(objective.feasible(self.setting, found)[0, 0])

    def rank(self, states: Float[ndarray, "time 6"], opposed: Opposed | None = None) -> Ranked:
        """Return the best of `RANKED` angles at each time, where one keeps the constraint.

        Args:
            opposed: With the times until each contact, in a column.
        """
        angles = np.broadcast_to(_candidates(None, RANKED, 0), (len(states), RANKED))
        rows = np.broadcast_to(states[:, None], (*angles.shape, 6))
        found = objective.evaluate(
            self.conditions, rows, angles, opposed=opposed, likely=self._likely
        )
        best = objective.best(self.setting, found)
        taken = objective.take(found, best)
        worth = objective.objective(self.setting, taken)
        possible = objective.feasible(self.setting, taken)
        return Ranked(angles[0][best], np.where(possible, worth, -np.inf))

    def _shots(
        self, state: Float[ndarray, " 6"], angles: Float[ndarray, " angle"], opposed: Opposed | None
    ) -> Shots:
        rows = np.broadcast_to(state, (1, len(angles), 6))
        angles = angles[None]
        likely = self._likely
        return objective.evaluate(self.conditions, rows, angles, opposed=opposed, likely=likely)

    @property
    def _likely(self) -> bool:
        """Whether shots below one half keep no constraint."""
        return self.setting.least_goal >= 0.5


@dataclass
class NominalPolicy:
    """The direct shot whose mean path crosses nearest the middle of the goal.

    Attributes:
        conditions: What decides the outcome, its covariance apart.
        candidates: Angles tried at first, then again between the best two neighbours.
    """

    conditions: Conditions
    candidates: int = 45

    def __post_init__(self) -> None:
        """Drop the covariance."""
        self.conditions = replace(self.conditions, covariance=np.zeros((6, 6)))

    def reset(self) -> None:
        """Do nothing: nothing is kept."""

    def choose(
        self, state: Float[ndarray, " 6"], *, near: float | None, opposed: Opposed | None = None
    ) -> float | None:
        """Roll out the mean paths; None where no direct shot crosses the goal."""
        angles = _candidates(near, self.candidates, self.candidates)
        for _ in range(2):
            miss = self._misses(state, angles)
            best = int(miss.argmin())
            if not np.isfinite(miss[best]):
                return None
            step = angles[1] - angles[0]
            found = float(angles[best])
            angles = np.clip(found + step * np.linspace(-1.0, 1.0, 11), angles[0], angles[-1])
        return found if miss[best] < self.conditions.table.clean_half_width else None

    def better_angle(
        self, states: Float[ndarray, "time 6"], *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        """Return another angle only if the stroke's misses the goal and that one does not."""
        miss = self._misses(states[0], np.array((angle,)))[0]
        if miss < self.conditions.table.clean_half_width:
            return None
        found = self.choose(states[0], near=None)
        return None if found is None else Better(0, found)

    def rank(self, states: Float[ndarray, "time 6"], opposed: Opposed | None = None) -> Ranked:
        """Find the first time at which a direct shot crosses the goal."""
        return _first(self, states)

    def _misses(
        self, state: Float[ndarray, " 6"], angles: Float[ndarray, " angle"]
    ) -> Float[ndarray, " angle"]:
        """Return distances of mean crossings from the middle, m; infinite where there is none."""
        rows = np.broadcast_to(state, (len(angles), 6))
        found = objective.evaluate(self.conditions, rows, angles)
        direct = (found.speed > 0.0) & (found.banks == 0)
        return np.where(direct, np.abs(np.nan_to_num(found.y)), np.inf)


def _first(policy: EnergyPolicy | NominalPolicy, states: Float[ndarray, "time 6"]) -> Ranked:
    """Return the same worth for every time at which there is an angle, up to the first."""
    angle, worth = np.zeros(len(states)), np.full(len(states), -np.inf)
    for k, state in enumerate(states):
        found = policy.choose(state, near=None)
        if found is not None:
            angle[k], worth[k] = found, 0.0
            break
    return Ranked(angle, worth)


def _candidates(near: float | None, candidates: int, nearby: int) -> Float[ndarray, " angle"]:
    """Return angles over the whole range, or about that of a stroke."""
    if near is None:
        return np.linspace(-LARGEST_ANGLE, LARGEST_ANGLE, candidates)
    angles = near + np.linspace(-NEAR, NEAR, nearby)
    return angles.clip(-LARGEST_ANGLE, LARGEST_ANGLE)
