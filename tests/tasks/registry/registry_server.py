"""A stand-in for MLflow's REST interface: what a controller asks, answered from folders."""

import contextlib
import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ricochet.tasks.registry.packages import MANIFEST
from ricochet.tasks.storage.files import sha256


class Registry:
    """The answers; `champion` is (version, folder), `spoil` changes a file on its way."""

    def __init__(self, champion=None, *, registered=None, digest=True):
        self.champion, self.digest = champion, digest
        self.registered = registered
        self.spoil = lambda name, content: content
        self.asked, self.headers, self.runs = [], [], {}

    def alias(self):
        version, folder = self.champion
        tags = [{"key": "package.sha256", "value": sha256(folder / MANIFEST)}]
        run = sha256(str(folder).encode())[:32]
        self.runs[run] = folder
        found = {"version": version, "run_id": run, "tags": tags if self.digest else []}
        return {"model_version": found | {"creation_timestamp": round(1000 * self.registered)}}

    def answer(self, path, words):
        self.asked.append(path)
        if self.champion is None:
            return 404, b"{}"
        if path.endswith("registered-models/alias"):
            return 200, json.dumps(self.alias()).encode()
        name = words["path"][0].removeprefix("package/")
        folder = self.runs[words["run_uuid"][0]]
        if not (folder / name).exists():
            return 404, b"{}"
        return 200, self.spoil(name, (folder / name).read_bytes())


@contextlib.contextmanager
def serving(registry):
    """Serve a registry on a free port of loopback; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            registry.headers.append(dict(self.headers))
            parts = urllib.parse.urlsplit(self.path)
            status, content = registry.answer(parts.path, urllib.parse.parse_qs(parts.query))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
