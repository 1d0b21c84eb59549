"""Agents of the challenge's interface from packages: a folder, or a name in the registry.

    agent = agents.load("shooting-balanced")         # the champion of the registry
    agent = agents.load("artifacts/train/energy/shooting-balanced/package")
    agent.reset(); command = agent.draw_action(observation)   # 23 numbers in, (2, 7) out

A folder needs numpy and safetensors, and numba to keep up with the game; a name asks MLflow too.
"""

import warnings
from pathlib import Path

from ricochet.models.core import compiled
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.shots.angle_policies import EnergyPolicy, ExhaustivePolicy
from ricochet.models.systems.air_hockey.shots.checked_policy import CheckedPolicy
from ricochet.models.systems.air_hockey.strike_choice import ALL, Skill
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.registry import by_source
from ricochet.tasks.registry.aliases import CHAMPION
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies import packages
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter

NOISE = 2e-3
"""Assumed standard deviation of an observed place, m per axis."""
AIM = 1.2e-3
"""Assumed standard deviation of where the mallet meets the puck, m per axis."""
CANDIDATES = 81
"""Angles that are searched within a period where the energy's has no chance."""


def make(
    shooter: Shooter,
    *,
    noise: float = NOISE,
    aim: float = AIM,
    skills: frozenset[Skill] = ALL,
) -> ShootingAgent:
    """Make the agent of a policy, for observed places and an aim that err, m per axis."""
    energy = EnergyPolicy(shooter.energy, shooter.low, shooter.high)
    expert = ExhaustivePolicy(shooter.conditions(aim=aim), shooter.setting, CANDIDATES)
    policy = CheckedPolicy(energy, expert)
    context = StrikeContext(shooter.modes, shooter.strokes, policy, shooter.table, noise, aim)
    return ShootingAgent(context, skills=skills)


def load(
    source: str | Path,
    *,
    alias: str = CHAMPION,
    table: Table | None = None,
    noise: float = NOISE,
    key: Key | None = None,
) -> ShootingAgent:
    """Make an agent from a package folder or a name in the registry.

    Args:
        source: Folder that holds `shooting.json`, or `shooting-<setting>`.
        table: The table it is to play on; the standard one when absent.
        noise: Standard deviation of an observed place, m per axis.
        key: By which it must be signed, as `signatures.demanded` says.

    Raises:
        BadInput: If there is no such package, or it is not whole, or of another table, or not
            signed by the key.

    Warns:
        RuntimeWarning: If numba is not installed: a step then takes longer than its 20 ms.
    """
    if not compiled.available():
        warnings.warn("numba is not installed: steps take over 20 ms", RuntimeWarning, 2)
    package, where = by_source.load(source, POLICY, alias=alias, key=key)
    return make(packages.from_package(package, where=where, table=table), noise=noise)
