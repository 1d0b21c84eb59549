"""Agents of the challenge's interface from packages: a folder, or a name in the registry.

    agent = shooting_agents.load("shooting-balanced")         # the champion of the registry
    agent = shooting_agents.load("artifacts/train/energy/shooting-balanced/package")
    agent.reset(); command = agent.draw_action(observation)   # 23 numbers in, (2, 7) out

A folder needs numpy and safetensors alone; a name asks MLflow too.
"""

from pathlib import Path

from models.controllers.aims import EnergyAim
from models.controllers.shooting import ShootingAgent
from models.controllers.shot_intents import Equipment
from models.core.bad_input import BadInput
from models.core.hockey_table import Table
from tasks import energy_packages, package_kinds
from tasks.energy_packages import READER, Shooter

CHAMPION = "champion"
NOISE = 2e-3
"""Standard deviation of an observed place unless told, m per axis."""


def make(shooter: Shooter, *, noise: float = NOISE) -> ShootingAgent:
    """Make the agent of a policy.

    Args:
        shooter: The policy.
        noise: Standard deviation of an observed place, m per axis.

    Returns:
        The agent.
    """
    aim = EnergyAim(shooter.energy, shooter.low, shooter.high)
    equipment = Equipment(shooter.modes, shooter.strokes, aim, shooter.table, noise)
    return ShootingAgent(equipment)


def load(
    source: str | Path, *, alias: str = CHAMPION, table: Table | None = None, noise: float = NOISE
) -> ShootingAgent:
    """Make an agent from a package folder or a name in the registry.

    Args:
        source: Folder that holds `shooting.json`, or `shooting-<setting>`.
        alias: Which version of a name.
        table: The table it shall play on; the standard one when absent.
        noise: Standard deviation of an observed place, m per axis.

    Returns:
        The agent.

    Raises:
        BadInput: If there is no such package, or it is not whole, or of another table.
    """
    if (Path(source) / READER.manifest).exists():
        return make(energy_packages.read(Path(source), table=table), noise=noise)
    if not package_kinds.is_shooting(str(source)):
        wanted = f"a folder with {READER.manifest}, or a name {package_kinds.SHOOTING}<setting>"
        raise BadInput(str(source), "no package", wanted)
    package_kinds.refuse_unknown(str(source))
    return make(_registered(str(source), alias, table), noise=noise)


def _registered(name: str, alias: str, table: Table | None) -> Shooter:
    from tasks import registry, tracking

    tracker = tracking.connect()
    version = registry.resolve(tracker, name, alias)
    if version is None:
        raise BadInput(name, f"no {alias} in the registry", "one; see ricochet validate --help")
    package = registry.load(tracker, version)
    where = f"{name} version {version.version}"
    return energy_packages.from_package(package, where=where, table=table)
