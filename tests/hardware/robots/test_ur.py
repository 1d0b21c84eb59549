"""The driver of the real arm against a controller that answers as ur_rtde does."""

import contextlib
import functools
import inspect
import math

import numpy as np
import pytest

from ricochet.hardware.robots import ur, ur_checks
from ricochet.hardware.robots.ur import UniversalRobot
from ricochet.models.arms import ur5
from ricochet.models.core.bad_input import BadInput
from tests.hardware.robots.rtde_fakes import Control, Controller, Receive


def connect(controller: Controller, *, arm: bool = True, base=ur5.BASE) -> UniversalRobot:
    return UniversalRobot(
        "192.0.2.1",
        arm=arm,
        base=base,
        control=functools.partial(Control, controller),
        receive=functools.partial(Receive, controller),
    )


def test_the_paddle_arrives_and_no_joint_is_sent_faster_than_its_limit():
    controller = Controller()
    robot = connect(controller)
    assert robot.move((0.3, 0.2, 0.3), 0.3) is None
    assert robot.advance(1.2) is None
    # Eight lags after the plan's end the first-order joints are within 0.4 mm of the goal.
    assert robot.state().paddle == pytest.approx((0.3, 0.2, 0.3), abs=1e-3)
    steps = np.abs(np.diff(controller.sent, axis=0)).max() * ur.FREQUENCY
    assert 1.0 < steps <= ur5.JOINT_SPEED
    assert 0.05 < robot.state().energy < 0.5


def test_the_watchdog_is_kicked_and_a_pause_of_the_driver_stops_the_robot():
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.2, 0.3), 0.5)
    assert robot.advance(0.3) is None
    controller.pass_time(0.15)  # longer than a tenth of a second without a kick
    assert "servoJ: found refused by the controller" in str(robot.advance(0.1))


def test_nothing_moves_unless_the_operator_has_armed_it():
    controller = Controller()
    robot = connect(controller, arm=False)
    for refusal in (robot.move((0.3, 0.1, 0.2), 0.5), robot.advance(0.1)):
        assert "not armed, expected arm=True" in str(refusal)
    assert controller.sent == [] and controller.calls == []


@pytest.mark.parametrize(
    ("point", "duration", "line"),
    [
        ((0.3, math.nan, 0.2), 0.5, "target: found (0.3, nan, 0.2), expected three finite"),
        ((0.3, 0.36, 0.2), 0.5, "target (y, z): found (0.3600, 0.2000) m, expected y in"),
        ((0.3, 0.0, 0.6), 0.5, "target (y, z): found"),
        ((0.31, 0.0, 0.2), 0.5, "target x: found 0.3100 m"),
        ((0.3, 0.0, 0.2), math.nan, "duration: found nan s"),
        ((0.3, 0.0, 0.2), 0.0, "duration: found 0.0 s"),
    ],
)
def test_a_bad_target_is_refused_in_one_line_and_nothing_is_sent(point, duration, line):
    controller = Controller()
    robot = connect(controller)
    refusal = str(robot.move(point, duration))
    assert line in refusal and "\n" not in refusal
    robot.advance(0.1)
    assert controller.sent == []


def test_the_controller_is_asked_about_the_paddle_s_pose_in_its_own_frame():
    controller = Controller(unsafe=lambda pose: pose[1] > 0.0)
    robot = connect(controller)
    assert "setTcp" in controller.calls
    assert robot.move((0.3, 0.05, 0.25), 0.5) is None
    assert controller.poses[-1][:3] == pytest.approx(np.array((0.3, 0.05, 0.25)) - ur5.BASE)
    turn = np.array(controller.poses[-1][3:])
    assert np.linalg.norm(turn) <= math.pi + 1e-9
    refusal = str(robot.move((0.3, 0.2, 0.25), 0.5))
    assert "expected a pose within the robot's safety limits" in refusal


def test_reported_joints_that_stand_still_while_others_are_sent_stop_the_robot():
    """Ten reports of one bit pattern, 0.08 s, while a joint is sent more than 0.02 rad far."""
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.3, 0.3), 0.5)
    assert robot.advance(0.1) is None
    controller.frozen, frozen_at = True, controller.time
    refusal = str(robot.advance(1.0))
    assert "reported joints: found the same in 10 reports while a joint was sent" in refusal
    assert controller.time - frozen_at < 0.1 and "servoStop" in controller.calls


def test_a_robot_that_stands_may_report_the_same_joints_for_long():
    controller = Controller()
    robot = connect(controller)
    assert robot.move((0.3, 0.0, 0.2), 0.5) is None
    assert robot.advance(3.0) is None


def test_speeds_that_are_not_finite_stop_the_robot():
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.1, 0.2), 0.5)
    robot.advance(0.1)
    controller.speeds, controller.paced = np.full(6, np.nan), False
    assert "joint speeds: found [nan" in str(robot.advance(0.1))


def test_a_robot_that_does_not_follow_is_stopped_and_says_so():
    controller = Controller(dither=1e-5)
    robot = connect(controller)
    robot.move((0.3, 0.3, 0.3), 0.5)
    assert robot.advance(0.1) is None
    controller.stuck = True
    refusal = str(robot.advance(1.0))
    assert "robot does not follow" in refusal and "the robot is stopped" in refusal
    assert controller.calls[-1] == "servoStop"
    sent = len(controller.sent)
    assert str(robot.move((0.3, 0.0, 0.3), 0.5)) == refusal and str(robot.advance(0.1)) == refusal
    assert len(controller.sent) == sent


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ({"protective": True}, "safety: found protective stop"),
        ({"emergency": True}, "safety: found emergency stop"),
        ({"connected": False}, "connection: found lost"),
        ({"mode": 5}, "mode: found robot mode 5, safety mode 1"),
        ({"joints": np.full(6, np.nan)}, "joints: found [nan"),
    ],
)
def test_a_stop_a_lost_line_or_a_sick_joint_ends_the_motion(fault, line):
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.3, 0.3), 0.5)
    robot.advance(0.1)
    sent = len(controller.sent)
    for name, value in fault.items():
        setattr(controller, name, value)
    assert line in str(robot.advance(0.5))
    assert len(controller.sent) == sent


@pytest.mark.parametrize(
    "call", ["servoJ", "initPeriod", "waitPeriod", "kickWatchdog", "getActualQ", "isConnected"]
)
@pytest.mark.parametrize(
    "error", [RuntimeError("RTDE control script\nis not running!"), ValueError()]
)
def test_whatever_is_raised_while_it_moves_stops_the_robot_for_good(call, error):
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.3, 0.3), 0.5)
    assert robot.advance(0.1) is None
    controller.raises[call] = error
    refusal = str(robot.advance(0.5))
    said = "RTDE control script is not running!" if str(error) else "ValueError"
    assert refusal == f"ur_rtde: found {said}, expected an answer; the robot is stopped"
    assert controller.calls[-1] == "servoStop"
    controller.raises.clear()
    sent = len(controller.sent)
    assert str(robot.move((0.3, 0.0, 0.3), 0.5)) == refusal and str(robot.advance(0.1)) == refusal
    assert len(controller.sent) == sent


def test_what_is_raised_when_a_target_is_asked_about_stops_a_robot_that_moves():
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.3, 0.3), 0.5)
    assert robot.advance(0.1) is None
    lost = RuntimeError("isPoseWithinSafetyLimits() function is not available")
    controller.raises = {"isPoseWithinSafetyLimits": lost, "servoStop": RuntimeError("lost")}
    refusal = str(robot.move((0.3, 0.0, 0.3), 0.5))
    assert f"ur_rtde: found {lost}" in refusal
    sent, kicked = len(controller.sent), controller.kicked
    assert str(robot.advance(0.5)) == refusal
    assert len(controller.sent) == sent and controller.kicked == kicked  # the watchdog ends it


def test_a_base_that_stands_elsewhere_moves_every_target_with_it():
    """The same place in the table's frame: 3 cm nearer to the base that stands 3 cm nearer."""
    shift = np.array((-0.03, 0.02, 0.01))
    base = tuple((np.array(ur5.BASE) + shift).tolist())
    start = ur5.inverse(np.array((0.3, 0.0, 0.2)) - shift)
    controller = Controller(joints=start)
    robot = connect(controller, base=base)
    assert robot.state().paddle == pytest.approx((0.3, 0.0, 0.2))
    assert robot.move((0.3, 0.1, 0.25), 0.4) is None and robot.advance(1.2) is None
    assert robot.state().paddle == pytest.approx((0.3, 0.1, 0.25), abs=1e-3)
    expected = ur5.inverse(np.array((0.3, 0.1, 0.25)) - shift)
    np.testing.assert_allclose(controller.sent[-1], expected, atol=1e-9)
    assert controller.poses[-1][:3] == pytest.approx(np.array((0.3, 0.1, 0.25)) - base)
    with pytest.raises(BadInput, match=r"base: found .* expected one with the workspace in easy"):
        connect(Controller(), base=(1.3, 0.1, 0.26))


def test_periods_that_come_late_are_made_up_for_but_a_long_one_makes_no_jump():
    on_time, late = Controller(), Controller()
    for controller, pause in ((on_time, 0.0), (late, 0.004)):
        robot = connect(controller)
        robot.move((0.3, 0.2, 0.3), 0.4)
        while robot.state().time < 0.5:
            assert robot.advance(1.0 / ur.FREQUENCY) is None
            controller.pass_time(pause or 1e-9)
    assert len(late.sent) < 0.75 * len(on_time.sent)  # 12 ms a period, not 8
    np.testing.assert_allclose(late.sent[-1], on_time.sent[-1], atol=1e-9)
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.3, 0.3), 0.4)
    robot.advance(0.15)
    controller.pass_time(0.09)
    assert robot.advance(0.016) is None
    jump = np.abs(np.diff(controller.sent[-3:], axis=0)).max()
    assert jump <= ur5.JOINT_SPEED * ur.LATEST / ur.FREQUENCY


def test_a_robot_elsewhere_or_out_of_reach_is_refused_at_the_start():
    with pytest.raises(BadInput, match=r"start: found paddle at .* bring it there by hand"):
        connect(Controller(joints=np.zeros(6)))
    with pytest.raises(BadInput, match="Failed to connect to receive socket"):
        connect(Controller(connected=False))


def test_without_ur_rtde_the_line_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rtde_receive", None)
    with pytest.raises(BadInput, match="extra `robot`"):
        UniversalRobot("192.0.2.1")


def test_stopping_and_starting_again_continues_from_where_the_robot_is():
    controller = Controller()
    robot = connect(controller)
    robot.move((0.3, 0.3, 0.3), 0.5)
    robot.advance(0.25)
    robot.stop()
    assert robot.advance(0.2) is None
    sent = len(controller.sent)
    assert robot.move((0.3, 0.0, 0.2), 0.5) is None and robot.advance(1.2) is None
    steps = np.abs(np.diff(controller.sent[sent:], axis=0)).max() * ur.FREQUENCY
    assert steps <= ur5.JOINT_SPEED
    assert robot.state().paddle == pytest.approx((0.3, 0.0, 0.2), abs=1e-3)
    robot.close()
    robot.close()
    assert "stopScript" in controller.calls


def test_a_stop_that_the_controller_refuses_is_no_stop():
    controller = Controller(obeys=False)
    robot = connect(controller)
    assert robot.move((0.3, 0.1, 0.2), 0.5) is None and robot.advance(0.1) is None
    with pytest.raises(RuntimeError, match="servoStop is refused"):
        robot.stop()


@pytest.mark.parametrize("moved", [False, True])
def test_a_robot_that_moves_though_it_rests_is_stopped_and_says_so(moved):
    """It went two radians far, unnoticed."""
    controller = Controller()
    robot = connect(controller)
    if moved:
        assert robot.move((0.3, 0.1, 0.2), 0.5) is None and robot.advance(0.6) is None
        robot.stop()
    assert robot.advance(3.0) is None  # it may brake, and rest for long
    controller.drift = 0.5
    refusal = str(robot.advance(1.0))
    assert "robot moves unasked: found a joint 0.05" in refusal and "is stopped" not in refusal
    assert controller.calls[-1] == "servoStop" and str(robot.move((0.3, 0, 0.2), 1.0)) == refusal
    with pytest.raises(RuntimeError, match="moves though it was stopped"):
        robot.stop()  # its owner stops it beside the driver then


def test_a_robot_that_coasts_on_when_it_is_stopped_is_found_before_it_should_rest():
    controller = Controller()
    robot = connect(controller)
    assert robot.move((0.3, 0.1, 0.2), 0.5) is None and robot.advance(0.2) is None
    controller.drift = 2.0
    robot.stop()
    begun = controller.time
    assert "robot moves unasked" in str(robot.advance(2.0))
    assert controller.time - begun < ur_checks.SETTLING


def test_stops_again_and_again_hide_no_robot_that_creeps():
    controller = Controller()
    robot = connect(controller)
    controller.drift = 0.3
    found = None
    for _ in range(9):
        found = found or robot.advance(0.9)
        with contextlib.suppress(RuntimeError):
            robot.stop()
    assert "robot moves unasked" in str(found)


def test_a_robot_that_cannot_be_stopped_is_released_all_the_same():
    controller = Controller(raises={"servoStop": RuntimeError("connection reset")})
    connect(controller).close()
    assert controller.calls[-3:] == ["stopScript", "disconnect", "receive disconnect"]


def test_the_fakes_have_no_call_that_ur_rtde_lacks():
    control = pytest.importorskip("rtde_control").RTDEControlInterface
    receive = pytest.importorskip("rtde_receive").RTDEReceiveInterface
    for fake, real in ((Control, control), (Receive, receive)):
        names = [n for n, _ in inspect.getmembers(fake, inspect.isfunction) if n[0] != "_"]
        assert [name for name in names if not hasattr(real, name)] == []
