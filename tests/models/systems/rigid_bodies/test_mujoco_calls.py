"""A signal is obeyed while MuJoCo moves models: nothing touches until its call returns."""

import signal
import threading
import time
from collections.abc import Callable, Iterator

import mujoco
import numpy as np
import pytest
from mujoco import rollout

from ricochet.models.systems.rigid_bodies import mujoco_calls
from tests.models.systems.rigid_bodies import swings

PATIENCE = 60.0
"""Seconds after which a call that nothing ends gives up, so that a fault is a failure."""


@pytest.fixture(autouse=True)
def interruptions() -> Iterator[None]:
    """Let a signal interrupt, which may be ignored here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    """Send the main thread what Ctrl-C does."""
    found = threading.main_thread().ident
    assert found is not None
    signal.pthread_kill(found, signal.SIGINT)


def until_apart(model: mujoco.MjModel, seen: list[bool]) -> Callable[[], None]:
    """Return what interrupts, then waits, as one call of C, until nothing of a model touches."""

    def call() -> None:
        interrupt()
        end = time.monotonic() + PATIENCE
        while model.geom_contype.any() and time.monotonic() < end:
            time.sleep(1e-3)
        seen.append(not model.geom_contype.any() and not model.geom_conaffinity.any())

    return call


def test_a_signal_takes_the_models_apart_until_the_call_returns() -> None:
    model, seen = swings.cart(), list[bool]()
    before = model.geom_contype.copy()
    with pytest.raises(KeyboardInterrupt):
        mujoco_calls.interruptible(until_apart(model, seen), [model])
    assert seen == [True]
    np.testing.assert_array_equal(model.geom_contype, before)
    assert mujoco_calls.interruptible(lambda: 3, [model]) == 3


def test_a_simulation_is_interrupted_and_then_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    theta, starts, controls = swings.some(2, 2)
    simulate, seen = swings.simulator(controls), list[bool]()
    expected, true = simulate(theta, starts, steps=3).states, rollout.Rollout

    class Lasting(true):  # type: ignore[misc, valid-type]
        def rollout(self, model: list[mujoco.MjModel], *rest: object, **more: object) -> object:
            until_apart(model[0], seen)()
            return super().rollout(model, *rest, **more)

    monkeypatch.setattr(rollout, "Rollout", Lasting)
    with pytest.raises(KeyboardInterrupt):
        simulate(theta, starts, steps=3)
    assert seen == [True]
    monkeypatch.setattr(rollout, "Rollout", true)
    np.testing.assert_array_equal(simulate(theta, starts, steps=3).states, expected)


def test_an_error_of_the_call_is_raised_and_no_thread_is_left() -> None:
    threads, model = threading.active_count(), swings.cart()
    with pytest.raises(ZeroDivisionError):
        mujoco_calls.interruptible(lambda: 1 // 0, [model])
    assert threading.active_count() == threads
    assert model.geom_contype.all()


def test_a_call_that_has_not_begun_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal may come while the thread starts; then nobody waits for it any longer."""
    made, start, threads = list[int](), threading.Thread.start, list[threading.Thread]()

    def interrupted(thread: threading.Thread) -> None:
        threads.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mujoco_calls.interruptible(lambda: made.append(1), [swings.cart()])
    monkeypatch.setattr(threading.Thread, "start", start)
    threads[0].start()
    threads[0].join()
    assert made == []


def test_a_call_that_takes_too_long_is_given_up_and_its_models_are_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mujoco_calls, "_LOOK", 0.01)
    model, seen = swings.cart(), list[bool]()

    def busy() -> None:
        end = time.monotonic() + PATIENCE
        while model.geom_contype.any() and time.monotonic() < end:
            pass
        seen.append(not model.geom_contype.any())

    with pytest.raises(mujoco_calls.LongStepsError):
        mujoco_calls.interruptible(busy, [model], seconds=0.05)
    assert seen == [True] and model.geom_contype.any()


def test_a_time_that_is_over_within_a_call_is_the_calls_own() -> None:
    def late() -> None:
        raise TimeoutError("of the call")

    with pytest.raises(TimeoutError, match="of the call"):
        mujoco_calls.interruptible(late, [swings.cart()], seconds=0.0)
