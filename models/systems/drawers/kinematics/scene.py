"""Points, bodies and the joint between two bodies, as coupled filters (Sec. IV-A, Fig. 2).

Downwards each filter is the prediction of the one below: the joint says how the body moves, the
body how its points do. Upwards each is a measurement of the one above: the camera of the points,
the points of the body, both bodies' poses of the joint. Without an image only the joint moves on.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.spatial.transform import Rotation

from ricochet.models.systems.drawers.kinematics import bodies, features, joints
from ricochet.models.systems.drawers.kinematics.bodies import Body
from ricochet.models.systems.drawers.kinematics.features import Features
from ricochet.models.systems.drawers.kinematics.joints import Joint, Kind

BELIEVED = 0.5  # probability of a joint from which the body moves as it does
FREE = 0.3  # m/s and rad/s, by which it may all the same
LEAST_NOISE = 2e-4  # m and rad, of a relative pose: bodies' frames are known no better


@dataclass(frozen=True)
class Tracked:
    """A body and its points; no body while too few were seen."""

    features: Features
    body: Body | None


@dataclass(frozen=True)
class Scene:
    """A body that stays, one that may move, and what joins them.

    Attributes:
        start: Pose of the second in the first when both were first known: R and t.
    """

    fixed: Tracked
    moving: Tracked
    joints: tuple[Joint, ...]
    start: tuple[Float[ndarray, "3 3"], Float[ndarray, " 3"]] | None = None

    @property
    def probabilities(self) -> dict[Kind, float]:
        """Of each kind of joint."""
        return joints.probabilities(self.joints)

    @property
    def prismatic(self) -> Joint:
        """The belief of a drawer."""
        return next(joint for joint in self.joints if joint.kind is Kind.PRISMATIC)


def unseen(fixed: int, moving: int) -> Scene:
    """Return a scene of so many points of which nothing is known yet."""
    return Scene(
        Tracked(features.unseen(fixed), None),
        Tracked(features.unseen(moving), None),
        joints.born(),
    )


def step(
    scene: Scene,
    duration: float,
    fixed: Float[ndarray, "fixed 3"] | None = None,
    moving: Float[ndarray, "moving 3"] | None = None,
) -> Scene:
    """Return the scene after a time, and an image if there is one.

    Args:
        duration: s.
        fixed, moving: Where the points of both bodies are seen, m; None: no image.
    """
    moved = tuple(joints.predict(joint, duration) for joint in scene.joints)
    scene = replace(scene, joints=moved)
    if fixed is None or moving is None:
        return scene
    stays = _followed(scene.fixed, fixed, duration)
    driven = _driven(scene, duration)
    goes = _followed(driven, moving, duration)
    scene = replace(scene, fixed=stays, moving=goes)
    if stays.body is None or goes.body is None:
        return scene
    pose = _relative(stays.body, goes.body)
    if scene.start is None:
        return replace(scene, start=pose)
    change = _change(scene.start, pose)
    noise = _noise(stays.body, goes.body)
    updated = tuple(joints.update(joint, change, noise) for joint in scene.joints)
    return replace(scene, joints=updated)


def hear(scene: Scene, velocity: float, deviation: float) -> Scene:
    """Return the scene after the sound measured how fast the drawer opens, m/s (Eq. 4)."""
    heard = tuple(
        joints.hear(joint, velocity, deviation) if joint.kind is Kind.PRISMATIC else joint
        for joint in scene.joints
    )
    return replace(scene, joints=heard)


def _followed(tracked: Tracked, seen: Float[ndarray, "point 3"], duration: float) -> Tracked:
    """Return a body and its points after an image."""
    if tracked.body is None:
        known = features.update(tracked.features, seen)
        return Tracked(known, bodies.born(known))
    before, body = tracked.body, bodies.predict(tracked.body, duration)
    rotation = body.rotation @ before.rotation.T
    shift = body.place - rotation @ before.place
    ahead = features.predict(tracked.features, rotation, shift, duration, bodies.spread(body))
    known = features.update(ahead, seen)
    return Tracked(known, bodies.update(body, known))


def _driven(scene: Scene, duration: float) -> Tracked:
    """Return the moving body with the velocity of the joint that is believed in."""
    body, base = scene.moving.body, scene.fixed.body
    kind, share = max(scene.probabilities.items(), key=lambda pair: pair[1])
    joint = next(each for each in scene.joints if each.kind is kind)
    if body is None or base is None or joint.state is None or share < BELIEVED:
        return scene.moving
    ahead = joint.state.copy()
    ahead[2] += duration * joint.state[3]
    steps = (joints.change(kind, ahead) - joints.change(kind, joint.state)) / duration
    velocity, spin = base.rotation @ steps[:3], base.rotation @ steps[3:]
    return replace(scene.moving, body=bodies.constrain(body, velocity, spin, FREE))


def _relative(base: Body, body: Body) -> tuple[Float[ndarray, "3 3"], Float[ndarray, " 3"]]:
    """Return the pose of a body in another."""
    return base.rotation.T @ body.rotation, base.rotation.T @ (body.place - base.place)


def _change(
    start: tuple[Float[ndarray, "3 3"], Float[ndarray, " 3"]],
    pose: tuple[Float[ndarray, "3 3"], Float[ndarray, " 3"]],
) -> Float[ndarray, " 6"]:
    """Return the shift and the rotation vector from one relative pose to another."""
    turned = Rotation.from_matrix(pose[0] @ start[0].T).as_rotvec()
    return np.concatenate([pose[1] - start[1], turned])


def _noise(base: Body, body: Body) -> Float[ndarray, "6 6"]:
    """Return the covariance of a relative pose."""
    together = base.covariance[:6, :6] + body.covariance[:6, :6]
    return together + LEAST_NOISE**2 * np.eye(6)
