"""The agents of the rows of the study of shooting.

    cautious, balanced, aggressive   the energies of the three settings
    conventional                     nothing learnt: figures of data sheets (`NOMINAL`) in filter
                                     and policy, no airflow, no uncertainty; the mean path of a
                                     direct shot, optimised anew in every period
    exhaustive                       the expert that taught `cautious`: every angle rolled out in
                                     every period, out of its 20 ms; likewise of the other two

Processes that play shots import this module to make their agents, so it imports nothing heavy.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.prediction_checks import NOMINAL
from ricochet.models.systems.air_hockey.shots.angle_policies import ExhaustivePolicy, NominalPolicy
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.strike_plan import AnglePolicy, StrikeContext
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.air_hockey.policies import agents
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey

ENERGIES = ("cautious", "balanced", "aggressive")
EXPERTS = {"exhaustive": "cautious"} | {f"exhaustive_{n}": n for n in ENERGIES[1:]}
CONVENTIONAL, EXHAUSTIVE = "conventional", "exhaustive"


def agent(row: str, shooters: Mapping[str, Shooter], settings: Settings) -> ShootingAgent:
    """Make the agent of a row."""
    return _BUILDERS[row](_shooter(row, shooters), settings)


def conditions(row: str, shooters: Mapping[str, Shooter], settings: Settings) -> Conditions:
    """Return what decides a row's shots by the learnt model, even where that is not used."""
    return _conditions(_shooter(row, shooters), settings)


def _conditions(shooter: Shooter, settings: Settings) -> Conditions:
    return shooter.conditions(aim=settings[Energies].aim_sd)


def _learnt(shooter: Shooter, settings: Settings) -> ShootingAgent:
    noise, aim = settings[Hockey].position_noise, settings[Energies].aim_sd
    return agents.make(shooter, noise=noise, aim=aim)


def _conventional(shooter: Shooter, settings: Settings) -> ShootingAgent:
    policy = NominalPolicy(replace(_conditions(shooter, settings), modes=NOMINAL))
    return _playing(policy, NOMINAL, shooter, settings)


def _exhaustive(shooter: Shooter, settings: Settings) -> ShootingAgent:
    known = _conditions(shooter, settings)
    policy = ExhaustivePolicy(known, shooter.setting, settings[Energies].candidates)
    return _playing(policy, shooter.modes, shooter, settings)


def _playing(
    policy: AnglePolicy, modes: PuckModes, shooter: Shooter, settings: Settings
) -> ShootingAgent:
    noise, aim = settings[Hockey].position_noise, settings[Energies].aim_sd
    context = StrikeContext(modes, shooter.strokes, policy, shooter.table, noise, aim)
    return ShootingAgent(context)


_BUILDERS: Mapping[str, Callable[[Shooter, Settings], ShootingAgent]] = {
    **dict.fromkeys(ENERGIES, _learnt),
    CONVENTIONAL: _conventional,
    **dict.fromkeys(EXPERTS, _exhaustive),
}


def _shooter(row: str, shooters: Mapping[str, Shooter]) -> Shooter:
    """Return the policy whose arm and contacts a row plays with."""
    return shooters[EXPERTS.get(row, row if row in shooters else ENERGIES[0])]


ROWS = tuple(_BUILDERS)
"""All rows, in the order of the table."""
