"""Sessions of the generator as a study needs them: what is heard, what is true, what is seen."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.drawers import camera
from ricochet.hardware.twins.drawers.camera import Images
from ricochet.hardware.twins.drawers.generator import rooms, takes
from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.sound import source_direction, spectra
from ricochet.models.systems.drawers import features, labels
from ricochet.models.systems.drawers.kinematics import scene
from ricochet.models.systems.drawers.kinematics.joints import Joint
from ricochet.models.systems.drawers.labels import FRAME, PERIOD
from ricochet.models.systems.drawers.tracking.pace import Seen
from ricochet.models.systems.drawers.tracking.paper_fusion import Lit, Velocities
from ricochet.tasks.systems.drawers.trials import Frames, Sight, Trial


@dataclass(frozen=True)
class Session:
    """A simulated session and its frames."""

    frames: Frames
    take: takes.Take


@lru_cache(maxsize=20)
def session(setting: Setting, seed: int) -> Session:
    """Return a session; equal seeds of a drawer have the same motion."""
    take = takes.record(setting, seed)
    found = features.of_samples(take.samples)
    times, positions = take.motion.T
    truth = labels.of_track(times, positions, len(found.speed))
    return Session(Frames(found, spectra.powers(take.samples, FRAME), truth), take)


def trial(recorded: Session, setting: Setting, seed: int) -> Trial:
    """Return what is tried of a session."""
    ring = rooms.ring(setting.array, setting.place)
    sources = source_direction.locate(recorded.take.samples, FRAME, ring)
    ends = PERIOD * np.arange(1, len(sources) + 1)
    return Trial(recorded.frames, sight(recorded, setting, seed), sources, ends > setting.light_off)


def sight(recorded: Session, setting: Setting, seed: int) -> Sight:
    """Return what is seen of a session; its zero is that of the camera's track."""
    times, positions = recorded.take.motion.T
    draw = np.random.default_rng([seed, 8])
    images = camera.film(times, positions, setting.light_off, draw)
    frames = len(recorded.frames.labels.speed)
    ends = PERIOD * np.arange(1, frames + 1)
    ends = ends[ends <= setting.light_off]
    joints = _joints(images, ends)
    lit = Lit(joints, _zero(recorded, joints))
    deviations = [
        np.sqrt(each.covariance[2, 2]) if each.covariance is not None else 0.003 for each in joints
    ]
    pairs = zip(lit.places.tolist(), deviations, strict=True)
    seen: list[Seen | None] = [Seen(place, float(deviation)) for place, deviation in pairs]
    return Sight(
        lit,
        seen + [None] * (frames - len(joints)),
        lambda heard: Lit(_joints(images, ends, heard), lit.zero),
    )


def _joints(
    images: Images, ends: Float[ndarray, " lit"], heard: Velocities | None = None
) -> list[Joint]:
    """Return the prismatic joint at the end of each lit frame, by the camera or with the sound."""
    found, joints, before = scene.unseen(images.fixed.shape[1], images.moving.shape[1]), [], 0
    for frame, end in enumerate(np.searchsorted(images.times, ends, side="right").tolist()):
        for image in range(before, end):
            found = scene.step(found, 1.0 / camera.RATE, images.fixed[image], images.moving[image])
        before = end
        if heard is not None:
            found = scene.hear(found, float(heard.mean[frame]), heard.deviation)
        joints.append(found.prismatic)
    return joints


def _zero(recorded: Session, joints: list[Joint]) -> float:
    """Return the joint's opening where the drawer is closed, by the camera's track."""
    track = recorded.take.vision
    ends = PERIOD * np.arange(1, len(joints) + 1)
    tracked = np.interp(ends, *track.T)
    opened = [0.0 if each.state is None else float(each.state[2]) for each in joints]
    return float(np.median(np.array(opened) - tracked))
