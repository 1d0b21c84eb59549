"""The disturbance of the settings."""

from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.systems.air_hockey.settings import Hockey


def disturbance_of(settings: Hockey) -> Disturbance:
    """Return what disturbs each episode."""
    return Disturbance(
        airflow=settings.airflow,
        position_noise=settings.position_noise,
        loss=settings.loss,
        lost=settings.lost,
        delay=settings.delay,
        mallet_known=settings.mallet_known,
    )
