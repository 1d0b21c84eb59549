"""The settings of the bouncing ball; the comments in params.yaml give units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Interval, Unit

from ricochet.tasks.general_settings import Amount, Count, Number, Share, Size

LOWEST, HIGHEST = 0.02, 5.0
"""Heights of release that are believed, m."""
Height = Annotated[float, Interval(ge=LOWEST, le=HIGHEST)]


@dataclass(frozen=True)
class Drops:
    """What is dropped in a session, and what the simulated rig makes of it."""

    ball: str
    surface: str
    restitution: Annotated[float, Interval(ge=0.01, le=1.0)]
    log10_concentration: Annotated[float, Interval(ge=-3.0, le=9.0)]
    drop_height: Height | None
    diameter: Annotated[float, Interval(gt=0.0, le=1.0), Unit("m")] | None
    mass: Annotated[float, Interval(gt=0.0, le=20.0), Unit("kg")] | None
    drops: Count
    snr: Annotated[float, Interval(ge=-20.0, le=120.0)]
    reverberation_time: Annotated[float, Interval(ge=0.0, le=5.0)]
    noise_steps: Size
    survey_sd: Amount
    contact_sd: Amount


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

    drops: Count
    time_sd: Size
    position_sd: Size


@dataclass(frozen=True)
class Density:
    """The training of a conditional density."""

    simulations: Count
    hidden: Count
    components: Count
    epochs: Count
    batch: Count
    learning_rate: Size
    trials: Number


@dataclass(frozen=True)
class Calibrate:
    """From sessions to a posterior."""

    fewest_takes: Count
    survey_sd: Amount
    contact_sd: Amount
    release_sd: Amount
    check_sessions: Count
    whole_takes: Number
    whole_bounces: Annotated[int, Interval(ge=3, le=40)]


@dataclass(frozen=True)
class Tosses:
    """Balls tossed at a robot, and what makes them hard to detect."""

    tosses: Count
    occlusion: Share
    attenuation: Amount
    shortest_detour: Size
    longest_detour: Size
    detour_share: Amount
    robot_noise: Annotated[float, Interval(ge=-60.0, le=60.0)]
    look_ahead: list[Any]
    home: list[Any]


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

    robot: str
    base: list[Any]
    tosses: Count
    repeats: Number
    patience: Size
    window: Size
    answer: Size


@dataclass(frozen=True)
class NightlyDrops:
    """What the scheduled flow records."""

    drops: Count


@dataclass(frozen=True)
class Study:
    """The size of the studies."""

    simulations: Count
    paper_simulations: Count
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
