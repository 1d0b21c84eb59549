"""Ends this process when the one that started it has ended, however that was.

Who waits for a program bounds its time; killed, it no longer does, and the program would go on for
as long as a remote keeps it, with the locks that it holds.
"""

import os
import threading
import time

STARTER = "RICOCHET_STARTER"
"""Variable that names the process which waits for this one."""
INTERVAL = 0.5
"""Between looks, s."""


def end_with_starter() -> None:
    """Watch the process that the environment names, if it names one."""
    starter = os.environ.pop(STARTER, "")
    if starter.isdigit():
        threading.Thread(target=_watch, args=(int(starter),), daemon=True).start()


def _watch(starter: int) -> None:
    while os.getppid() == starter:
        time.sleep(INTERVAL)
    os._exit(1)
