"""What a controller may believe of a ball: the paper's model or the family's, from simulated drops.

    pairs    drops of three bounces, the exact posterior of restitution and log10 concentration
    family   takes of many bounces, the members of the family averaged (`whole_chains`)

Both from sessions of their own with the default measurement noise of their detections. The family
is told diameter and mass of a ball that has a size, and knows nothing of the air about the others.
"""

from collections.abc import Mapping

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball import air, contact_draws, family_simulator, problem
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG, Ball
from ricochet.models.systems.bouncing_ball.calibration import posterior, whole_chains
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.features import form_features
from ricochet.models.systems.bouncing_ball.simulator import Bounces
from ricochet.tasks.systems.bouncing_ball.studies import departed_sessions, sessions
from ricochet.tasks.systems.bouncing_ball.studies.sessions import Session

TOSSED: Mapping[str, Ball] = BALLS | {REAL_PING_PONG.name: REAL_PING_PONG}
"""The paper's balls, and a real one."""
SIZES = {REAL_PING_PONG.name: air.COMMON_BALLS["ping-pong"]}
SAMPLES = 2000
"""Draws of the posterior that a controller is given."""
TAKES, BOUNCES = 12, 8
"""Of a session that the family explains."""


def of_pairs(ball: Ball, *, drops: int, seed: int) -> ContactDraws:
    """Calibrate the paper's model on drops of a ball."""
    session = Session(seed, drops, ball.theta)
    if ball.plain:
        found = sessions.simulate(session)
        features, noise, release = found.features, found.noise, found.release
    else:
        noise, release = problem.constant_noise((drops,)), problem.constant_release((drops,))
        draw = torch.Generator().manual_seed(seed)
        bounces = _dropped(ball, drops, bounces=3, height=problem.REFERENCE_HEIGHT, draw=draw)
        features = form_features(*problem.measure(bounces, noise, draw=draw))
    density = posterior.posterior(features, noise, release)
    theta = density.sample(SAMPLES, draw=np.random.default_rng(seed))
    return contact_draws.of_pairs(torch.from_numpy(theta))


def of_family(ball: Ball, *, seed: int) -> ContactDraws:
    """Calibrate the family on takes of a ball."""
    takes, draw = _takes(ball, seed), np.random.default_rng(seed)
    answer = whole_chains.infer(
        takes,
        [f"take-{number:02d}" for number in range(len(takes))],
        first=np.array(ball.theta),
        ball=whole_chains.Ball(SIZES.get(ball.name)),
        about=lambda shared: departed_sessions.relocated(takes, shared),
        draw=draw,
    )
    found = answer.family.contacts(draw=draw)
    return found.rows(draw.choice(len(found.drag), SAMPLES, replace=False))


def _takes(ball: Ball, seed: int) -> list[Take]:
    """Simulate takes as their detections state them."""
    draw, numbers = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    height = departed_sessions.HEIGHT
    found = _dropped(ball, TAKES, bounces=BOUNCES, height=height, draw=numbers)
    return departed_sessions.takes_of(found.times.numpy(), found.positions.numpy()[..., :2], draw)


def _dropped(
    ball: Ball, drops: int, *, bounces: int, height: float, draw: torch.Generator
) -> Bounces:
    """Let balls go as a hand does."""
    nature = ball.nature
    return family_simulator.simulate(
        nature.contact,
        family_simulator.start_velocities((drops,), horizontal_sd=problem.HORIZONTAL_SD, draw=draw),
        drop_height=height,
        law=nature.law,
        around=Surroundings(nature.drag),
        bounces=bounces,
        draw=draw,
    )
