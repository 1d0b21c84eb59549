"""What Prefect's server may say of a run of this process: that it may begin, waits or is aborted.

Whether a run is complete, and with what result, this process alone knows. A server could say that
one had ended which never began, that it is to be repeated, without end, where its result lies and
how that is to be read: as code, or by a block that writes files where it likes. Nothing of that is
believed: no run of ours is repeated by the server and no result is stored. An end that a server
refuses, or to which it has no answer, is said in a line: what was computed or registered stays so.

Prefect cancels a run, at whatever instruction it is, when the lease of its deployment's slot is not
renewed. A server may invent a lease, and a true one is lost while a server or its database is away
for a moment. So it is a warning, and the run goes on: `up` counts the slots of open runs anew every
minute (`concurrency_slots`), and rigs and sessions have locks of their own.
"""

import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NoReturn
from uuid import UUID

from prefect import flow_engine, results
from prefect.client.schemas.objects import State
from prefect.exceptions import PrefectSignal

from ricochet.flows import prefect_settings
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce

SERVER = "Prefect's server"
REFUSALS = (Exception, PrefectSignal)
"""How Prefect's client says that a state was not accepted: `Abort` is no exception to it."""


def refuse_false() -> None:
    """Have Prefect's engine refuse what a server has no business to say, in this process."""
    _refuse_states()
    _refuse_stored_results()
    _outlive_leases()
    prefect_settings.follow_no_redirects()


def check(proposed: State[Any], answered: State[Any]) -> State[Any]:
    """Return the state of a run after an answer to the one that was proposed for it.

    Args:
        proposed: What this process says of its run.
        answered: The same object where the server accepts it, or what it says instead.

    Raises:
        BadInput: It is neither accepted nor, for a run that would begin, made to wait.
    """
    waits = proposed.is_running() and answered.is_pending()
    if answered is proposed or waits:
        return answered
    said = f"{answered.type.value} for a run that is {proposed.type.value}"
    raise BadInput(SERVER, said, f"{proposed.type.value}: what a run did its process knows")


def _refuse_states() -> None:
    engine: Any = flow_engine  # which looks these up among its own names
    ask, ask_soon = engine.propose_state_sync, engine.propose_state

    @functools.wraps(ask)
    def asked(client: Any, state: State[Any], *rest: Any, **named: Any) -> State[Any]:
        with _end_stands(state):
            return check(state, ask(client, state, *rest, **named))
        return state

    @functools.wraps(ask_soon)
    async def asked_soon(client: Any, state: State[Any], *rest: Any, **named: Any) -> State[Any]:
        with _end_stands(state):
            return check(state, await ask_soon(client, state, *rest, **named))
        return state

    _replace(engine, propose_state_sync=asked, propose_state=asked_soon)


@contextlib.contextmanager
def _end_stands(state: State[Any]) -> Iterator[None]:
    """Leave the block, and say so in a line, where the end of a run is not accepted in it."""
    try:
        yield
    except REFUSALS as error:
        if not state.is_final():
            raise
        why = getattr(error, "http_exc", error)  # of a run that is not found, which says nothing
        announce(f"{SERVER}: does not show that a run is {state.type.value}: {why}")


def _refuse_stored_results() -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise BadInput(SERVER, "named a stored result", "none: none of this project is stored")

    def none() -> None:
        return None

    _replace(
        results,
        resolve_result_storage=refuse,
        aresolve_result_storage=_soon(refuse),
        _read_server_default_result_storage_block_id=none,
        _aread_server_default_result_storage_block_id=_soon(none),
    )
    _replace(results.ResultStore, _from_metadata=_soon(refuse), read=refuse, aread=_soon(refuse))


def _outlive_leases() -> None:
    engine: Any = flow_engine
    for name in ("maintain_concurrency_lease", "amaintain_concurrency_lease"):
        _replace(engine, **{name: _only_warning(getattr(engine, name))})


def _only_warning(maintain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(maintain)
    def maintained(lease: UUID, duration: float, **_: bool) -> Any:
        return maintain(lease, duration, raise_on_lease_renewal_failure=False)

    return maintained


def _soon(call: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def soon(*given: Any, **named: Any) -> Any:
        return call(*given, **named)

    return soon


def _replace(owner: Any, **functions: Callable[..., Any]) -> None:
    for name, function in functions.items():
        getattr(owner, name)  # an error where this version of Prefect has another
        setattr(owner, name, function)
