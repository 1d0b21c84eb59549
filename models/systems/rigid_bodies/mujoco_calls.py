"""Calls of MuJoCo that last: they end on signals and after a time, and write no file of warnings.

Python handles a signal when a call returns, and one call moves many models by many steps. It is
therefore made in a thread of its own. Should the wait for it be interrupted, nothing in the models
touches any longer, so that a step that is long by its contacts is the last one that is: the call
returns soon after, however long its steps have become. (Flags that disable contacts or constraints
must not change within a step: MuJoCo counts rows twice.)
"""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import Future
from typing import TypeVar

import mujoco
from numpy import ndarray

T = TypeVar("T")
_APART = {
    "geom_contype": 0,
    "geom_conaffinity": 0,
    "flex_contype": 0,
    "flex_conaffinity": 0,
    "pair_margin": -mujoco.mjMAXVAL,
}
"""Fields of a model by which nothing touches."""
_LOOK = 0.5
"""Time between looks at a call that lasts, s."""


class LongStepsError(RuntimeError):
    """Steps that take too long."""


def interruptible(
    call: Callable[[], T], models: Sequence[mujoco.MjModel], *, seconds: float = math.inf
) -> T:
    """Return what a call that moves some models returns; a signal is obeyed meanwhile.

    >>> interruptible(lambda: 3, [mujoco.MjModel.from_xml_string("<mujoco/>")])
    3

    Args:
        seconds: Processor time that this process may take for it.

    Raises:
        LongStepsError: It takes longer.
        BaseException: What the call or the handler of a signal raises. The models are then as
            before, unless a second signal came before the call returned.
    """
    doing, latest = Future[T](), time.process_time() + seconds
    worker = threading.Thread(target=_do, args=(call, doing), name="MuJoCo")
    try:
        worker.start()
        found = _result(doing, latest)
        worker.join()
        return found
    except BaseException:
        if not doing.cancel():  # a signal may come before the thread has begun with it
            before = _take_apart(models)
            futures.wait([doing])
            for field, values in before:
                field[:] = values
        raise


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Keep MuJoCo from writing a file of warnings: what is beyond all measure is seen by time.

    >>> with silent():
    ...     mujoco.get_mju_user_warning() is None
    False
    """
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _result(doing: Future[T], latest: float) -> T:
    """Return what a call returns, if it does while the process has taken less than some time."""
    while True:
        try:
            return doing.result(timeout=_LOOK)
        except TimeoutError as error:
            if doing.done():  # the call's own
                raise
            if time.process_time() > latest:
                raise LongStepsError("steps that take too long") from error


def _do(call: Callable[[], T], doing: Future[T]) -> None:
    """Make a call, unless it has been cancelled."""
    if doing.set_running_or_notify_cancel():
        try:
            doing.set_result(call())
        except BaseException as error:
            doing.set_exception(error)


def _take_apart(models: Sequence[mujoco.MjModel]) -> list[tuple[ndarray, ndarray]]:
    """Let nothing touch, and return the fields that this changes with what they held."""
    fields = [(getattr(model, name), value) for model in models for name, value in _APART.items()]
    before = [(field, field.copy()) for field, _ in fields]
    for field, value in fields:
        field[:] = value
    return before
