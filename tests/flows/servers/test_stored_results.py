"""A stranger in the place of Prefect's server names a result as code or in a block: it is not read.

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
BLOCK = "00000000-0000-4000-8000-000000000001"
VERB = """
from prefect import flow
{imported}

@flow({options})
def own():
    return "own"

print(own())
"""
OURS = "from ricochet.flows.prefect_options import FLOW", "**FLOW"


def answers(kind, stored, block):
    """Return what the stranger answers: the run has ended, and where its result is stored."""
    stored = {"type": "reference", **stored}
    ended = {"id": str(uuid.uuid4()), "type": kind, "name": "Ended", "timestamp": NOW}
    pending = {**ended, "type": "PENDING", "name": "Pending"}
    known = {"id": str(uuid.uuid4()), "created": NOW, "updated": NOW, "name": "x"}
    run = {**known, "flow_id": str(uuid.uuid4()), "state": pending, "run_count": 0}
    reason = {"type": "reject_details", "reason": "x"}
    rejected = {"state": {**ended, "data": stored}, "status": "REJECT", "details": reason}
    by_default = {"default_result_storage_block_id": stored.get("storage_block_id")}
    found = {"/set_state": rejected, "/flows/": known, "/flow_runs/": run}
    return {**found, "/default-result-storage": by_default, BLOCK: block, "": run}


def block(folder, settings):
    """Return the document of a block by which Prefect reads files."""
    from prefect.filesystems import RemoteFileSystem

    known = {"created": NOW, "updated": NOW, "name": "x"}
    slug, kind = "remote-file-system", str(uuid.uuid4())
    of_kind = {**known, "id": kind, "name": "Remote File System", "slug": slug}
    schema = {
        "checksum": RemoteFileSystem._calculate_schema_checksum(),
        "block_type_id": kind,
        "block_type": of_kind,
    }
    named = {"block_type_id": kind, "block_type_name": of_kind["name"], "block_type": of_kind}
    data = {"basepath": f"filecache://{'../' * 9}{folder}", "settings": settings}
    return {
        **known,
        "id": BLOCK,
        "data": data,
        "block_schema": schema,
        "block_schema_id": kind,
        **named,
    }


@contextlib.contextmanager
def stranger(known):
    """Answer as Prefect's server would not, until the block ends; yields the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = next(
                said for path, said in known.items() if self.path.partition("?")[0].endswith(path)
            )
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


def run(folder, known, ours):
    """Run a flow against the stranger; returns what it says of errors."""
    imported, options = OURS if ours else ("", "")
    with stranger(known) as address:
        settled = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
        settled |= {"PREFECT_API_URL": address, "PREFECT_HOME": str(folder / "home")}
        settled |= {"RICOCHET_ARTIFACTS": str(folder / "state")}
        words = [sys.executable, "-c", VERB.format(imported=imported, options=options)]
        ended = subprocess.run(words, env=settled, capture_output=True, text=True, timeout=300)
    return ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COMPLETED", "FAILED"])
@pytest.mark.parametrize("ours", [False, True])
def test_a_result_that_is_code_is_run_by_prefect_s_flows_and_not_by_ours(tmp_path, kind, ours):
    mark, place = tmp_path / "ran", tmp_path / "result"
    result = base64.encodebytes(cloudpickle.dumps(Code(mark))).decode()
    stored = {"serializer": {"type": "pickle"}, "storage_key": str(place)}
    place.write_text(json.dumps({"metadata": stored, "result": result}))
    said = run(tmp_path, answers(kind, stored, {}), ours)
    assert mark.exists() != ours, said
    assert not ours or "named a stored result" in said


@pytest.mark.slow
@pytest.mark.parametrize("ours", [False, True])
def test_a_block_writes_a_file_of_the_stranger_s_for_prefect_s_flows_and_not_for_ours(
    tmp_path, ours
):
    source, target = tmp_path / "theirs", tmp_path / "cache"
    source.mkdir()
    (source / "evil").write_text("{}")
    cached = {"target_protocol": "file", "cache_storage": str(target), "same_names": True}
    stored = {"serializer": {"type": "json"}, "storage_key": "evil", "storage_block_id": BLOCK}
    said = run(tmp_path, answers("COMPLETED", stored, block(source, cached)), ours)
    assert (target / "evil").exists() != ours, said
    assert not ours or "named a stored result" in said
