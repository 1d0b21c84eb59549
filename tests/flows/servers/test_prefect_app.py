"""Websockets of Prefect's server: those without a login stop nobody, and are closed."""

import asyncio
import base64
import contextlib
import http.client
import json
import re
import resource
import socket
import time
import urllib.error
import urllib.request

import psutil
import pytest
import websockets

from ricochet.flows.servers import (
    environments,
    prefect_app,
    prompt_protocol,
    prompt_websocket,
    serving,
)
from ricochet.flows.servers.prefect_app import SILENT, Impatient
from ricochet.tasks.registry.server_limits import KNOWN
from tests.flows.harness import wait_for
from tests.flows.servers import alone
from tests.stores import with_prefect

UPGRADE = "PUT / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
WEBSOCKET = (
    "GET /api/events/in HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: prefect\r\n\r\n"
)
SAID = {"type": "websocket.receive", "text": "login"}


def received(messages, *, kind="websocket", patience=0.05):
    """Return what an application receives of messages, after which nothing comes."""
    found = []

    async def receive():
        if messages:
            return messages.pop(0)
        await asyncio.sleep(0.5)
        return {"type": "late"}

    async def application(scope, receive, send):
        for _ in range(3):
            found.append(await receive())
            if found[-1] == SILENT or found[-1]["type"] == "late":
                return

    asyncio.run(Impatient(application, patience)({"type": kind}, receive, None))
    return [message["type"] for message in found]


def test_a_websocket_that_says_nothing_has_gone():
    assert received([{"type": "websocket.connect"}]) == ["websocket.connect", SILENT["type"]]


def test_one_that_has_spoken_may_be_silent_for_as_long_as_it_likes():
    assert received([{"type": "websocket.connect"}, SAID])[1:] == ["websocket.receive", "late"]


def test_a_request_may_be_slow():
    assert received([], kind="http") == ["late"]


@pytest.mark.parametrize(
    ("logins", "known"),
    [(["a:b"], b""), (["a:c"], None), ([], None), (["a:b", "a:b"], None), (["\xe9"], None)],
)
def test_whoever_states_the_login_is_known_before_an_answer_begins(logins, known):
    noted = []

    async def application(scope, receive, send):
        noted.append(scope.get("state", {}).get(KNOWN))

    coded = [b"Basic " + base64.b64encode(login.encode()) for login in logins]
    scope = {"type": "http", "headers": [(b"authorization", each) for each in coded]}
    asyncio.run(prefect_app.Known(application, "a:b")(scope, None, None))
    assert noted == [known]


def test_the_limit_counts_requests_of_the_interface_alone():
    server = pytest.importorskip("prefect.server.api.server")
    scopes = {
        "api": {"type": "http", "path": "/api/flows/filter"},
        "page": {"type": "http", "path": "/assets/index.js"},
        "websocket": {"type": "websocket", "path": "/api/events/out"},
    }
    most, going = dict.fromkeys(scopes, 0), dict.fromkeys(scopes, 0)

    async def application(scope, receive, send):
        kind = next(name for name, each in scopes.items() if each == scope)
        going[kind] += 1
        most[kind] = max(most[kind], going[kind])
        await asyncio.sleep(0.01)
        going[kind] -= 1

    async def asked():
        limited = prefect_app.uncounted(server.RequestLimitMiddleware)(application, limit=2)
        await asyncio.gather(*(limited(each, None, None) for each in 6 * [*scopes.values()]))

    asyncio.run(asked())
    assert most == {"api": 2, "page": 6, "websocket": 6}


def test_an_answer_that_waits_for_its_reader_has_no_place():
    from prefect.server.api import server

    async def tried(size):
        done, may, taken = [], asyncio.Event(), []

        async def application(scope, receive, send):
            for number in range(4):
                await send({"type": "http.response.body", "body": bytes([number]) * (size // 4)})
            done.append(scope)

        async def send(message):
            await may.wait()
            taken.append(message["body"])

        limited = prefect_app.uncounted(server.RequestLimitMiddleware)(application, limit=2)
        scope = {"type": "http", "path": "/api/health"}
        tasks = [asyncio.create_task(limited(scope, None, send)) for _ in range(6)]
        await asyncio.sleep(0.3)
        before = len(done)
        may.set()
        await asyncio.gather(*tasks)
        return before, sorted(taken)

    for size, before in ((1000, 6), (2 * prefect_app.KEPT, 0)):  # what is long keeps its place
        parts = sorted(bytes([number]) * (size // 4) for number in range(4) for _ in range(6))
        assert asyncio.run(tried(size)) == (before, parts)


def test_a_fault_is_answered_as_the_application_says():
    """Prefect answers 503 where its database is locked, for clients to try again, and raises."""
    from prefect.server.api import server

    status = {"type": "http.response.start", "status": 503}
    answered = []

    async def application(scope, receive, send):
        await send(status)
        raise OSError("database is locked")

    async def send(message):
        answered.append(message)

    limited = prefect_app.uncounted(server.RequestLimitMiddleware)(application, limit=2)
    with pytest.raises(OSError, match="locked"):
        asyncio.run(limited({"type": "http", "path": "/api/flow_runs/"}, None, send))
    assert answered == [status]


@pytest.mark.parametrize("stated", ["lab:geheim", "läb:secret", "lab:secret\ud800", "", None])
def test_logins_of_any_letters_are_compared(stated):
    assert not prefect_app.Comparing.compare_digest(stated, "lab:secret")
    assert prefect_app.Comparing.compare_digest("läb:secret", "läb:secret")


@contextlib.contextmanager
def a_server(folder):
    """Run Prefect's server behind a password until the block ends, which begins when it answers."""
    with_prefect(folder)
    own = {"PREFECT_HOME": str(folder), environments.SERVER_LOGIN: "lab:secret"}
    with alone.running(serving.PREFECT, own) as (place, process):
        wait_for(lambda: answers(place), seconds=120.0)
        yield place, process


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server and its process."""
    with a_server(tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """The same for one that may have 512 files."""
    with a_server(tmp_path_factory.mktemp("narrow")) as (place, process):
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (512, 512))
        yield place, process


def answers(place):
    """Tell whether a server says that it is well."""
    with contextlib.suppress(OSError):
        health = f"http://{place}/api/health"
        with urllib.request.urlopen(health, timeout=10.0) as answer:
            return answer.status == 200
    return False


@pytest.mark.slow
def test_a_hundred_and_more_websockets_without_a_login_leave_the_server_answering(server):
    place, _ = server

    async def open_many():
        events = f"ws://{place}/api/events/out"
        words = {"subprotocols": ["prefect"], "ping_interval": None, "open_timeout": 60}
        opened = [await websockets.connect(events, **words) for _ in range(130)]
        assert await asyncio.to_thread(answers, place)
        await asyncio.wait_for(opened[-1].wait_closed(), 6 * prefect_app.PATIENCE)

    asyncio.run(open_many())


@pytest.mark.slow
def test_strangers_that_read_nothing_or_say_nothing_are_let_go_and_stop_nobody(server):
    """A hundred and more of each: their downloads held all places, their silence all files."""
    place, process = server
    with contextlib.ExitStack() as stack:
        host, _, port = place.partition(":")

        def opened(words):
            found = stack.enter_context(socket.socket())
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            found.settimeout(60.0)
            found.connect((host, int(port)))
            found.sendall(words)
            return found

        page = urllib.request.urlopen(f"http://{place}/", timeout=60.0).read().decode()
        script = re.search(r'src="(/assets/[^"]+\.js)"', page)[1]
        asked = f"GET {script} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
        unread = [opened(asked) for _ in range(130)]
        assert answers(place)
        silent, half = opened(b""), opened(b"GET /api/health HTTP/1.1\r\nHost: ")
        upgrade = f"/api/events/in HTTP/1.1\r\nHost: {place}\r\nUpgrade: websocket\r\n"
        upgrades = [
            opened(f"{method} {upgrade}Connection: Upgrade\r\n\r\n".encode())
            for method in ("PUT", "GET")
        ]
        assert silent.recv(1) == half.recv(1) == b""  # closed
        for each in upgrades:
            while each.recv(4096):  # what is refused says so, and is closed then
                pass
        assert answers(place) and unread
        facts = psutil.Process(process.pid)
        wait_for(lambda: len(facts.net_connections()) < 10, seconds=90.0)  # they are cut off


@pytest.mark.slow
def test_answers_that_nobody_reads_take_no_places(server):
    """Two hundred strangers who have long headers mirrored, forty times each, and take nothing."""
    place, _ = server
    with contextlib.ExitStack() as stack:
        host, _, port = place.partition(":")
        asked = f"OPTIONS /api/health HTTP/1.1\r\nHost: {place}\r\nOrigin: http://{place}\r\n"
        asked += "Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: "
        words = 40 * f"{asked}{'x' * 12_000}\r\n\r\n".encode()
        for _ in range(200):
            found = stack.enter_context(socket.socket())
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
            found.connect((host, int(port)))
            found.setblocking(False)
            found.send(words)
        for _ in range(3):
            assert answers(place)
            time.sleep(2.0)


UNFINISHED = "POST /api/flows/filter HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"


@pytest.mark.slow
@pytest.mark.parametrize("words", ["", "GET / HTTP/1.1\r\nHost: ", UPGRADE, UNFINISHED])
def test_more_connections_than_files_leave_the_server_answering(narrow, many_files, words):
    """Of a server that may have 512 files; without a bound asyncio tries for ever to accept.

    Who has shown a login keeps the connection, also between two requests.
    """
    place, _ = narrow
    with contextlib.ExitStack() as stack:
        host, _, port = place.partition(":")
        friend = http.client.HTTPConnection(host, int(port), timeout=60.0)
        stack.callback(friend.close)
        for number in range(700):
            if number % 50 == 0:  # before its time is over
                assert counted(friend) == "0"
            found = stack.enter_context(socket.create_connection((host, int(port)), 60.0))
            with contextlib.suppress(ConnectionError):
                found.sendall(words.encode())
        for _ in range(3):
            assert answers(place)
            assert counted(friend) == "0"
            time.sleep(1.0)


def counted(connection):
    """Ask with the login for the number of flows, by a connection that stays."""
    login = base64.b64encode(b"lab:secret").decode()
    headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    connection.auto_open = connection.sock is None  # never another one
    connection.request("POST", "/api/flows/count", b"{}", headers)
    return connection.getresponse().read().decode()


@pytest.mark.slow
def test_websockets_that_have_gone_take_no_place(narrow, many_files):
    place, _ = narrow
    host, _, port = place.partition(":")
    begun = time.monotonic()
    for _ in range(300):
        with socket.create_connection((host, int(port)), 60.0) as found:
            found.sendall(WEBSOCKET.encode())
            assert found.recv(12) == b"HTTP/1.1 101"
        if time.monotonic() > begun + 2 * prompt_protocol.PATIENCE:
            pytest.skip("slower than they were let go")
    assert answers(place)


@pytest.mark.slow
def test_a_login_of_other_letters_is_wrong_and_no_fault(server):
    place, _ = server

    async def closed(login):
        events = f"ws://{place}/api/events/in"
        async with websockets.connect(events, subprotocols=["prefect"]) as opened:
            await opened.send(json.dumps({"type": "auth", "token": login}))
            await opened.wait_closed()
            return opened.close_code

    for login in ("läb:secret", "lab:seçret"):
        asked = urllib.request.Request(f"http://{place}/api/flows/count", b"{}")
        asked.add_header("Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(asked, timeout=60.0)
        assert asyncio.run(closed(login)) == 1008


@pytest.mark.slow
def test_nobody_is_given_a_description_of_routes(server):
    place, _ = server
    for each in ("openapi.json", "docs", "redoc", "openapi.json%0A", "docs/oauth2-redirect"):
        for path in (each, f"api/{each}"):
            with contextlib.suppress(urllib.error.HTTPError):
                found = urllib.request.urlopen(f"http://{place}/{path}", timeout=60.0).read()
                assert b"/flow_runs/" not in found and b"swagger" not in found.lower()


@pytest.mark.slow
def test_no_page_of_anothers_frames_its_pages(server):
    place, _ = server
    for path in ("", "api/health"):
        with urllib.request.urlopen(f"http://{place}/{path}", timeout=60.0) as answer:
            assert answer.headers.get_all("x-frame-options") == ["DENY"]


@pytest.mark.slow
def test_a_first_message_is_small_and_others_may_be_large(server):
    place, _ = server

    async def said(login, *messages):
        events = f"ws://{place}/api/events/in"
        async with websockets.connect(events, subprotocols=["prefect"]) as opened:
            if login:
                await opened.send(json.dumps({"type": "auth", "token": login}))
                assert json.loads(await opened.recv())["type"] == "auth_success"
            for message in messages:
                await opened.send(message)
            await opened.wait_closed()
            return opened.close_code

    first, most = prompt_websocket.FIRST, serving.MESSAGE
    assert asyncio.run(said("", "x" * (first + 1))) == 1009  # too large
    assert asyncio.run(said("lab:secret", "x" * (most + 1))) == 1009
    assert asyncio.run(said("lab:secret", "x" * (first + 1))) != 1009  # no event


@pytest.mark.slow
def test_who_sends_many_pings_and_no_login_is_cut_off(server):
    """A server answers each, of twelve megabytes for fifteen seconds."""
    place, _ = server
    host, port = place.rsplit(":", 1)
    ping = b"\x89\x80" + bytes(4)
    with socket.create_connection((host, int(port)), 60.0) as found:
        found.sendall(WEBSOCKET.encode())
        head = found.recv(2**16)
        assert head.startswith(b"HTTP/1.1 101")
        found.sendall(ping)
        assert found.recv(2) == b"\x8a\x00"
        pongs = 0
        with contextlib.suppress(ConnectionError):
            found.sendall(ping * 10_000)
            while answer := found.recv(2**16):
                pongs += len(answer) // 2
    assert pongs <= (prompt_websocket.FIRST + prompt_websocket.HEAD) // len(ping)


@pytest.mark.slow
def test_no_message_is_packed(server):
    """A thousand first messages of 15 kB that strangers packed took 4 GB."""
    place, _ = server

    async def asked():
        events = f"ws://{place}/api/events/in"
        async with websockets.connect(events, subprotocols=["prefect"]) as opened:
            assert opened.request.headers["Sec-WebSocket-Extensions"].startswith("permessage")
            return opened.response.headers.get("Sec-WebSocket-Extensions")

    assert asyncio.run(asked()) is None
