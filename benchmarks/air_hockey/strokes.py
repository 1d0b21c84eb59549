"""Strokes of the arm: how fast, how exact, and what a step costs.

    python -m benchmarks.air_hockey.strokes

Eq. 13 in closed form and scipy's linear programme on the same postures. Then the largest mallet
speed at the challenge's facts' places with 0.95 of the speed limits: the posture that Newton's
method finds from home, which stays in a plane, and the best of the null space. Then
strokes at a drifting puck in closed loop over a small table, kinematically: airflow 0.1 m/s^2, the
contact estimated with 1 mm of white error every step; and the time of a step: contact and plan.
"""

import argparse
import time

import numpy as np
from scipy.optimize import linprog

from ricochet.models.arms import iiwa, splines, tip_speed
from ricochet.models.systems.air_hockey.arm import contact_postures, sampling_mpc, stroke_table
from ricochet.models.systems.air_hockey.arm.sampling_mpc import Memory
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import fastest_tip

LIMITS = iiwa.USABLE * iiwa.SPEED_LIMIT
RADIUS = Table().contact_radius
PLACES = (0.80, 0.95, 1.10, 1.25)
FACTS = {0: ((1.10, 1.01, 0.88, 0.67), (1.73, 1.65, 1.44, 1.08)),
         60: ((2.19, 2.02, 1.75, 1.33), (3.6, 3.3, 2.9, 2.15))}  # fmt: skip
ENDS = ((0.75, 1.25), (-0.3, 0.3), (-0.9, 0.9))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strokes", type=int, default=40, help="strokes in closed loop")
    count = parser.parse_args().strokes
    _print_programme()
    _print_speeds()
    _print_loop(count)


def _print_programme() -> None:
    draw = np.random.default_rng(0)
    jacobians = iiwa.pose(draw.uniform(-1.5, 1.5, (500, 7))).jacobian
    directions = stroke_table.direction(draw.uniform(-1.4, 1.4, 500))
    start = time.process_time()
    ours = fastest_tip.fastest(jacobians, directions, limits=LIMITS).speed
    fast = time.process_time() - start
    start = time.process_time()
    theirs = [_programme(*each) for each in zip(jacobians[:100], directions[:100], strict=True)]
    slow = time.process_time() - start
    error = np.abs(ours[:100] - theirs).max()
    print(f"Eq. 13: closed form {fast / 500 * 1e6:.0f} us, scipy linprog {slow / 100 * 1e6:.0f} us")
    print(f"        largest difference {error:.1e} m/s\n")


def _programme(jacobian: np.ndarray, direction: np.ndarray) -> float:
    across = np.array(((-direction[1], direction[0], 0.0), (0.0, 0.0, 1.0)))
    bounds = [(-limit, limit) for limit in LIMITS]
    solved = linprog(-direction @ jacobian, A_eq=across @ jacobian, b_eq=(0, 0), bounds=bounds)
    return -solved.fun


def _print_speeds() -> None:
    print("largest mallet speed, m/s, at y = 0 (facts in brackets; theirs with the rod down)")
    smooth = f"smooth, p = {contact_postures.POWER:.0f}"
    print(f"{'angle':>6} {'x':>5} {'planar':>14} {'best':>14} {smooth:>14} {'table':>8}")
    for angle, (nominal, best) in FACTS.items():
        for x, low, high in zip(PLACES, nominal, best, strict=True):
            print(f"{angle:6d} {x:5.2f} " + _row(x, np.radians(angle), low, high))


def _row(x: float, angle: float, low: float, high: float) -> str:
    point, along = np.array((x, 0.0, iiwa.TIP_HEIGHT)), stroke_table.direction(np.array(angle))
    planar = iiwa.HOME
    for _ in range(20):
        pose = iiwa.pose(planar)
        planar = planar + np.linalg.pinv(pose.jacobian) @ (point - pose.tip)
    starts = iiwa.HOME + np.random.default_rng(0).normal(0.0, 0.5, (40, 7)) * (np.arange(7) < 6)
    found = np.stack(
        [
            contact_postures.climb(
                point[None], along[None], limits=Limits(), start=start, steps=150
            )[0]
            for start in starts[:6]
        ]
    )
    speeds = fastest_tip.fastest(iiwa.pose(found).jacobian, along + 0 * found[:, :3], limits=LIMITS)
    smooth = tip_speed.smooth(
        iiwa.pose(found).jacobian,
        along + 0 * found[:, :3],
        limits=LIMITS,
        power=contact_postures.POWER,
    )
    plain = fastest_tip.fastest(iiwa.pose(planar).jacobian, along, limits=LIMITS).speed
    best = int(smooth.speed.argmax())
    return (
        f"{plain:6.2f} ({low:.2f}) {speeds.speed.max():7.2f} ({high:.2f}) "
        f"{smooth.speed[best]:13.2f} {iiwa.USABLE * smooth.speed[best]:8.2f}"
    )


def _print_loop(count: int) -> None:
    start = time.process_time()
    table = stroke_table.build(counts=(5, 5, 7), ends=ENDS, draw=np.random.default_rng(0))
    print(f"\ntable of {table.speeds.size} strokes: {time.process_time() - start:.0f} s")
    results = [_stroke(table, seed) for seed in range(count)]
    names = ("place, mm", "direction, deg", "speed, m/s", "joint speed", "z, mm", "touch, mm")
    for name, values in zip(names, zip(*(r[0] for r in results), strict=True), strict=True):
        print(f"{name:>16}: median {np.median(values):9.2e}, largest {np.max(values):9.2e}")
    for k, name in ((1, "contact"), (2, "plan")):
        times = 1e3 * np.concatenate([r[k] for r in results])
        print(
            f"{name:>16}: median {np.median(times):.2f} ms, p99 {np.quantile(times, 0.99):.2f} ms"
        )


def _stroke(table: Strokes, seed: int) -> tuple[tuple[float, ...], list[float], list[float]]:
    """Play one stroke; return its errors and use, and the processor times of its steps."""
    draw = np.random.default_rng(seed)
    low, high = np.array(ENDS).T * 0.9 + 0.05 * np.array(ENDS).sum(1)
    *place, angle = draw.uniform(low, high)
    hit = int(np.ceil(table.duration(np.array(place), np.array(angle)) / PERIOD))
    way = draw.uniform(-np.pi, np.pi)
    drift = 0.05 * (hit * PERIOD) ** 2 * np.array((np.cos(way), np.sin(way)))
    commands, memory = [(splines.level(iiwa.HOME), np.zeros(7))], Memory()
    contact, seeing, planning = None, [], []
    for step in range(hit + 9):
        start = time.thread_time()
        if step < hit:
            seen = np.clip(place + drift + 1e-3 * draw.standard_normal(2), low[:2], high[:2])
            contact = table.contact(seen, angle)
        middle = time.thread_time()
        memory, plan = sampling_mpc.plan(
            memory,
            joints=commands[-1][0],
            joint_speeds=commands[-1][1],
            target=contact,
            time_left=(hit - step) * PERIOD,
            draw=draw,
        )
        commands.append(plan.at(PERIOD))
        seeing.append(middle - start)
        planning.append(time.thread_time() - middle)
    return _judge(commands, memory.plan.contact, hit), seeing, planning


def _judge(commands: list, contact: stroke_table.Contact, hit: int) -> tuple[float, ...]:
    joints, speeds = (np.stack(values) for values in zip(*commands, strict=True))
    here, met = iiwa.pose(joints[hit]), iiwa.pose(contact.joints)
    velocity, wanted = here.jacobian @ speeds[hit], met.jacobian @ contact.joint_speeds
    turn = np.arctan2(velocity[1], velocity[0]) - np.arctan2(wanted[1], wanted[0])
    tip = iiwa.tip(joints)
    puck = met.tip + RADIUS * wanted / contact.speed
    return (
        1e3 * float(np.linalg.norm(here.tip - met.tip)),
        abs(float(np.degrees(turn))),
        abs(float(np.linalg.norm(velocity)) - contact.speed),
        float((np.abs(speeds) / iiwa.SPEED_LIMIT).max()),
        1e3 * float(np.abs(tip[:, 2] - iiwa.TIP_HEIGHT).max()),
        1e3 * float(max(RADIUS - np.linalg.norm(tip[:hit] - puck, axis=-1).min(), 0.0)),
    )


if __name__ == "__main__":
    main()
