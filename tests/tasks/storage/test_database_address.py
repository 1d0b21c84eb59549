"""A database's password goes to that database, and not to who took its place."""

import asyncio
import contextlib
import os
import socket
import struct
import threading
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.cluster import certificates
from ricochet.tasks.storage import database_address
from tests import postgres

REMOTE = "postgresql://lab@192.0.2.1/mlflow"
NEAR = "postgresql://lab@127.0.0.1:5432/mlflow"
SOCKET = "postgresql://lab@/mlflow?host="
PASSWORD = "hidden-and-long"


def check(address, environment):
    database_address.check("A_SETTING", address, environment, passwords="a file")


@pytest.mark.parametrize(
    ("address", "environment"),
    [
        (f"{REMOTE}?sslmode=verify-full", {}),
        (f"{NEAR}?sslmode=verify-ca", {}),
        (REMOTE, {"PGSSLMODE": "verify-full"}),
        (REMOTE, {"PGSSLMODE": "disable"}),
        (NEAR, {"PGSSLMODE": "disable"}),
        (f"{SOCKET}/run", {"PGSSLMODE": "prefer"}),
        ("postgresql:///mlflow?host=/run", {}),
        ("postgresql://lab@:5433/mlflow?host=/run", {}),
    ],
)
def test_a_database_is_reached_by_a_socket_or_a_certificate_or_as_somebody_says(
    address, environment
):
    check(address, environment)


@pytest.mark.parametrize(
    "address",
    [
        REMOTE,
        NEAR,
        "postgresql://lab@[::1]/mlflow",
        "postgresql://lab@localhost/mlflow",
        "postgresql:///mlflow",
        "postgresql://lab@127.0.0.1.example/mlflow",
        f"{REMOTE}?sslmode=prefer",
        f"{REMOTE}?sslmode=require",
        f"{REMOTE}?sslmode=verify-full&hostaddr=192.0.2.2",
        f"{REMOTE}?sslmode=verify-full&sslmode=disable",
        f"{REMOTE}?sslmode=verify-full&host=/run",
        f"{NEAR}?hostaddr=192.0.2.2",
        f"{NEAR}?host=/run",
        "postgresql:///mlflow?host=192.0.2.2",
        "postgresql:///mlflow?host=run",
        "postgresql:///mlflow?host=",
        "postgresql:///mlflow?host=/run,192.0.2.2",
        "postgresql:///mlflow?host=/run&host=192.0.2.2",
        "postgresql:///mlflow?host=/run&hostaddr=192.0.2.2",
        "postgresql:///mlflow?host=/run#sslmode=disable",
        "postgresql:///mlflow#sslmode=disable",
    ],
)
def test_other_addresses_are_refused(address):
    with pytest.raises(BadInput, match=r"^A_SETTING: found .*(sslmode|host=FOLDER)"):
        check(address, {})


@pytest.mark.parametrize(
    ("address", "environment"),
    [
        (REMOTE, {"PGSSLMODE": "prefer"}),
        (REMOTE, {"PGSSLMODE": "require"}),
        (NEAR, {"PGSSLMODE": ""}),
        ("postgresql:///mlflow", {"PGHOST": "192.0.2.1"}),
        (f"{SOCKET}/run", {"PGHOSTADDR": "192.0.2.1"}),
        (f"{REMOTE}?sslmode=verify-full", {"PGSERVICE": "elsewhere"}),
    ],
)
def test_nor_is_what_the_environment_says_enough(address, environment):
    with pytest.raises(BadInput, match=r"^A_SETTING: found .*(sslmode|host=FOLDER)"):
        check(address, environment)


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm", "/tmp/absent/below"])
def test_a_socket_in_a_folder_of_all_users_is_refused(folder):
    with pytest.raises(BadInput, match="all may rename"):
        check(f"{SOCKET}{folder}", {})


def test_a_socket_in_a_folder_of_another_user_is_refused_but_for_the_database_s(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    place = Path(f"/run/ricochet-{os.getpid()}")
    place.mkdir()
    try:
        check(f"{SOCKET}{place}", {})
        os.chown(place, 65534, -1)
        with pytest.raises(BadInput, match="one of user 65534"):
            check(f"{SOCKET}{place}", {})
    finally:
        place.rmdir()


@pytest.mark.parametrize("host", ["%2Ftmp%2Fa", "192.0.2.1,192.0.2.2", "a%2Cb", "-a"])
def test_a_host_is_one_host(host):
    with pytest.raises(BadInput, match="of one host"):
        check(f"postgresql://lab@{host}/mlflow?sslmode=verify-full", {})


def test_a_way_by_a_link_that_others_may_exchange_is_refused(tmp_path):
    (tmp_path / "own").mkdir()
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "link").symlink_to(tmp_path / "own")
    check(f"{SOCKET}{shared}/link", {})
    shared.chmod(0o777)
    with pytest.raises(BadInput, match="all may rename"):
        check(f"{SOCKET}{shared}/link", {})


@pytest.mark.parametrize("word", ["password=hidden", "pass%77ord=hidden", "sslpassword=hidden"])
def test_a_password_is_refused_without_being_shown(word):
    for address in (f"{REMOTE}?{word}", "postgresql://lab:hidden@192.0.2.1/mlflow"):
        with pytest.raises(BadInput, match=r"found a password, .* belongs into a file") as error:
            check(address, {})
        assert "hidden" not in str(error.value)


def test_who_took_the_port_gets_the_password_only_of_an_address_that_is_refused(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    certificates.make(tmp_path / "authority")
    monkeypatch.setenv("PGSSLROOTCERT", str(tmp_path / "authority" / certificates.AUTHORITY))
    with taken() as (port, heard):
        for connect in (libpq, asyncpg):
            with pytest.raises(Exception, match=r".+"):
                connect(f"postgresql://lab@127.0.0.1:{port}/mlflow")
            assert PASSWORD.encode() in heard
            heard.clear()
            with pytest.raises(Exception, match=r".+"):
                connect(f"postgresql://lab@127.0.0.1:{port}/mlflow?sslmode=verify-ca")
            assert heard and PASSWORD.encode() not in heard


@pytest.mark.slow
@pytest.mark.parametrize("connect", ["libpq", "asyncpg"])
def test_a_database_is_compared_with_a_certificate(tmp_path, monkeypatch, connect):
    for name in ("own", "foreign"):
        certificates.make(tmp_path / name)
    with postgres.running(certificate=tmp_path / "own") as found:
        monkeypatch.setenv("PGPASSWORD", found.password)
        address = f"postgresql://{found.user}@127.0.0.1:{found.port}/postgres?sslmode=verify-ca"
        for name in ("own", "foreign"):
            monkeypatch.setenv("PGSSLROOTCERT", str(tmp_path / name / certificates.AUTHORITY))
            expected = contextlib.nullcontext() if name == "own" else pytest.raises(Exception)
            with expected:
                assert globals()[connect](address) == 1


def libpq(address):
    """Ask a database by MLflow's and Optuna's way."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(address)
    try:
        with engine.connect() as connection:
            return connection.execute(sqlalchemy.text("SELECT 1")).scalar()
    finally:
        engine.dispose()


def asyncpg(address):
    """Ask a database by Prefect's way."""
    import sqlalchemy
    from sqlalchemy.ext.asyncio import create_async_engine

    async def ask():
        engine = create_async_engine(database_address.for_asyncpg(address))
        try:
            async with engine.connect() as connection:
                return (await connection.execute(sqlalchemy.text("SELECT 1"))).scalar()
        finally:
            await engine.dispose()

    return asyncio.run(ask())


@contextlib.contextmanager
def taken():
    """Listen as who took a database's port; yield the port, and what clients send."""
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening, heard), daemon=True)
        thread.start()
        yield listening.getsockname()[1], heard
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def answer(listening, heard):
    """Refuse to encrypt, and ask each client for its password in the clear."""
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.settimeout(5)
                first = connection.recv(8)
                if first == struct.pack("!ii", 8, 80877103):  # SSLRequest
                    heard += first
                    connection.sendall(b"N")
                    first = connection.recv(8)
                if first:
                    connection.recv(4096)
                    connection.sendall(b"R" + struct.pack("!ii", 8, 3))  # AuthenticationCleartext
                    heard += connection.recv(4096)
