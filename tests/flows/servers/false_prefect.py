"""A stranger in the place of Prefect's server, and a flow that is run against it."""

import contextlib
import http.server
import json
import os
import subprocess
import sys
import threading
import uuid

import pytest

NOW = "2026-01-01T00:00:00+00:00"
KNOWN = {"created": NOW, "updated": NOW, "name": "x"}
VERB = """
from prefect import flow
{imported}

@flow({options})
def own():
    print("body", flush=True)
    {body}

print(own())
"""
WHOSE = [pytest.param(False, marks=pytest.mark.proof), True]
"""Whether a flow has our options: that it needs them is shown by hand."""
OURS = "from ricochet.flows.prefect_options import FLOW", "**FLOW"

GONE, BROKEN = "410 Gone", "500 Internal Server Error"
"""Stand for the answers that what was asked for is there no more, and that a database is away."""


def state(kind, **more):
    """Return a state of a run."""
    return {"id": str(uuid.uuid4()), "type": kind, "name": "x", "timestamp": NOW, **more}


def answers(set_state):
    """Return what a server answers, and by `set_state` to a state that is proposed for a run."""
    known = {"id": str(uuid.uuid4()), **KNOWN}
    run = {**known, "flow_id": str(uuid.uuid4()), "state": state("PENDING"), "run_count": 0}
    return {"/set_state": set_state, "/flows/": known, "/flow_runs/": run, "": run}


def reject(instead):
    """Return the answer that a run is in another state than was proposed."""
    reason = {"type": "reject_details", "reason": "x"}
    return {"state": instead, "status": "REJECT", "details": reason}


def abort(reason):
    """Return the answer that a run is to be left."""
    return {
        "state": None,
        "status": "ABORT",
        "details": {"type": "abort_details", "reason": reason},
    }


def accept(proposed):
    """Return the answer that a run is in the state that was proposed."""
    kind = proposed["state"]["type"]
    return {"state": state(kind), "status": "ACCEPT", "details": {"type": "accept_details"}}


@contextlib.contextmanager
def stranger(known):
    """Answer as Prefect's server would not, until the block ends; yields the address.

    Args:
        known: What is answered by the end of a path, or what makes it of what was asked.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            asked = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            where = self.path.partition("?")[0]
            found = next(said for path, said in known.items() if where.endswith(path))
            found = found(json.loads(asked)) if callable(found) else found
            missing = "csrf" in self.path
            content = json.dumps("3.8.8" if "version" in self.path else found).encode()
            done = 201 if self.command == "POST" else 200
            done = int(found[:3]) if found in (GONE, BROKEN) else done
            self.send_response(404 if missing else done)
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


def run(folder, known, ours, body='return "own"'):
    """Run a flow of Prefect's, or with our options, against the stranger; returns how it ended."""
    imported, options = OURS if ours else ("", "")
    verb = VERB.format(imported=imported, options=options, body=body)
    with stranger(known) as address:
        settled = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
        settled |= {"PREFECT_API_URL": address, "PREFECT_HOME": str(folder / "home")}
        settled |= {"RICOCHET_ARTIFACTS": str(folder / "state")}
        words = [sys.executable, "-c", verb]
        return subprocess.run(words, env=settled, capture_output=True, text=True, timeout=300)
