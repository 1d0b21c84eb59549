"""What the owner of an arm says last is taken, whatever its end does to the connection.

An end of a socket that is closed with something unread in it resets the other one: the next call
there fails, though what was said before lies in it to be read.
"""

import socket
import threading

import pytest

from ricochet.hardware.robots import messages, owner_process
from ricochet.hardware.robots.messages import Beat, Channel, Fault, Limits, Move, Ready
from ricochet.hardware.robots.paddle_arm import ArmState, Refusal
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from tests.hardware.robots.rigs import FAKES, SLOW

WHY = Refusal("driver", "no return from state", "one in time; the arm is stopped")
STATE = ArmState(0.0, (0.0,) * 6, (0.0,) * 6, (0.3, 0.0, 0.2), (0.0,) * 3, 0.0, 0.0)


class Owner:
    """An owner that has an arm, says why it stops it, and ends without reading any further."""

    def __init__(self):
        self.ours, end = socket.socketpair()
        self.channel = Channel(end, sends=messages.TO_CLIENT, receives=messages.TO_OWNER)
        self.channel.send(Ready(STATE))
        self.ended, self.ending = False, threading.Lock()

    def end(self):
        with self.ending:
            if not self.ended:
                self.channel.send(Fault(WHY))
                self.channel.close()
            self.ended = True

    def wait(self, _patience):
        with self.ending:
            return self.ended

    kill = end


@pytest.fixture
def owner(monkeypatch):
    made = Owner()
    monkeypatch.setattr(owner_process, "launch", lambda *_inherited: (made.ours, made))
    return made


def ends_before(owner, monkeypatch, kind):
    """Have the owner end in the moment before its client sends the first message of a kind."""
    send = Channel.send

    def sending(channel, message, **how):
        if isinstance(message, kind):
            owner.end()
        send(channel, message, **how)

    monkeypatch.setattr(Channel, "send", sending)


def opened(limits=SLOW):
    return WatchedArm(messages.Driver(FAKES, {"log": "/dev/null"}), Workspace(), limits=limits)


def test_why_an_owner_ended_is_known_though_a_sign_of_life_finds_it_gone(owner, monkeypatch):
    ends_before(owner, monkeypatch, Beat)
    arm = opened()
    assert arm.advance(5.0) == WHY
    arm.close()


def test_why_an_owner_ended_answers_the_command_that_finds_it_gone(owner, monkeypatch):
    ends_before(owner, monkeypatch, Move)
    arm = opened(Limits(silence=3.0, hang=3.0, command=3.0))
    assert arm.move((0.3, 0.1, 0.2), 0.5) == WHY
    arm.close()


def test_what_was_said_before_a_reset_is_received_and_then_the_end():
    ours, theirs = socket.socketpair()
    client = Channel(ours, sends=messages.TO_OWNER, receives=messages.TO_CLIENT)
    owner = Channel(theirs, sends=messages.TO_CLIENT, receives=messages.TO_OWNER)
    client.send(Beat())
    owner.send(Fault(WHY))
    owner.close()
    assert client.receive(1.0) == [Fault(WHY)]
    with pytest.raises((EOFError, OSError)):
        client.receive(1.0)
    client.close()
