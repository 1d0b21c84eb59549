"""Pictures of MLflow's and Prefect's pages, by a headless browser: `make screenshots`.

Servers are started by `ricochet up` on free ports, with what is registered in this checkout, and
ended afterwards. Without Chromium there are no pictures, and a sentence that says so. The browser
is asked over its DevTools protocol, so that MLflow's greetings can be switched off before a page
is loaded; `websockets` comes with Prefect.
"""

import argparse
import base64
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from ricochet.tasks.storage.provenance import artifacts

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
TRAINING = "workflowType=machine_learning"
PATIENCE, SETTLED = 300.0, 6.0
"""Longest wait for the servers, and time that a page has to draw itself, s."""
NO_GREETINGS = """
localStorage.setItem("_mlflow_model_registry_promo_modal_dismissed_v1", "true");
localStorage.setItem("mlflow.assistant.fab.autoOpenedOnFirstLoad_v1", "true");
localStorage.setItem("mlflow.assistant.panelOpen_v1", "false");
"""
LOGIN = 'localStorage.setItem("prefect-password", btoa("{}"));'
"""As Prefect's page keeps it; a password is hexadecimal."""
COMMAND = (sys.executable, "-m", "ricochet.flows.cli")


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("artifacts/screenshots"), metavar="DIR")
    out = parser.parse_args().out
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    if not found:
        print(f"no pictures: found no browser, expected one of {', '.join(BROWSERS)}")
        return
    out.mkdir(parents=True, exist_ok=True)
    name = registered()
    with servers() as addresses, browser(found[0]) as page:
        for picture, address in pages(addresses["mlflow"], addresses["prefect"], name).items():
            take(page, address, out / f"{picture}.png")
            print(out / f"{picture}.png")


def pages(mlflow: str, prefect: str, name: str | None) -> dict[str, str]:
    """Return the addresses of the pages by the names of their pictures."""
    version = {} if name is None else {"mlflow-version": f"{mlflow}/#/models/{name}/versions/1"}
    found = {
        "mlflow-experiments": f"{mlflow}/#/experiments",
        "mlflow-models": f"{mlflow}/#/models",
        **version,
    }
    with_tab = {picture: f"{address}?{TRAINING}" for picture, address in found.items()}
    return {
        **with_tab,
        "prefect-runs": f"{prefect}/runs",
        "prefect-deployments": f"{prefect}/deployments",
    }


def registered() -> str | None:
    """Return a name in the registry that has a champion, else any, else None."""
    done = subprocess.run([*COMMAND, "list", "--json"], capture_output=True, text=True, check=True)
    entries = json.loads(done.stdout)["names"]
    best = sorted(entries, key=lambda entry: "champion" not in entry["aliases"])
    return str(best[0]["name"]) if best else None


@contextmanager
def servers() -> Iterator[dict[str, str]]:
    """Run `ricochet up` on free ports; yields the addresses."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("up", "--mlflow-port", "0", "--prefect-port", "0", "--out", folder)
        process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL)
        try:
            yield answered(process, Path(folder, "result.json"))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def answered(process: subprocess.Popen[bytes], result: Path) -> dict[str, str]:
    """Wait until the servers answer and return their addresses."""
    end = time.monotonic() + PATIENCE
    while not result.exists():
        if process.poll() is not None or time.monotonic() > end:
            sys.exit("no pictures: `ricochet up` did not start")
        time.sleep(0.5)
    return dict(json.loads(result.read_text()))


@contextmanager
def browser(path: str) -> Iterator[ClientConnection]:
    """Start a browser; yields the connection to its one page."""
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"]
    with tempfile.TemporaryDirectory() as profile:
        words += [f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
        process = subprocess.Popen([path, *words], stderr=subprocess.PIPE, text=True)
        try:
            with connect(_page(process), max_size=None) as page:
                yield page
        finally:
            process.terminate()
            process.communicate(timeout=60)


def _page(process: subprocess.Popen[str]) -> str:
    """Return the address of the page of a browser that starts, which says its port."""
    for line in process.stderr or ():
        if found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line):
            with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/json") as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            return str(pages[0]["webSocketDebuggerUrl"])
    sys.exit("no pictures: the browser did not start")


def take(page: ClientConnection, address: str, path: Path) -> None:
    """Save a page as a picture."""
    _ask(page, "Page.enable")
    login = LOGIN.format((artifacts() / "secrets" / "prefect").read_text().strip())
    _ask(page, "Page.addScriptToEvaluateOnNewDocument", source=NO_GREETINGS + login)
    _ask(page, "Page.navigate", url="about:blank")  # else another fragment is the same document
    _ask(page, "Page.navigate", url=address)
    time.sleep(SETTLED)
    picture = _ask(page, "Page.captureScreenshot")
    path.write_bytes(base64.b64decode(picture["data"]))


def _ask(page: ClientConnection, method: str, **parameters: Any) -> dict[str, Any]:
    """Call a method of the DevTools protocol and return its answer; events are passed over."""
    page.send(json.dumps({"id": 1, "method": method, "params": parameters}))
    while True:
        answer = json.loads(page.recv(timeout=60))
        if answer.get("id") == 1:
            return dict(answer["result"])


if __name__ == "__main__":
    main()
