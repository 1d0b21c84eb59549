"""The settings of rigid bodies; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, Len

from ricochet.tasks.general_settings import File, Files

Seconds = Annotated[float, Interval(ge=1e-9, le=86_400.0)]
Repeats = Annotated[int, Interval(ge=1, le=10_000)]
Span = Annotated[float, Interval(ge=0.1, le=60.0)]
Instants = Annotated[list[Annotated[float, Interval(ge=0.0, le=1e5)]], Len(1, 20)]
Particles = Annotated[int, Interval(ge=8, le=10_000)]


@dataclass(frozen=True)
class Pendulum:
    """How much of a double pendulum is learnt from, and how much is computed."""

    seeds: Repeats
    repeats: Repeats
    films: File
    seconds: Seconds
    span: Span
    instants: Instants
    particles: Particles


@dataclass(frozen=True)
class Model:
    """How much of the motion of a MuJoCo model is learnt from, and how much is computed."""

    window: Annotated[float, Interval(ge=0.001, le=10.0)]
    smoothing: Annotated[int, Interval(ge=5, le=101)]
    span: Span
    instants: Instants
    particles: Particles
    rounds: Annotated[int, Interval(ge=2, le=10_000)]


@dataclass(frozen=True)
class ShakenBox:
    """How much is computed of weights in a shaken box."""

    placements: Repeats
    seconds: Seconds
    rounds: Annotated[int, Interval(ge=2, le=10_000)]
    discrepancy: Annotated[float, Interval(ge=1e-6, le=0.1)]
    simulations: Annotated[int, Interval(ge=100, le=1_000_000)]
    particles: Particles


@dataclass(frozen=True)
class PendulumGate:
    """How much a posterior of a pendulum is tried before it becomes champion."""

    particles: Annotated[int, Interval(ge=8, le=10_000)]
    trials: Annotated[int, Interval(ge=2, le=10_000)]
    span: Annotated[float, Interval(ge=0.1, le=60.0)]
    trial_particles: Annotated[int, Interval(ge=8, le=10_000)]
    futures: Annotated[int, Interval(ge=20, le=10_000)]
    crossings: Annotated[int, Interval(ge=20, le=10_000)]
    chance: Annotated[float, Interval(gt=0.0, le=0.2)]


@dataclass(frozen=True)
class NightlyPendulum:
    """Whether the scheduled flow infers and validates a pendulum, and from which recordings."""

    pendulum: bool
    pendulum_files: Files


SECTIONS: Mapping[str, type] = {
    "pendulum": Pendulum,
    "model": Model,
    "box": ShakenBox,
    "pendulum_gate": PendulumGate,
    "nightly": NightlyPendulum,
}
