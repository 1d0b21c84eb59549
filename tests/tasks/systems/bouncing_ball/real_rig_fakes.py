"""A real rig made of fakes: a UR controller, a card that records twin tosses, a scripted operator.

The fakes answer as ur_rtde and sounddevice do and take real time; everything above them is the
project's own.
"""

import functools
from dataclasses import dataclass

import numpy as np
import torch

from ricochet.hardware import locks
from ricochet.hardware.microphones import sound_device
from ricochet.hardware.robots import owner_process, ur, ur_stop, watched
from ricochet.hardware.robots.messages import Limits
from ricochet.models.systems.bouncing_ball import contact_draws, contact_table
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import sample
from ricochet.tasks.systems.bouncing_ball.settings import Real
from ricochet.tasks.systems.bouncing_ball.tracking import laboratory, real_rig
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel
from ricochet.tasks.systems.bouncing_ball.validation import real_trials
from ricochet.tasks.systems.bouncing_ball.validation.real_trials import TrialSetup
from tests.hardware.microphones.sound_card import Room
from tests.hardware.robots import owner_thread
from tests.hardware.robots.rtde_fakes import Control, Controller, Receive
from tests.tasks.console.test_operator import scripted

HOST, PAIR = "192.0.2.1", "tennis-table"


@dataclass
class Fakes:
    """The devices, and what the operator is shown."""

    controller: Controller
    room: Room
    shown: list
    stopped_beside: list


PATIENT = Limits(silence=5.0, hang=5.0, command=5.0)
"""Of owner and client, on machines under load."""


def install(monkeypatch, folder, *, room=None, **words):
    """Put fakes where the drivers are imported, and make everything quick."""
    controller = Controller(paced=True, **words)
    kinds = {"rtde_control": Control, "rtde_receive": Receive}
    fakes = Fakes(controller, room or Room(), [], [])
    monkeypatch.setattr(ur, "_late", lambda name: functools.partial(kinds[name], controller))
    monkeypatch.setattr(owner_process, "launch", owner_thread.launch)
    monkeypatch.setattr(watched, "Limits", lambda: PATIENT)
    monkeypatch.setattr(ur_stop, "check", lambda host: None)
    monkeypatch.setattr(ur_stop, "stop", fakes.stopped_beside.append)
    monkeypatch.setattr(sound_device, "sounddevice", lambda: fakes.room)
    monkeypatch.setattr(locks, "RigLock", functools.partial(locks.RigLock, scope=str(folder)))
    monkeypatch.setattr(real_trials, "RETURN", 0.3)
    monkeypatch.setattr(real_trials, "REST", 0.2)
    return fakes


def loaded(*overrides):
    quick = ("tosses=2", "repeats=1", "patience=1.0", "window=1.5", f"robot={HOST}")
    return catalogue.load_settings(None, [*(f"real.{text}" for text in quick), *overrides])


def tossed(count, *, seed=3):
    """What the microphones record of some tosses."""
    settings, ball = loaded(), sample.TRUTHS[PAIR]
    twin = laboratory.open_laboratory(settings, ball=ball, seed=seed)
    played = [twin.toss() for _ in range(count)]
    return [np.concatenate([b.samples for b in each.buffers()], axis=1) for each in played]


def ball_model(seed=1):
    draw = np.random.default_rng(seed)
    theta = np.array([0.72, 3.0]) + draw.standard_normal((200, 2)) * (3e-3, 0.06)
    draws = contact_draws.of_pairs(torch.from_numpy(theta))
    return BallModel(draws, contact_table.tabulate(draws))


def setup(fakes, *answers, settings=None, roles=("candidate", "champion")):
    """All that the trials need, with an operator who types some lines."""
    settings = settings or loaded()
    who, shown = scripted(*answers)
    fakes.shown = shown
    rig, models = real_rig.open_rig(settings, armed=True), {role: ball_model() for role in roles}
    return TrialSetup(sample.TRUTHS[PAIR], models, settings, rig, who)


def with_real(settings, **changes):
    return settings.changed(Real, **changes)
