"""What joins two bodies: the third of three coupled filters (Sec. IV-A, Eqs. 3 and 4).

What is measured is the change z = (t, r) of the pose of one body in the other, a shift and a
rotation vector. Of each kind of joint a filter predicts it:

    rigid          z = 0
    prismatic      z = (q a, 0),                  state (phi, theta, q, q')             Eq. 3
    revolute       z = (c - exp(q a) c, q a),     state (phi, theta, q, q', c)
    disconnected   z as it was, by any step

with the axis a = (cos theta cos phi, cos theta sin phi, sin theta) and c a point of a hinge. The
kind that has predicted best is believed: probabilities are products of the likelihoods.

A joint of which no axis is known yet is one that has not moved: until a shift or a turn is clearly
there, prismatic and revolute joints predict z = 0 with the spread of a motion that may begin.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.spatial.transform import Rotation

from ricochet.models.filters import kalman

CLEAR = 0.02  # m of a shift, from which an axis is known; a turn by a hinge at 1 m is the same
ACCELERATION = 3.0  # m/s^(3/2) of q, or rad
STEADY = 1e-3  # 1/sqrt(s), wander of the axis; m/sqrt(s) of the hinge
BEGIN = 0.05  # m and rad, of what may happen between two images where nothing is known
ARM = 1.0  # m, deviation of where a hinge is
STEP = 1e-6  # of numerical derivatives


class Kind(StrEnum):
    """Kinds of joints."""

    RIGID = "rigid"
    PRISMATIC = "prismatic"
    REVOLUTE = "revolute"
    DISCONNECTED = "disconnected"


@dataclass(frozen=True)
class Joint:
    """The belief of one kind of joint.

    Attributes:
        state: As the module has it; None while no axis is known.
        score: Log of the likelihood of all that was measured.
        last: z as it was last measured.
    """

    kind: Kind
    state: Float[ndarray, " n"] | None
    covariance: Float[ndarray, "n n"] | None
    score: float
    last: Float[ndarray, " 6"]


def born() -> tuple[Joint, ...]:
    """Return one of each kind, all as likely."""
    return tuple(Joint(kind, None, None, 0.0, np.zeros(6)) for kind in Kind)


def probabilities(joints: tuple[Joint, ...]) -> dict[Kind, float]:
    """Return the probability of each kind.

    >>> probabilities(born())[Kind.RIGID]
    0.25
    """
    scores = np.array([joint.score for joint in joints])
    weights = np.exp(scores - scores.max())
    shares = (weights / weights.sum()).tolist()
    return {joint.kind: share for joint, share in zip(joints, shares, strict=True)}


def axis(state: Float[ndarray, " n"]) -> Float[ndarray, " 3"]:
    """Return a, of unit length.

    >>> axis(np.array([0.0, 0.0, 0.1, 0.0]))
    array([1., 0., 0.])
    """
    phi, theta = state[:2]
    return np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), np.sin(theta)])


def predict(joint: Joint, duration: float) -> Joint:
    """Return the belief after a time, s: q moves on with q'."""
    if joint.state is None or joint.covariance is None:
        return joint
    size = len(joint.state)
    transition, noise = np.eye(size), STEADY**2 * duration * np.eye(size)
    transition[2, 3] = duration
    noise[2:4, 2:4] = ACCELERATION**2 * kalman.white_acceleration(duration)
    mean, covariance = kalman.predict(
        joint.state, joint.covariance, transition=transition, noise=noise
    )
    return replace(joint, state=mean, covariance=covariance)


def update(joint: Joint, change: Float[ndarray, " 6"], noise: Float[ndarray, "6 6"]) -> Joint:
    """Return the belief after a change of the relative pose was measured.

    Args:
        change: z, m and rad.
        noise: Its covariance.
    """
    if joint.kind is Kind.RIGID:
        return _scored(joint, change, change, noise)
    if joint.kind is Kind.DISCONNECTED:
        return _scored(joint, change - joint.last, change, 2.0 * noise + BEGIN**2 * np.eye(6))
    if joint.state is None or joint.covariance is None:
        return _begun(joint, change, noise)
    predicted, slopes = linearised(joint)
    found = kalman.update(
        joint.state,
        joint.covariance,
        change - predicted + slopes @ joint.state,
        observation=slopes,
        noise=noise,
    )
    score = joint.score + float(found.log_density)
    return replace(joint, state=found.mean, covariance=found.covariance, score=score, last=change)


def hear(joint: Joint, velocity: float, deviation: float) -> Joint:
    """Return the belief after the sound measured q', Eq. 4: H = [0 0 0 1], m/s."""
    if joint.state is None or joint.covariance is None:
        return joint
    observation = np.zeros((1, len(joint.state)))
    observation[0, 3] = 1.0
    found = kalman.update(
        joint.state,
        joint.covariance,
        np.array([velocity]),
        observation=observation,
        noise=np.array([[deviation**2]]),
    )
    return replace(joint, state=found.mean, covariance=found.covariance)


def within(joint: Joint, low: float, high: float) -> Joint:
    """Return the belief with q between limits, as the paper keeps it after each step."""
    if joint.state is None:
        return joint
    state = joint.state.copy()
    state[2] = np.clip(state[2], low, high)
    return replace(joint, state=state)


def change(kind: Kind, state: Float[ndarray, " n"]) -> Float[ndarray, " 6"]:
    """Return z of a state.

    >>> change(Kind.PRISMATIC, np.array([0.0, 0.0, 0.1, 0.5]))
    array([0.1, 0. , 0. , 0. , 0. , 0. ])
    """
    along = axis(state) * state[2]
    if kind is Kind.PRISMATIC:
        return np.concatenate([along, np.zeros(3)])
    hinge = state[4:7]
    return np.concatenate([hinge - Rotation.from_rotvec(along).apply(hinge), along])


def linearised(joint: Joint) -> tuple[Float[ndarray, " 6"], Float[ndarray, "6 n"]]:
    """Return z as the joint predicts it, and its derivatives by the state."""
    assert joint.state is not None
    predicted = change(joint.kind, joint.state)
    steps = STEP * np.eye(len(joint.state))
    slopes = [(change(joint.kind, joint.state + step) - predicted) / STEP for step in steps]
    return predicted, np.stack(slopes, axis=1)


def _scored(
    joint: Joint, left: Float[ndarray, " 6"], seen: Float[ndarray, " 6"], noise: ndarray
) -> Joint:
    """Return a joint without a state, its score with what it left unexplained."""
    found = kalman.update(np.zeros(6), np.zeros((6, 6)), left, observation=np.eye(6), noise=noise)
    return replace(joint, score=joint.score + float(found.log_density), last=seen)


def _begun(joint: Joint, seen: Float[ndarray, " 6"], noise: Float[ndarray, "6 6"]) -> Joint:
    """Return a joint that has not moved, or the first belief about its axis."""
    scored = _scored(joint, seen, seen, noise + BEGIN**2 * np.eye(6))
    shift, turn = seen[:3], seen[3:]
    size = float(np.linalg.norm(shift))
    if size < CLEAR:
        return scored
    if joint.kind is Kind.PRISMATIC:
        state = np.array([*_angles(shift), size, 0.0])
        return replace(scored, state=state, covariance=np.diag([0.1, 0.1, 1e-3, 1.0]) ** 2)
    angle = float(np.linalg.norm(turn))
    way = turn if angle > 0.0 else np.array([0.0, 0.0, 1.0])
    state = np.array(
        [*_angles(way), max(angle, STEP), 0.0, *np.cross(way, shift) / max(angle, CLEAR) ** 2]
    )
    spread = np.diag([0.5, 0.5, 0.02, 1.0, ARM, ARM, ARM]) ** 2
    return replace(scored, state=state, covariance=spread)


def _angles(way: Float[ndarray, " 3"]) -> tuple[float, float]:
    """Return azimuth and elevation of a way."""
    flat = float(np.hypot(way[0], way[1]))
    return float(np.arctan2(way[1], way[0])), float(np.arctan2(way[2], flat))
