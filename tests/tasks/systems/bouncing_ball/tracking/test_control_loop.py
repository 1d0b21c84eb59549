"""Detection, controller and arm joined: what moves, what is refused, what stops."""

from dataclasses import dataclass

import numpy as np
import pytest

from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.stream import PlayedSound
from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.tracking.workspace import MotionTarget, Workspace
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop, laboratory
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import (
    DECISION,
    Controller,
    TimedEvent,
)


@dataclass(frozen=True)
class Scripted:
    """State of a controller that follows a script, one target an event."""

    targets: tuple[MotionTarget | None, ...]
    refused: tuple[str, ...] = ()


def follow(state, event, *, now, paddle):
    return Scripted(state.targets[1:], state.refused), state.targets[0]


def observed(time):
    return TimedEvent(time, BounceEvent(time - 0.01, time - 0.009, None, None, True, 20.0), 1e-3)


def target(y, z, *, issued=0.2, duration=0.6):
    return MotionTarget(issued, y, z, duration, "script")


def run(targets, times=(0.2,), until=1.0, arm=None, **words):
    controller = Controller(Scripted(tuple(targets)), follow)
    events = [observed(time) for time in times]
    arm = arm or SimulatedArm()
    return control_loop.run_control_loop(controller, events, arm, until=until, **words)


def test_the_arm_is_where_the_controller_wants_it_when_it_wants_it():
    done = run([target(0.1, 0.3)], until=0.2 + 0.6)
    assert done.final.paddle == pytest.approx((0.3, 0.1, 0.3), abs=1e-3)
    assert done.final.time == pytest.approx(0.8)
    assert done.refused == () and done.final.energy > 0.0


def test_a_target_without_a_height_keeps_the_present_one():
    height = Workspace().home[1]
    assert run([target(0.1, None)]).final.paddle[2] == pytest.approx(height, abs=1e-3)


def test_a_target_outside_the_workspace_moves_nothing_and_is_said():
    done = run([target(0.5, 0.2)])
    assert done.final.energy < 1e-9
    assert len(done.refused) == 1 and "expected y in" in done.refused[0]
    assert done.decisions[0].refusal == done.refused[0]


def test_a_later_target_replaces_an_earlier_one():
    done = run([target(0.2, 0.3), target(-0.1, 0.2, issued=0.4, duration=0.6)], (0.2, 0.4))
    assert done.final.paddle == pytest.approx((0.3, -0.1, 0.2), abs=2e-3)


def test_events_after_the_end_are_ignored():
    done = run([target(0.1, 0.3), target(-0.3, 0.3)], (0.2, 1.0 - DECISION / 2))
    assert len(done.decisions) == 1


def test_a_simulated_arm_waits_for_the_decision_and_a_real_one_no_longer_than_it_takes():
    asked = []

    def ask(state, event, *, now, paddle):
        asked.append(now)
        return state, None

    simulated, real = SimulatedArm(), SimulatedArm()
    real.exclusive = True
    for arm in (simulated, real):
        control_loop.run_control_loop(Controller(Scripted(()), ask), [observed(0.2)], arm)
    assert asked == pytest.approx([0.2 + DECISION, 0.2])


def test_an_arm_that_does_not_follow_ends_the_run_with_its_reason():
    done = run([target(0.3, 0.4)], arm=SimulatedArm(seized_at=0.3))
    assert len(done.refused) == 1 and "does not follow" in done.refused[0]
    assert np.hypot(done.final.paddle[1] - 0.3, done.final.paddle[2] - 0.4) > 0.1


@pytest.mark.parametrize("error", [ValueError("no such ball"), KeyboardInterrupt()])
def test_a_controller_that_raises_stops_the_arm(error):
    def breaks(state, event, *, now, paddle):
        if len(state.targets) == 1:
            raise error
        return follow(state, event, now=now, paddle=paddle)

    arm, controller = SimulatedArm(), Controller(Scripted((target(0.3, 0.4),) * 2), breaks)
    with pytest.raises(type(error)):
        control_loop.run_control_loop(controller, [observed(0.2), observed(0.4)], arm, until=1.0)
    arm.advance(0.3)
    assert np.hypot(*arm.state().paddle_velocity[1:]) < 1e-3
    assert arm.state().paddle[2] < 0.35


def test_a_record_that_raises_stops_the_arm():
    class Watched(SimulatedArm):
        stops = 0

        def stop(self):
            self.stops += 1

    def record(state):
        raise OSError("disk full")

    arm = Watched()
    with pytest.raises(OSError, match="disk full"):
        run([target(0.3, 0.4)], arm=arm, record=record)
    assert arm.stops == 1


def test_latency_counts_from_the_sound_to_the_target():
    (decision,) = run([target(0.1, 0.3)]).decisions
    assert 0.009 + 1e-3 <= decision.latency < 0.1


def test_recording_changes_nothing_and_holds_every_step():
    seen = []
    one, other = run([target(0.1, 0.3)], record=seen.append), run([target(0.1, 0.3)])
    np.testing.assert_allclose(one.final.paddle, other.final.paddle, atol=1e-6)
    clock = [state.time for state in seen]
    assert clock == sorted(clock) and clock[-1] == pytest.approx(1.0)
    assert max(np.diff(clock)) < 0.0201


def _tossed(stops_at=None):
    loaded = catalogue.load_settings()
    twin = laboratory.open_laboratory(loaded, ball=BALLS["ping-pong"], seed=3)
    played = twin.toss()
    if stops_at is not None:
        samples = np.concatenate([buffer.samples for buffer in played.buffers()], axis=1)
        played = PlayedSound(default_rig("twin"), samples, stops_at=stops_at)
    return played, twin.truth_for_evaluation().toss


def test_every_bounce_of_a_toss_is_detected_soon():
    played, toss = _tossed()
    events = list(control_loop.listen(played))
    assert len(events) >= len(toss.times)
    for time in toss.times:
        nearest = min(events, key=lambda each: abs(each.event.arrival - time))
        assert 0.0 < nearest.event.arrival - time < 0.004  # the way to the nearest microphone
        assert 0.006 < nearest.time - nearest.event.arrival < 0.0185  # 6 ms and a buffer


def test_microphones_that_stop_stop_the_arm_and_are_said():
    played, _ = _tossed(stops_at=0.6)
    controller = Controller(Scripted((target(0.3, 0.4, duration=3.0),) * 9), follow)
    events = control_loop.listen(played)
    done = control_loop.run_control_loop(controller, events, SimulatedArm(), until=3.0)
    assert done.refused[-1].startswith("twin: found no sound for")
    assert done.final.time < 1.0
