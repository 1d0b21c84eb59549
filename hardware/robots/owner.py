"""The process that owns an arm: one thread calls the driver, another watches both of them.

    client --beats, commands--> watching thread --commands--> driving thread --calls--> driver
                                     |  a call that hangs: the way of stopping beside the driver

The driving thread executes commands between two periods, checks every report, and stops the arm
for good on the first fault. The watching thread never calls the driver. It voids commands, has the
arm stopped when the client is silent or gone, and when a call of the driver does not return in
time, it stops the arm by `emergency_stop` and ends this process, so that the call never goes on; if
it returns meanwhile, nothing else is executed.
A command is executed before its deadline or not at all: one that a slow driver accepted too late is
stopped before anything is sent.
"""

import contextlib
import importlib
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from ricochet.hardware.robots import messages
from ricochet.hardware.robots.messages import Channel, Close, Done, Fault, Move, Pulse, Start, Stop
from ricochet.hardware.robots.paddle_arm import Arm, Refusal
from ricochet.hardware.robots.reports import ReportWatch
from ricochet.models.core.bad_input import BadInput

TICK = 0.005  # s, between looks of the watching thread
PRIORITY = -10  # nice: ahead of what computes
PULSE = 0.02  # s, between signs of life
UNSTOPPED = "; it could not be stopped beside its driver: PRESS THE EMERGENCY STOP"
END = 3  # exit status after a driver that hung

Result = TypeVar("Result")


class Ownership:
    """What both threads know of one arm."""

    def __init__(self, channel: Channel, start: Start) -> None:
        """Prepare to own the arm of a driver; nothing is called yet."""
        self.channel, self.start, self.limits = channel, start, start.limits
        self.module = importlib.import_module(start.driver.module)
        self.commands: queue.SimpleQueue[Move | Stop] = queue.SimpleQueue()
        self.void = 0  # commands with a lower number are void
        self.demand: Refusal | None = None  # why the watching thread wants the arm stopped
        self.opened, self.closing = threading.Event(), threading.Event()
        self.finished, self.lost = threading.Event(), False
        self._call: tuple[str, float] | None = None  # of the driver: its name and its limit

    def call(self, name: str, act: Callable[[], Result], *, limit: float) -> Result:
        """Call the driver within a time, s, known to the watching thread."""
        self._call = (name, time.monotonic() + limit)
        try:
            return act()
        finally:
            self._call = None

    def hung(self) -> str | None:
        """Return the name of the call that should have returned."""
        call = self._call
        return call[0] if call is not None and time.monotonic() > call[1] else None

    def send(self, message: messages.Message, *, droppable: bool = False) -> None:
        """Send to the client; if he is gone, the watching thread finds that out."""
        with contextlib.suppress(OSError):
            self.channel.send(message, droppable=droppable)


class StopBeside:
    """A stop on the way that does not go through the driver; under way once it is made."""

    def __init__(self, module: Any, start: Start) -> None:
        """Begin to stop the arm of a driver's module."""
        self._done, self._end = False, time.monotonic() + start.limits.stopping
        call = lambda: module.emergency_stop(start.driver.settings)  # noqa: E731
        self._thread = threading.Thread(
            target=self._act, args=(call,), name="emergency stop", daemon=True
        )
        self._thread.start()

    def over(self) -> bool:
        """Return whether it has ended, or had as long as it may take."""
        return not self._thread.is_alive() or time.monotonic() > self._end

    def wait(self) -> None:
        """Wait until it is over."""
        self._thread.join(max(self._end - time.monotonic(), 0.0))

    def added_to(self, fault: Refusal) -> Refusal:
        """Return a fault with what became of the arm; call it when the stop is over."""
        return stopped(fault) if self._done else replace(fault, expected=fault.expected + UNSTOPPED)

    def _act(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(Exception):
            call()
            self._done = True


def own(channel: Channel, start: Start, *, end: Callable[[int], Any] = os._exit) -> None:
    """Own an arm until the client closes it, dies, or the driver hangs.

    Args:
        end: Ends this process at once.
    """
    owned = Ownership(channel, start)
    driving = threading.Thread(target=_drive, args=(owned,), name="driver", daemon=True)
    driving.start()
    try:
        _watch(owned)
    except Exception:  # unwatched, nothing may go on
        StopBeside(owned.module, start).wait()
        end(END)
        return
    if owned.finished.is_set():
        driving.join()
    else:
        end(END)


def _watch(owned: Ownership) -> None:
    """Watch the client and the driver until the arm is closed, or stopped beside its driver."""
    heard, pulse, escape = time.monotonic(), 0.0, None
    while escape is not None or not owned.finished.is_set():
        received = _receive(owned)
        for message in received:
            _take(owned, message)
        now = time.monotonic()
        heard = now if received or not owned.opened.is_set() else heard
        if now - heard > owned.limits.silence:
            found, expected = f"silent for {now - heard:.3f} s", f"{owned.limits.silence} s at most"
            _demand(owned, Refusal("client", found, expected))
        if escape is None and (name := owned.hung()) is not None:
            fault = Refusal("driver", f"no return from {name}", "one in time")
            _demand(owned, fault)
            escape = StopBeside(owned.module, owned.start)
        if escape is not None and escape.over():
            owned.send(Fault(escape.added_to(fault)))
            return
        if now - pulse > PULSE:
            owned.send(Pulse(), droppable=True)
            pulse = now


def _receive(owned: Ownership) -> list[Any]:
    """Return what the client said within a moment; have the arm closed when he is gone."""
    if owned.lost:
        time.sleep(TICK)
        return []
    try:
        return owned.channel.receive(TICK)
    except (EOFError, OSError, ValueError) as error:
        owned.lost = True
        _demand(owned, Refusal("client", str(error), "one that lives"))
        owned.closing.set()
        return []


def _take(owned: Ownership, message: Any) -> None:
    """Pass a command on to the driving thread; what is void is so at once."""
    if isinstance(message, Stop):
        owned.void = max(owned.void, message.number)
    if isinstance(message, Move | Stop):
        owned.commands.put(message)
    elif isinstance(message, Close):
        owned.closing.set()


def _demand(owned: Ownership, fault: Refusal) -> None:
    """Have the arm stopped for good; the first reason counts."""
    owned.demand = owned.demand or fault


def _drive(owned: Ownership) -> None:
    """Open the arm, steer it, stop it and let it go."""
    limits, settings = owned.limits, owned.start.driver.settings
    try:
        arm = owned.call("open", lambda: owned.module.open_arm(settings), limit=limits.opening)
        try:
            _steer(owned, arm)
        except Exception as error:
            _fail(owned, arm, _raised(error))
        with contextlib.suppress(Exception):
            owned.call("close", arm.close, limit=limits.closing)
        owned.send(messages.Closed())
    except Exception as error:
        owned.send(_refused(error))
    finally:
        owned.finished.set()


def _steer(owned: Ownership, arm: Arm) -> None:
    """Steer the arm period by period until it is to be closed."""
    watch, period = ReportWatch(), owned.limits.period
    state = owned.call("state", arm.state, limit=owned.limits.hang)
    fault = watch.check(time.monotonic(), state)
    if fault is None:
        owned.send(messages.Ready(state))
    else:
        owned.send(messages.Refused(fault.what, fault.found, fault.expected))
    owned.opened.set()
    while not owned.closing.is_set() and fault is None:
        fault = owned.demand or _obey(owned, arm) or _advance(owned, arm, period, watch)
    if fault is None:  # letting go may take seconds, so a stop that hangs is found before it
        owned.call("stop", arm.stop, limit=owned.limits.hang)
        return
    _fail(owned, arm, fault)
    while not owned.closing.wait(period):
        while not owned.commands.empty():
            owned.send(Done(owned.commands.get().number, stopped(fault)))


def _advance(owned: Ownership, arm: Arm, period: float, watch: ReportWatch) -> Refusal | None:
    """Steer for one period; return what is wrong with the arm or its report."""
    limit = period + owned.limits.hang
    fault = owned.call("advance", lambda: arm.advance(period), limit=limit)
    state = owned.call("state", arm.state, limit=owned.limits.hang)
    now = time.monotonic()
    fault = fault or watch.check(now, state)
    if fault is None:
        owned.send(messages.State(now, state), droppable=True)
    return fault


def _obey(owned: Ownership, arm: Arm) -> Refusal | None:
    """Execute what was asked, the newest void and the rest in their order; return a fault.

    What is asked meanwhile waits for the next period: many who ask keep nobody from steering.
    """
    for _ in range(owned.commands.qsize()):
        command = owned.commands.get()
        if isinstance(command, Stop):
            owned.call("stop", arm.stop, limit=owned.limits.hang)
            owned.send(Done(command.number, None))
        else:
            owned.send(Done(command.number, _move(owned, arm, command)))
        if owned.demand is not None:
            return owned.demand
    return None


def _move(owned: Ownership, arm: Arm, command: Move) -> Refusal | None:
    """Turn to a target in time, or not at all."""
    if command.number < owned.void:
        return Refusal("command", "stopped before it was executed", "one that is not void")
    if time.monotonic() > command.deadline:
        return _late(command)
    target, duration = command.point, command.duration
    refusal = owned.call("move", lambda: arm.move(target, duration), limit=owned.limits.hang)
    if refusal is None and time.monotonic() > command.deadline:
        owned.call("stop", arm.stop, limit=owned.limits.hang)
        return _late(command)
    return refusal


def _late(command: Move) -> Refusal:
    """Say by how much a command came too late."""
    late = time.monotonic() - command.deadline
    return Refusal("command", f"{late:.3f} s late", "one in time; it is not executed")


def _fail(owned: Ownership, arm: Arm, fault: Refusal) -> None:
    """Stop the arm for good, beside its driver where that raises, and say why."""
    try:
        owned.call("stop", arm.stop, limit=owned.limits.hang)
        fault = stopped(fault)
    except Exception:
        escape = StopBeside(owned.module, owned.start)
        escape.wait()
        fault = escape.added_to(fault)
    owned.send(Fault(fault))


def stopped(fault: Refusal) -> Refusal:
    """Add that the arm is stopped."""
    ends = "" if fault.expected.endswith(" is stopped") else "; the arm is stopped"
    return replace(fault, expected=fault.expected + ends)


def _raised(error: Exception) -> Refusal:
    """Say in one line what a driver raised."""
    found = " ".join(str(error).split()) or type(error).__name__
    return Refusal("arm", found, "an arm that answers")


def _refused(error: Exception) -> messages.Refused:
    """Say in one line why there is no arm."""
    if isinstance(error, BadInput):
        return messages.Refused(error.where, error.found, error.expected)
    found = " ".join(str(error).split()) or type(error).__name__
    return messages.Refused("arm", found, "a driver that opens it")


def main() -> NoReturn:
    """Own the arm that the first message on the inherited socket names."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):  # the client's end is this one's
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(OSError):  # few users may
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    end = socket.socket(fileno=int(sys.argv[1]))
    channel = Channel(end, sends=messages.TO_CLIENT, receives=messages.TO_OWNER)
    first = next(iter(channel.receive(10.0)), None)
    if not isinstance(first, Start):
        sys.exit(2)
    try:
        own(channel, first)
    except ImportError as error:
        channel.send(_refused(error))
    os._exit(0)


if __name__ == "__main__":
    main()
