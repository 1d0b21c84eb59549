"""The twin laboratory, the workspace and the look-ahead as the settings describe them."""

import zlib
from dataclasses import replace

import numpy as np

from ricochet.hardware.microphones.acoustics import Acoustics
from ricochet.hardware.twins.occlusions import Obstacles
from ricochet.hardware.twins.tossed_ball import Laboratory, Surroundings
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG, Ball
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace, contains
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball import capture as capturing
from ricochet.tasks.systems.bouncing_ball.settings import Drops, Tosses


def open_laboratory(
    settings: Settings,
    *,
    ball: Ball,
    seed: int,
) -> Laboratory:
    """Set up the twin laboratory, where another ball has other tosses for the same seed.

    `BadInput` for bad places of microphones and detours out of order.
    """
    toss = settings[Tosses]
    if toss.longest_detour < toss.shortest_detour:
        expected = f"at least toss.shortest_detour = {toss.shortest_detour}"
        raise BadInput("toss.longest_detour", repr(toss.longest_detour), expected)
    return Laboratory(
        capturing.stated_rig("twin", settings[Capture]),
        ball,
        _surroundings(settings[Drops], toss),
        draw=np.random.default_rng((seed, zlib.crc32(ball.name.encode()))),
    )


def look_ahead(toss: Tosses, ball_name: str) -> int:
    """Return how many bounces to look ahead for a ball (Appendix E of Matl et al.).

    `BadInput` for an unknown ball, or unless there is one whole number of 1 or more a ball.
    """
    if ball_name == REAL_PING_PONG.name:  # looked ahead of as the paper's
        ball_name = "ping-pong"
    numbers, names = toss.look_ahead, ", ".join(BALLS)
    if ball_name not in BALLS:
        raise BadInput("ball", repr(ball_name), f"one of {names}")
    whole = all(type(number) is int and number >= 1 for number in numbers)
    if len(numbers) != len(BALLS) or not whole:
        expected = f"{len(BALLS)} whole numbers of 1 or more, for {names}"
        raise BadInput("toss.look_ahead", repr(numbers), expected)
    return dict(zip(BALLS, numbers, strict=True))[ball_name]


def workspace(toss: Tosses) -> Workspace:
    """Return where the paddle may be, and where it waits; `BadInput` if that is no place inside."""
    two = len(toss.home) == 2 and all(type(number) in (int, float) for number in toss.home)
    bounds = Workspace()
    if not two or not contains(bounds, *toss.home):
        (left, right), (low, high) = bounds.y, bounds.z
        expected = f"y in [{left}, {right}] m and z in [{low}, {high}] m"
        raise BadInput("toss.home", repr(toss.home)[:60], expected)
    return replace(bounds, home=(float(toss.home[0]), float(toss.home[1])))


def _surroundings(drops: Drops, toss: Tosses) -> Surroundings:
    """Collect what makes bounces hard to detect."""
    acoustics = Acoustics(
        reverberation_time=drops.reverberation_time,
        snr=drops.snr,
        noise_steps=drops.noise_steps,
        survey_sd=drops.survey_sd,
        contact_sd=drops.contact_sd,
    )
    obstacles = Obstacles(
        occlusion=toss.occlusion,
        attenuation=toss.attenuation,
        shortest=toss.shortest_detour,
        longest=toss.longest_detour,
        share=toss.detour_share,
    )
    return Surroundings(acoustics, obstacles, toss.robot_noise)
