"""An orderly end by a signal, and by several at once."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ricochet.flows.servers.stopping import stoppable

AT_ONCE = """
import os, signal, sys
from ricochet.flows.servers.stopping import stoppable
numbers = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
with stoppable():
    for number in numbers:
        os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    while True:
        pass
print("ended")
"""


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_interrupt_does_not_cut_short_the_ending(first):
    """Two times Ctrl-C left both servers running."""
    ended = False
    with stoppable():
        try:
            os.kill(os.getpid(), first)
            time.sleep(5.0)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            ended = True
    assert ended


def test_signals_that_come_at_once_are_one():
    """Python used to print of those that were ignored."""
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"ended\n", b"")
