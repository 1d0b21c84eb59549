"""The disturbance of the settings."""

from dataclasses import fields

from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.systems.air_hockey.settings import Hockey


def disturbance_of(settings: Hockey) -> Disturbance:
    """Return what disturbs each episode."""
    return Disturbance(**{each.name: getattr(settings, each.name) for each in fields(Disturbance)})
