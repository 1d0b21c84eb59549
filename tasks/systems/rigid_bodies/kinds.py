"""Which packages of rigid bodies the registry holds: posteriors of recorded motion."""

from ricochet.tasks.registry.kinds import Reader, prefixed

PENDULUMS, MODELS, BOXES = "pendulum-", "model-", "box-"


def _particles() -> Reader:
    from ricochet.tasks.systems.rigid_bodies import particle_packages

    return particle_packages.READER


def _draws() -> Reader:
    from ricochet.tasks.systems.rigid_bodies import model_packages

    return model_packages.READER


PENDULUM = prefixed(
    PENDULUMS,
    "name",
    load_reader=_particles,
    made_by="ricochet infer double-pendulum FILE --register NAME",
)
"""Particles of a double pendulum's parameters, `particle_packages`."""
MODEL = prefixed(
    MODELS,
    "name",
    load_reader=_draws,
    made_by="ricochet infer --model FILE.xml RUN.csv --register NAME",
)
"""Draws of numbers of a MuJoCo model, `model_packages`."""
BOX = prefixed(
    BOXES, "name", load_reader=_draws, made_by="ricochet infer box RUN.csv --register NAME"
)
"""Draws of a hanging box's parameters, `model_packages`."""
