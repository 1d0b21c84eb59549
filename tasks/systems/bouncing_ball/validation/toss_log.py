"""What a toss leaves behind: telemetry of the arm, and a strip of pictures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ricochet.hardware.microphones.interface import Rig
from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss
from ricochet.tasks.figures import style
from ricochet.tasks.storage.files import write_bytes
from ricochet.tasks.storage.telemetry import NUMBER, TEXT, Channels, Telemetry, numbers
from ricochet.tasks.systems.bouncing_ball.figures import toss_strips
from ricochet.tasks.systems.bouncing_ball.figures.toss_strips import Frame
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Decision, Run

FRAMES = 6
"""Pictures of a strip."""

CHANNELS: Channels = {
    "arm": {
        "joints": numbers(6),
        "joint_speeds": numbers(6),
        "paddle": numbers(3),
        "paddle_velocity": numbers(3),
    },
    "target": {"y": NUMBER, "z": {"type": ["number", "null"]}, "duration": NUMBER, "reason": TEXT},
    "refusal": {"reason": TEXT},
    "bounce": {"contact_time": NUMBER, "position": {"type": ["array", "null"], "items": NUMBER}},
    "toss": {"seed": {"type": "integer"}, "outcome": TEXT},
}
"""Messages of an arm that meets a ball; SI units, angles in radians."""

Row = tuple[float, str, dict[str, object]]
"""Time, s, channel and content of a message."""


def record(
    log: Telemetry, start: float, seed: int, run: Run, states: Sequence[ArmState], kind: str
) -> None:
    """Write a toss that began at a time of the log, s, its messages in the order of time."""
    rows: list[Row] = [_arm(state) for state in states]
    rows += [row for decision in run.decisions for row in _decision(decision)]
    rows += [(run.final.time, "refusal", {"reason": line}) for line in run.refused]
    rows.append((run.final.time, "toss", {"seed": seed, "outcome": kind}))
    for when, channel, content in sorted(rows, key=lambda row: row[0]):
        log.write(channel, time=start + when, **content)


def draw(path: Path, title: str, toss: Toss, states: Sequence[ArmState], rig: Rig) -> None:
    """Draw a toss from its first bounce to its end, if there is anything to draw."""
    if not len(toss.times) or not states:
        return
    times = np.linspace(toss.times[0], states[-1].time, FRAMES)
    clock = np.array([state.time for state in states])
    frames = [
        Frame(
            float(when),
            np.array(states[int(np.abs(clock - when).argmin())].joints),
            ball_at(toss, float(when)),
        )
        for when in times
    ]
    places = [each.position for each in rig.microphones][: len(toss_strips.MICROPHONES)]
    drawn = toss_strips.strip(frames, title=title, ball_radius=toss.ball.radius, microphones=places)
    write_bytes(path, style.to_png(drawn))


def _arm(state: ArmState) -> Row:
    return state.time, "arm", {name: list(getattr(state, name)) for name in CHANNELS["arm"]}


def _decision(decision: Decision) -> Iterator[Row]:
    event, target = decision.observed.event, decision.target
    place = None if event.position is None else event.position.tolist()
    yield decision.observed.time, "bounce", {"contact_time": event.time, "position": place}
    if target is not None:
        yield target.issued, "target", {name: getattr(target, name) for name in CHANNELS["target"]}


def ball_at(toss: Toss, when: float) -> tuple[float, float, float]:
    """Return the ball's centre, a radius above the point that its flight describes."""
    last = max(int(np.searchsorted(toss.times, when, side="right")) - 1, 0)
    since = when - toss.times[last]
    x, y, z = toss.positions[last] + toss.velocities[last] * since
    return float(x), float(y), float(z - 0.5 * GRAVITY * since**2 + toss.ball.radius)
