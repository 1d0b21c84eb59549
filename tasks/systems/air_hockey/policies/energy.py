"""The training of one energy: what a setting's best shots among many angles are, learnt."""

import torch

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey.shots import energy_training, objective
from ricochet.models.systems.air_hockey.shots.energy_training import Fit, Training
from ricochet.models.systems.air_hockey.shots.objective import Setting
from ricochet.tasks.systems.air_hockey.policies.training_data import Targets
from ricochet.tasks.systems.air_hockey.policy_names import PREFIX
from ricochet.tasks.systems.air_hockey.settings import Energies


def setting_of(name: str) -> Setting:
    """Return the setting of a package's name, `shooting-<setting>`."""
    return next(one for one in objective.SETTINGS if f"{PREFIX}{one.name}" == name)


def fit(
    settings: Energies,
    targets: Targets,
    setting: Setting,
    *,
    seed: int,
    progress: Progress = no_progress,
) -> Fit:
    """Train an energy as the settings say; the same seed gives the same energy."""
    return energy_training.fit(
        targets.states,
        targets.angles,
        objective.best(setting, targets.shots),
        training=Training(
            hidden=settings.hidden,
            epochs=settings.epochs,
            batch=settings.batch,
            rate=settings.learning_rate,
        ),
        draw=torch.Generator().manual_seed(seed),
        progress=progress,
    )
