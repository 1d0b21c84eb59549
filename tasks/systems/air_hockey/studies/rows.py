"""The agents of the rows of the study of shooting.

    cautious, balanced, aggressive   the energies of the three settings
    conventional                     nothing learnt: figures of data sheets (`NOMINAL`) in filter
                                     and policy, no airflow, no uncertainty; the mean path of a
                                     direct shot, optimised anew in every period
    exhaustive                       the expert that taught `cautious`: every angle rolled out in
                                     every period, out of its 20 ms; likewise of the other two

Processes that play shots import this module to make their agents, so it imports nothing heavy.
"""

from collections.abc import Mapping
from dataclasses import replace

from ricochet.models.systems.air_hockey.agent import ShootingAgent
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
ROWS = (*ENERGIES, CONVENTIONAL, *EXPERTS)


def agent(row: str, shooters: Mapping[str, Shooter], settings: Settings) -> ShootingAgent:
    """Make the agent of a row."""
    shooter, noise = _shooter(row, shooters), settings[Hockey].position_noise
    known, modes = conditions(row, shooters, settings), shooter.modes
    policy: AnglePolicy
    if row == CONVENTIONAL:
        modes = NOMINAL
        policy = NominalPolicy(replace(known, modes=modes))
    elif row in EXPERTS:
        policy = ExhaustivePolicy(known, shooter.setting, settings[Energies].candidates)
    else:
        return agents.make(shooter, noise=noise)
    return ShootingAgent(StrikeContext(modes, shooter.strokes, policy, shooter.table, noise))


def conditions(row: str, shooters: Mapping[str, Shooter], settings: Settings) -> Conditions:
    """Return what decides a row's shots by the learnt model, even where that is not used."""
    return _shooter(row, shooters).conditions(aim=settings[Energies].aim_sd)


def _shooter(row: str, shooters: Mapping[str, Shooter]) -> Shooter:
    """Return the policy whose arm and contacts a row plays with."""
    return shooters[EXPERTS.get(row, row if row in shooters else ENERGIES[0])]
