"""Silent connections to a worker take few of its files, and cut off none of its runs."""

import asyncio
import uuid

import psutil
import pytest

from ricochet.flows.servers import control_channel

SILENT = 3 * control_channel.MOST


@pytest.mark.slow
def test_strangers_are_few_and_a_run_is_heard_before_and_after_them(monkeypatch):
    channels = pytest.importorskip("prefect.runner._control_channel")
    own = channels.ControlChannel._handle_connection
    monkeypatch.setattr(channels.ControlChannel, "_handle_connection", own)  # and so put back
    control_channel.bound()
    control_channel.bound()  # once

    async def tried():
        async with channels.ControlChannel() as channel:
            before, held = psutil.Process().num_fds(), []
            for _ in range(2):
                run = uuid.uuid4()
                port, token = channel.register(run)
                _, said = await asyncio.open_connection("127.0.0.1", port)
                said.write(f"{token}\n".encode())
                registered = channel._registrations[run]
                await asyncio.wait_for(registered.connected.wait(), 10)
                held.append(said)
                for _ in range(SILENT):
                    held.append((await asyncio.open_connection("127.0.0.1", port))[1])
                assert not registered.disconnected.is_set()
            await asyncio.sleep(0.2)
            ours = len(held)
            assert psutil.Process().num_fds() - before - ours <= control_channel.MOST + 10
            for each in held:
                each.close()

    asyncio.run(tried())
