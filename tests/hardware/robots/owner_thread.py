"""The owner of an arm as a thread of the test's process: quick to start, and it sees its fakes."""

import contextlib
import socket
import threading

from ricochet.hardware.robots import messages, owner
from ricochet.hardware.robots.messages import Channel


class OwnerThread:
    """As `owner_process.OwnerProcess`; ending it is hanging up."""

    def __init__(self, end):
        self.end = end
        self.thread = threading.Thread(target=self.run, name="owner")
        self.thread.start()

    def run(self):
        channel = Channel(self.end, sends=messages.TO_CLIENT, receives=messages.TO_OWNER)
        try:
            (start,) = channel.receive(10.0)
            owner.own(channel, start, end=lambda status: None)
        finally:
            channel.close()

    def wait(self, patience):
        self.thread.join(patience)
        return not self.thread.is_alive()

    def kill(self):
        with contextlib.suppress(OSError):  # it has ended, or does at this moment
            self.end.shutdown(socket.SHUT_RDWR)


def launch(*_inherited):
    ours, theirs = socket.socketpair()
    return ours, OwnerThread(theirs)
