"""Which packages of rigid bodies the registry holds: posteriors of recorded motion."""

import re
from functools import partial

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import PackageKind, Reader

PENDULUMS, MODELS, BOXES = "pendulum-", "model-", "box-"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?")


def _refuse(prefix: str, name: str) -> None:
    if not _NAME.fullmatch(name.removeprefix(prefix)):
        raise BadInput(name, "no such name", f"{prefix} and small letters, digits and hyphens")


def _particles() -> Reader:
    from ricochet.tasks.systems.rigid_bodies import particle_packages

    return particle_packages.READER


def _draws() -> Reader:
    from ricochet.tasks.systems.rigid_bodies import model_packages

    return model_packages.READER


PENDULUM = PackageKind(
    pattern=f"{PENDULUMS}<name>",
    prefix=PENDULUMS,
    matches=lambda name: name.startswith(PENDULUMS) and name != PENDULUMS,
    refuse=partial(_refuse, PENDULUMS),
    load_reader=_particles,
    made_by="ricochet infer double-pendulum FILE --register NAME",
)
"""Particles of a double pendulum's parameters, `particle_packages`."""
MODEL = PackageKind(
    pattern=f"{MODELS}<name>",
    prefix=MODELS,
    matches=lambda name: name.startswith(MODELS) and name != MODELS,
    refuse=partial(_refuse, MODELS),
    load_reader=_draws,
    made_by="ricochet infer --model FILE.xml RUN.csv --register NAME",
)
"""Draws of numbers of a MuJoCo model, `model_packages`."""
BOX = PackageKind(
    pattern=f"{BOXES}<name>",
    prefix=BOXES,
    matches=lambda name: name.startswith(BOXES) and name != BOXES,
    refuse=partial(_refuse, BOXES),
    load_reader=_draws,
    made_by="ricochet infer box RUN.csv --register NAME",
)
"""Draws of a hanging box's parameters, `model_packages`."""
