"""A run goes on whose lease of a slot is not renewed, whether a server invents it or is away."""

import asyncio
import contextlib
import threading
import uuid
from types import SimpleNamespace

import pytest
import websockets
from prefect import flow_engine
from prefect._internal.concurrency.cancellation import CancelledError
from prefect.concurrency import _leases
from prefect.exceptions import ObjectNotFound
from prefect.states import Completed, Running

from ricochet.flows import (
    prefect_answers,
    prefect_options,  # noqa: F401 - which has the engine outlive leases
)


@pytest.fixture
def refused(monkeypatch):
    """Renewals that are refused at once; their list."""
    asked = []

    def renew(**named):
        asked.append(named)
        raise RuntimeError("410 Gone")

    @contextlib.contextmanager
    def client(**_):
        yield SimpleNamespace(renew_concurrency_lease=renew)

    monkeypatch.setattr(_leases, "get_client", client)
    monkeypatch.setattr(_leases, "exponential_backoff_with_jitter", lambda *_: 0.0)
    return asked


def hold(maintain):
    """Work under a lease until its renewal has ended."""
    with maintain(uuid.uuid4(), 300, raise_on_lease_renewal_failure=True):
        for thread in threading.enumerate():
            if thread.name.startswith("concurrency-lease-renewal"):
                thread.join()
        for _ in range(1000):  # an exception from another thread comes between instructions
            pass


def test_a_lease_that_is_not_renewed_ends_no_run_of_ours(refused):
    hold(flow_engine.maintain_concurrency_lease)
    assert len(refused) == 3
    with pytest.raises(CancelledError):  # as Prefect has it
        hold(_leases.maintain_concurrency_lease)


def test_why_an_end_is_not_accepted_is_said_and_a_begin_raises(capsys):
    """A 404 said nothing but None."""
    missing = ObjectNotFound(ValueError("404 Not Found"))
    with prefect_answers._end_stands(Completed()):
        raise missing
    assert capsys.readouterr().err.strip().endswith("a run is COMPLETED: 404 Not Found")
    with pytest.raises(ObjectNotFound), prefect_answers._end_stands(Running()):
        raise missing


def test_a_websocket_follows_no_redirect_to_another_server():
    """It sent the login there."""
    asked = []

    def note(connection, request):
        asked.append(request.path)
        return connection.respond(403, "")

    async def connected():
        async with websockets.serve(None, "127.0.0.1", 0, process_request=note) as other:
            place = f"ws://127.0.0.1:{other.sockets[0].getsockname()[1]}/there"

            def redirect(connection, _request):
                answer = connection.respond(307, "")
                answer.headers["Location"] = place
                return answer

            async with websockets.serve(None, "127.0.0.1", 0, process_request=redirect) as first:
                port = first.sockets[0].getsockname()[1]
                again = websockets.connect(f"ws://127.0.0.1:{port}/here")
                for _ in range(2):  # as Prefect's client asks for its next event
                    with pytest.raises(websockets.exceptions.InvalidStatus, match="307"):
                        await again

    asyncio.run(connected())
    assert asked == []
