"""What MLflow's client reads of a false server is bounded, packed or in parts."""

import gzip
import socketserver
import threading
import tracemalloc
from contextlib import contextmanager

import pytest
import requests
from mlflow.exceptions import MlflowException
from mlflow.utils import request_utils

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import client_answers, pages, runs

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ZEROS = gzip.compress(b"0" * 2**20) * 100
PACKED = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(ZEROS) + ZEROS
EXPERIMENT = b'{"experiment": {"experiment_id": "7", "name": "%s"}}'


@contextmanager
def answering(answer):
    class Answer(socketserver.StreamRequestHandler):
        def handle(self):
            while self.rfile.readline().strip():
                pass
            self.wfile.write(answer)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True
        block_on_close = False

        def handle_error(self, request, address):
            pass  # the client has left

    with Server(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def asked(address):
    return runs.connect(address).client.get_experiment("7")


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        (PACKED, "more than 33554432 bytes"),
        (HEAD + b"\r\n" + b" " * 2**26, "more than 33554432 bytes"),
        (CHUNKED + b"100000\r\n" + (b" " * 2**20 + b"\r\n100000\r\n") * 64, "more than 33554432"),
        pytest.param(
            HEAD + b'\r\n {"a": [' + b"{}," * 1_000_001,
            "more than 2000000 values",
            marks=pytest.mark.proof,
        ),
        (CHUNKED + b"-1\r\n" + b" " * 2**26, "less than nothing"),
    ],
    ids=["packed", "endless", "in parts", "of many values", "of length -1"],
)
def test_an_answer_without_end_is_read_to_the_bound_and_refused(answer, finding, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with answering(answer) as address:
        tracemalloc.start()
        with pytest.raises(MlflowException, match=finding):
            asked(address)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 3 * client_answers.LARGEST


def test_of_an_answer_of_very_many_values_few_are_counted(monkeypatch):
    """A hundredth of the bound: counting so many as are read takes ten seconds here."""
    assert client_answers.MOST == 2_000_000
    monkeypatch.setattr(client_answers, "MOST", 20_000)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    answer = HEAD + b'\r\n {"a": [' + b"{}," * 1_000_001
    with answering(answer) as address:
        tracemalloc.start()
        with pytest.raises(MlflowException, match="more than 20000 values"):
            asked(address)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 10 * len(answer)


@pytest.mark.parametrize(
    "answer",
    [b"[]", b"null", b"1", b"x", b'{"experiment": 1}', b'{"experiment": [1]}',
     b'{"experiment": {"tags": "x"}}', b'{"experiment": {"tags": [{"key": {}}]}}',
     b'{"experiment": {"last_update_time": "' + b"9" * 40 + b'"}}'],
)  # fmt: skip
def test_what_is_no_answer_is_an_error_that_names_who_gave_it(answer, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with (
        answering(HEAD + b"\r\n" + answer) as address,
        pytest.raises(MlflowException) as caught,
    ):
        asked(address)
    assert address in str(caught.value)
    assert "expected MLflow's" in str(caught.value)


@pytest.mark.parametrize("version", [b"", b"x", b"-1", b"1e9", b"9" * 30])
def test_a_version_that_is_no_number_is_refused(version):
    found = b'{"model_versions": [{"name": "a", "version": "%s"}]}' % version
    with answering(HEAD + b"\r\n" + found) as address:
        client = runs.connect(address).client
        with pytest.raises(BadInput, match="expected a number from 1"):
            list(pages.versions(client, "name = 'a'"))


def test_an_answer_of_nearly_the_bound_is_read_in_each_form(monkeypatch):
    monkeypatch.setattr(client_answers, "LARGEST", 2**20)
    said = EXPERIMENT % (b"a" * (2**20 - 2**10))
    packed = gzip.compress(said)
    for answer in (
        HEAD + b"Content-Length: %d\r\n\r\n" % len(said) + said,
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed,
        CHUNKED + b"%x\r\n" % len(said) + said + b"\r\n0\r\n\r\n",
    ):
        before = client_answers.received()
        with answering(answer) as address:
            assert len(asked(address).name) == 2**20 - 2**10
        assert client_answers.received() - before == len(said)


def test_what_is_said_in_place_of_a_file_is_bounded(monkeypatch):
    """It is an answer, and no file: the client reads it whole, and guesses how it is written."""
    client_answers.bound()
    head = HEAD.replace(b"200 OK", b"400 Bad Request").replace(b"json", b"json; charset=punycode")
    session = request_utils._get_request_session(0, 0, 0, (), False, False)
    with answering(PACKED.replace(HEAD, head)) as address:
        tracemalloc.start()
        with pytest.raises(OSError, match="more than 33554432 bytes"):
            session.get(address, stream=True)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 3 * client_answers.LARGEST
    with answering(head + b"\r\nno such file") as address:
        answer = session.get(address, stream=True)
        with pytest.raises(requests.HTTPError, match="no such file"):
            request_utils.augmented_raise_for_status(answer)
        assert answer.encoding == "utf-8"


def test_a_file_may_be_larger_and_is_written_as_it_comes(monkeypatch):
    client_answers.bound()
    monkeypatch.setattr(client_answers, "LARGEST", 10)
    session = request_utils._get_request_session(0, 0, 0, (), False, False)
    with answering(HEAD + b"\r\n" + b"a" * 2**20) as address:
        with session.get(address, stream=True) as answer:
            assert sum(len(part) for part in answer.iter_content(2**16)) == 2**20
        with pytest.raises(OSError, match="more than 10 bytes"):
            session.get(address)


def test_doing_it_again_changes_nothing():
    client_answers.bound()
    found = request_utils.TCPKeepAliveHTTPAdapter.send
    client_answers.bound()
    assert request_utils.TCPKeepAliveHTTPAdapter.send is found
