"""What a toss of the simulated arm costs, and how far it keeps to its limits.

`python -m benchmarks.bouncing_ball.paddle_arm`: processor time of 1.6 s of motion with five
targets, of one target, of one inverse; how far the paddle lags its plan; and over many targets that
change at any time, the largest joint speed and acceleration, and how far the way leads out of the
workspace.
"""

import time

import numpy as np

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import paddle_arm, paddle_motion

PLANE = 0.30
TOSSES, CHAINS = 100, 600


def goal(draw: np.random.Generator) -> tuple[float, float]:
    """Return a place in the workspace."""
    return draw.uniform(-0.35, 0.35), draw.uniform(0.03, 0.5)


def toss(arm: paddle_arm.Arm, draw: np.random.Generator) -> float:
    """Move through five targets in 1.6 s and return the largest lag, m."""
    motion, lag = paddle_arm.at_rest((0.0, 0.2), plane=PLANE), 0.0
    for _ in range(5):
        motion = paddle_arm.retarget(motion, goal(draw), duration=draw.uniform(0.15, 0.5))
        motion, track = paddle_arm.advance(arm, motion, 0.32)
        wanted = paddle_motion.reference(motion.plan, track.times).position
        lag = max(lag, float(np.abs(track.paddle[:, 1:] - wanted).max()))
    return lag


def chains(draw: np.random.Generator) -> tuple[float, float, float, float]:
    """Return the largest joint speed, acceleration, way out of the workspace, and ms a target."""
    speed = hard = out = spent = 0.0
    for _ in range(CHAINS):
        plan, now = paddle_motion.rest((0.0, 0.2), plane=PLANE), 0.0
        for _ in range(5):
            before = time.process_time()
            duration = draw.uniform(0.02, 0.6)
            plan = paddle_motion.replan(plan, goal(draw), now=now, duration=duration)
            spent += time.process_time() - before
            times = np.arange(now, now + draw.uniform(0.02, 0.4), 1e-3)
            _, speeds = paddle_motion.joint_reference(plan, times)
            y, z = paddle_motion.reference(plan, times).position.T
            speed = max(speed, float(np.abs(speeds).max()))
            hard = max(hard, 1e3 * float(np.abs(np.diff(speeds, axis=0)).max()))
            out = max(out, float(np.max((np.abs(y) - 0.35, 0.03 - z, z - 0.5))))
            now = float(times[-1])
    return speed, hard, out, 1e3 * spent / (5 * CHAINS)


def main() -> None:
    """Print the table."""
    draw, arm = np.random.default_rng(1), paddle_arm.build()
    toss(arm, draw)
    before = time.process_time()
    lag = max(toss(arm, draw) for _ in range(TOSSES))
    print(f"1.6 s of motion        {1e3 * (time.process_time() - before) / TOSSES:8.1f} ms")
    point = np.array((PLANE, 0.1, 0.2))
    before = time.process_time()
    for _ in range(1000):
        ur5.inverse(point)
    print(f"one inverse            {1e3 * (time.process_time() - before):8.1f} us")
    print(f"largest lag            {1e3 * lag:8.2f} mm")
    speed, hard, out, spent = chains(draw)
    print(f"one new target         {spent:8.1f} ms")
    print(f"largest joint speed    {speed:8.2f} rad/s of {ur5.JOINT_SPEED:.2f}")
    print(f"largest acceleration   {hard:8.1f} rad/s^2 of {paddle_motion.ACCELERATION}")
    print(f"farthest out           {1e3 * out:8.0f} mm")


if __name__ == "__main__":
    main()
