"""A stranger in the place of Prefect's server names a result that is code: nobody reads it.

Shown to work against a flow as Prefect makes one, and to fail against a flow with our options.
"""

import base64
import contextlib
import http.server
import json
import os
import subprocess
import sys
import threading
import uuid

import cloudpickle
import pytest

NOW = "2026-01-01T00:00:00+00:00"
VERB = """
from prefect import flow
{imported}

@flow({options})
def own():
    return "own"

print(own())
"""


def answers(place, kind):
    """Return what the stranger answers: the run has ended, and its result lies in a file."""
    stored = {"type": "reference", "serializer": {"type": "pickle"}, "storage_key": str(place)}
    ended = {"id": str(uuid.uuid4()), "type": kind, "name": "Ended", "timestamp": NOW}
    pending = {**ended, "type": "PENDING", "name": "Pending"}
    known = {"id": str(uuid.uuid4()), "created": NOW, "updated": NOW, "name": "x"}
    run = {**known, "flow_id": str(uuid.uuid4()), "state": pending, "run_count": 0}
    reason = {"type": "reject_details", "reason": "x"}
    rejected = {"state": {**ended, "data": stored}, "status": "REJECT", "details": reason}
    return {"/set_state": rejected, "/flows/": known, "/flow_runs/": run, "": run}


@contextlib.contextmanager
def stranger(place, kind):
    """Answer as Prefect's server would not, until the block ends; yields the address."""
    known = answers(place, kind)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = next(said for path, said in known.items() if self.path.endswith(path))
            missing = "csrf" in self.path
            content = json.dumps("3.8.8" if "version" in self.path else found).encode()
            self.send_response(404 if missing else 201 if self.command == "POST" else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PATCH = do_POST  # noqa: N815

        def log_message(self, *words):
            """Stay silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/api"
        server.shutdown()


class Code:
    """What runs a command when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COMPLETED", "FAILED"])
@pytest.mark.parametrize(
    ("imported", "options", "runs"),
    [("", "", True), ("from ricochet.flows.prefect_options import FLOW", "**FLOW", False)],
)
def test_a_stored_result_is_read_by_prefect_s_flows_and_not_by_ours(
    tmp_path, kind, imported, options, runs
):
    mark, place = tmp_path / "ran", tmp_path / "result"
    result = base64.encodebytes(cloudpickle.dumps(Code(mark))).decode()
    metadata = {"serializer": {"type": "pickle"}, "storage_key": str(place)}
    place.write_text(json.dumps({"metadata": metadata, "result": result}))
    with stranger(place, kind) as address:
        settled = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
        settled |= {"PREFECT_API_URL": address, "PREFECT_HOME": str(tmp_path / "home")}
        settled |= {"RICOCHET_ARTIFACTS": str(tmp_path / "state")}
        verb = VERB.format(imported=imported, options=options)
        words = [sys.executable, "-c", verb]
        ended = subprocess.run(words, env=settled, capture_output=True, text=True, timeout=300)
    assert mark.exists() == runs, ended.stderr
    assert runs or "named a stored result" in ended.stderr
