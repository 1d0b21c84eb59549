"""The air-hockey table of the settings."""

from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.systems.air_hockey.settings import Hockey


def disturbance(settings: Hockey) -> Disturbance:
    """Return what the agent is not told.

    Args:
        settings: The table's settings.

    Returns:
        What disturbs each episode.
    """
    return Disturbance(
        airflow=settings.airflow,
        position_noise=settings.position_noise,
        loss=settings.loss,
        lost=settings.lost,
        delay=settings.delay,
        mallet_known=settings.mallet_known,
    )
