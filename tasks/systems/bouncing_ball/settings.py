"""The settings of the bouncing ball; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, Len, Unit

from ricochet.tasks.general_settings import (
    Batch,
    Coordinate,
    Count,
    Epochs,
    Places,
    Point,
    Rate,
    Share,
    Simulations,
    Takes,
    Trials,
    Units,
    Words,
)

LOWEST, HIGHEST = 0.02, 5.0
"""Heights of release that are believed, m."""
Height = Annotated[float, Interval(ge=LOWEST, le=HIGHEST)]
Instants = Annotated[float, Interval(ge=0.0, le=0.01)]
"""s, by which instants are off."""
Detour = Annotated[float, Interval(ge=1e-9, le=10.0)]
Ahead = Annotated[int, Interval(ge=1, le=100)]


@dataclass(frozen=True)
class Drops:
    """What is dropped in a session, and what the simulated rig makes of it."""

    ball: Words
    surface: Words
    restitution: Annotated[float, Interval(ge=0.01, le=1.0)]
    log10_concentration: Annotated[float, Interval(ge=-3.0, le=9.0)]
    drop_height: Height | None
    diameter: Annotated[float, Interval(gt=0.0, le=1.0), Unit("m")] | None
    mass: Annotated[float, Interval(gt=0.0, le=20.0), Unit("kg")] | None
    drops: Takes
    snr: Annotated[float, Interval(ge=-20.0, le=120.0)]
    reverberation_time: Annotated[float, Interval(ge=0.0, le=5.0)]
    noise_steps: Annotated[float, Interval(ge=1e-9, le=10_000.0)]
    survey_sd: Places
    contact_sd: Instants


@dataclass(frozen=True)
class Nature:
    """What a simulated ball is beyond restitution and concentration; all zero is the paper's."""

    viscoelastic: bool
    slope: Annotated[float, Interval(ge=-0.5, le=0.5)]
    tangential_loss: Annotated[float, Interval(ge=-1.0, le=1.0)]
    tail_share: Share
    tail_ratio: Share
    scatter: Share
    take_scatter: Share
    drag: Annotated[float, Interval(ge=0.0, le=1.0)] | None


@dataclass(frozen=True)
class Simulate:
    """Drops simulated without sound, and the noise of measuring one bounce."""

    drops: Simulations
    time_sd: Annotated[float, Interval(ge=1e-9, le=0.1)]
    position_sd: Annotated[float, Interval(ge=1e-9, le=1.0)]


@dataclass(frozen=True)
class Density:
    """The training of a conditional density."""

    simulations: Simulations
    hidden: Units
    components: Annotated[int, Interval(ge=1, le=32)]
    epochs: Epochs
    batch: Batch
    learning_rate: Rate
    trials: Trials


@dataclass(frozen=True)
class Calibrate:
    """From sessions to a posterior."""

    fewest_takes: Takes
    survey_sd: Places
    contact_sd: Instants
    release_sd: Annotated[float, Interval(ge=0.0, le=1.0)]
    check_sessions: Annotated[int, Interval(ge=1, le=10_000)]
    whole_takes: Annotated[int, Interval(ge=0, le=1000)]
    whole_bounces: Annotated[int, Interval(ge=3, le=40)]


@dataclass(frozen=True)
class Tosses:
    """Balls tossed at a robot, and what makes them hard to detect."""

    tosses: Count
    occlusion: Share
    attenuation: Annotated[float, Interval(ge=0.0, le=200.0)]
    shortest_detour: Detour
    longest_detour: Detour
    detour_share: Annotated[float, Interval(ge=0.0, le=10.0)]
    robot_noise: Annotated[float, Interval(ge=-60.0, le=60.0)]
    look_ahead: Annotated[list[Ahead], Len(1, 10)]
    home: Annotated[list[Coordinate], Len(2, 2)]


@dataclass(frozen=True)
class Gate:
    """The size of the checks before `champion`."""

    sessions: Count
    draws: Count


@dataclass(frozen=True)
class Validate:
    """The size of a validation on the rig."""

    tosses: Count
    positions: Count


@dataclass(frozen=True)
class Real:
    """A real rig: the robot, and the tosses by hand."""

    robot: Words
    base: Point
    tosses: Count
    repeats: Annotated[int, Interval(ge=0, le=1000)]
    patience: Annotated[float, Interval(ge=1e-9, le=3600.0)]
    window: Annotated[float, Interval(ge=1e-9, le=60.0)]
    answer: Annotated[float, Interval(ge=1e-9, le=86_400.0)]


@dataclass(frozen=True)
class NightlyDrops:
    """What the scheduled flow records."""

    drops: Takes


@dataclass(frozen=True)
class Study:
    """The size of the studies."""

    simulations: Simulations
    paper_simulations: Simulations
    cases: Count
    sessions: Count
    repeats: Count
    drops: Count


SECTIONS: Mapping[str, type] = {
    "capture": Drops,
    "nature": Nature,
    "simulate": Simulate,
    "density": Density,
    "calibrate": Calibrate,
    "toss": Tosses,
    "gate": Gate,
    "validate": Validate,
    "real": Real,
    "nightly": NightlyDrops,
    "study": Study,
}
