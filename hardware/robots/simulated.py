"""An arm inside MuJoCo behind the interface: as fast as it computes, or in step with the clock.

It is watched as a real one is: a paddle that strays too far from its plan stops the arm, with a
line that says so. `seized_at` causes that fault on purpose.
"""

import time
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np

from ricochet.hardware.robots.paddle_arm import ArmState, Point, Refusal, refuse_target
from ricochet.models.systems.bouncing_ball.tracking import paddle_arm, paddle_motion
from ricochet.models.systems.bouncing_ball.tracking.paddle_arm import Motion, Track
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

BOUND = 0.03  # m, between the paddle and its plan


class SimulatedArm:
    """A UR5 with a paddle in MuJoCo; nothing moves outside the computer."""

    exclusive = False

    def __init__(
        self,
        workspace: Workspace | None = None,
        *,
        paced: bool = False,
        seized_at: float | None = None,
        world: paddle_arm.Arm | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Put the arm at the workspace's home, at rest, its clock at zero.

        Args:
            workspace: Where targets may lie; the standard one when absent.
            paced: Whether `advance` takes as long as it says.
            seized_at: When the joints seize, s of the arm's clock; never when absent.
            world: A scene to compute in; a new one when absent.
            sleep: Waits so many seconds.
            clock: Wall clock for pacing, s.
        """
        self.workspace = Workspace() if workspace is None else workspace
        self._world = paddle_arm.build() if world is None else world
        self._paced, self._seized_at, self._sleep, self._clock = paced, seized_at, sleep, clock
        self._started = clock()
        self._fault: Refusal | None = None
        self.reset()

    def reset(self) -> None:
        """Put the arm back home at rest, its clock and energy at zero, its faults forgotten."""
        self._motion = paddle_arm.at_rest(self.workspace.home, plane=self.workspace.x)
        self._fault, self._started = None, self._clock()

    def state(self) -> ArmState:
        """Return where the arm is."""
        motion = self._motion
        place, velocity = paddle_arm.paddle(motion)
        return ArmState(
            motion.time,
            tuple(motion.joints.tolist()),
            tuple(motion.joint_speeds.tolist()),
            tuple(place.tolist()),
            tuple(velocity.tolist()),
            motion.energy,
            motion.clock,
        )

    def move(self, point: Point, duration: float) -> Refusal | None:
        """Turn to a new target at once; see `paddle_arm.Arm`."""
        refusal = self._fault or refuse_target(point, duration, self.workspace)
        if refusal is None:
            goal = (float(point[1]), float(point[2]))
            self._motion = paddle_arm.retarget(self._motion, goal, duration=duration)
        return refusal

    def advance(self, seconds: float) -> Refusal | None:
        """Compute what happens in so many seconds; see `paddle_arm.Arm`."""
        return self.track(seconds)[1]

    def track(self, seconds: float) -> tuple[Track, Refusal | None]:
        """Let seconds pass; return every step, and why the arm has stopped."""
        before = self._motion
        free = seconds
        if self._seized_at is not None:
            free = min(max(self._seized_at - before.clock, 0.0), seconds)
        self._motion, track = paddle_arm.advance(self._world, before, free)
        if free < seconds:
            self._motion, held = _hold(self._motion, seconds - free)
            track = _join(track, held)
        if self._fault is None:
            self._fault = _astray(before, track)
            if self._fault is not None:
                self.stop()
        if self._paced:
            self._sleep(max(self._started + self._motion.clock - self._clock(), 0.0))
        return track, self._fault

    def stop(self) -> None:
        """Brake and stay."""
        self._motion = paddle_arm.halt(self._motion)

    def close(self) -> None:
        """Brake and stay: there is nothing to let go."""
        self.stop()


def _hold(motion: Motion, seconds: float) -> tuple[Motion, Track]:
    """Let time pass with the joints seized."""
    steps = round(seconds / paddle_arm.STEP)
    times = motion.time + paddle_arm.STEP * np.arange(1, steps + 1)
    end = replace(
        motion,
        time=motion.time + paddle_arm.STEP * steps,
        clock=motion.clock + seconds,
        joint_speeds=np.zeros(6),
    )
    place, _ = paddle_arm.paddle(end)
    nothing = np.zeros((steps, 6))
    joints, places = np.tile(end.joints, (steps, 1)), np.tile(place, (steps, 1))
    return end, Track(times, joints, nothing, places, nothing[:, :3], nothing)


def _join(first: Track, second: Track) -> Track:
    """Put one track behind another."""
    pairs = [(getattr(first, f.name), getattr(second, f.name)) for f in fields(Track)]
    return Track(*(np.concatenate(pair) for pair in pairs))


def _astray(motion: Motion, track: Track) -> Refusal | None:
    """Tell whether the paddle strayed from its plan."""
    wanted = paddle_motion.reference(motion.plan, track.times).position
    off = np.linalg.norm(track.paddle[:, 1:] - wanted, axis=-1)
    if not (off > BOUND).any():
        return None
    first = int(np.argmax(off > BOUND))
    found = f"the paddle {off[first]:.3f} m off its plan at {track.times[first]:.3f} s"
    return Refusal("arm does not follow", found, f"at most {BOUND} m; the arm is stopped")
