"""Pictures of MLflow's and Prefect's pages, by a headless browser: `make screenshots`.

Servers are started by `ricochet up` on free ports, with what is registered in this checkout, and
ended afterwards. Without Chromium there are no pictures, and a sentence that says so.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
TRAINING = "workflowType=machine_learning"
PATIENCE = 300.0
"""Longest wait for the servers, s."""
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
    with servers() as addresses:
        for picture, address in pages(addresses["mlflow"], addresses["prefect"], name).items():
            take(found[0], address, out / f"{picture}.png")
            print(out / f"{picture}.png")


def pages(mlflow: str, prefect: str, name: str | None) -> dict[str, str]:
    """Return the addresses of the pages by the names of their pictures."""
    version = {} if name is None else {"mlflow-version": f"{mlflow}/#/models/{name}/versions/1"}
    found = {
        "mlflow-models": f"{mlflow}/#/models",
        "mlflow-runs": f"{mlflow}/#/experiments",
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


def take(browser: str, address: str, path: Path) -> None:
    """Save a page as a picture; its own scripts have twenty seconds of the browser's clock."""
    with tempfile.TemporaryDirectory() as profile:
        words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        words += ["--window-size=1400,1000", "--virtual-time-budget=20000"]
        subprocess.run(
            [browser, *words, f"--screenshot={path.resolve()}", address],
            check=True,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )


if __name__ == "__main__":
    main()
