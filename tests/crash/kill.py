"""Real processes, killed with SIGKILL between two of their steps.

A step is whatever the interpreter audits just before it happens: a rename, a removal, a folder, an
opened file, under the folder that is watched; or a call that `before_and_after` wraps.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

AUDITED = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink")
MOST = 400


def now() -> None:
    """Die as kill -9 makes a process die."""
    os.kill(os.getpid(), signal.SIGKILL)


def forked(action: Callable[[], object]) -> int:
    """Run an action in a process of its own; returns its status, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def at_every_step(folder: Path, action: Callable[[int], object]) -> Iterator[int]:
    """Kill an action at its first step, its second, and so on, until it ends by itself.

    `action` is told the number of the step, so that it can work in a place of its own under
    `folder`. Yields after each kill, and does not yield when the action has ended.
    """
    for number in range(1, MOST):
        status = forked(lambda number=number: _doomed(folder, action, number))
        if status == 0:
            assert number > 2, "nothing was ever killed"
            return
        assert status == -signal.SIGKILL, f"step {number}: status {status}"
        yield number
    raise AssertionError(f"more than {MOST} steps")


def before_and_after(place: object, names: tuple[str, ...], *, number: int) -> None:
    """Wrap functions so that the process dies at the n-th beginning or end of one of them."""
    left = [number]

    def step() -> None:
        left[0] -= 1
        if left[0] == 0:
            now()

    for name in names:
        setattr(place, name, _wrapped(getattr(place, name), step))


def _wrapped(function: Callable[..., object], step: Callable[[], None]) -> Callable[..., object]:
    def doomed(*arguments: object, **options: object) -> object:
        step()
        result = function(*arguments, **options)
        step()
        return result

    return doomed


def _doomed(folder: Path, action: Callable[[int], object], number: int) -> None:
    left = [number]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in AUDITED and str(folder) in str(arguments[0]):
            left[0] -= 1
            if left[0] == 0:
                now()

    sys.addaudithook(hook)
    action(number)
