"""Standard output is the answer, standard error the rest: `--json`, `--quiet` and pipes."""

import dataclasses
import json
import subprocess
import sys

import pytest

from ricochet.flows import cli
from ricochet.flows.command_line import verbs
from ricochet.flows.command_line.verb import ALL
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import announce, bar
from ricochet.tasks.storage.files import write_json


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a verb's action with options; return the exit status."""

    def call(action, *options):
        made = dataclasses.replace(verbs.all_verbs()[0], run=action, takes=ALL)
        monkeypatch.setattr(cli, "all_verbs", lambda: (made,))
        return cli.main(["calibrate", "--out", str(tmp_path), *options])

    return call


def speak(call):
    announce("starting")
    with bar("step"):
        call.report_line("a line")
    sys.stdout.write("from a library\n")
    return {"number": 0.5}


def test_json_alone_is_on_standard_output(run, capsys):
    assert run(speak, "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"number": 0.5}
    assert said.err == "starting\nstep ...\na line\nfrom a library\n"


def test_json_of_a_verb_that_returns_nothing_is_its_result_json(run, capsys, tmp_path):
    assert run(lambda call: write_json(call.out / "result.json", {"a": [1]}), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"a": [1]}


def test_quiet_shows_nothing(run, capsys):
    assert run(speak, "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_quiet_json_is_json(run, capsys):
    assert run(speak, "--quiet", "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"number": 0.5} and said.err == ""


@pytest.mark.parametrize(("error", "status"), [(BadInput("x", "y", "z"), 2), (OSError("no"), 1)])
def test_errors_are_shown_however_quiet(run, capsys, error, status):
    def fail(call):
        speak(call)
        raise error

    assert run(fail, "--quiet", "--json") == status
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1


def test_in_a_pipe_something_is_said_before_anything_slow_is_imported(tmp_path):
    """The first line is there while PyTorch is not: nobody waits in silence."""
    code = (
        "import sys\n"
        "from ricochet.tasks.console import progress\n"
        "from ricochet.flows.command_line import recording_verbs, verbs\n"
        "from ricochet.flows.command_line import registry_verbs, study_verbs\n"
        "from ricochet.flows.command_line import backup_verbs\n"
        "from ricochet.flows.command_line import import_verb, infer_verb, judge_verb\n"
        "from ricochet.flows.command_line import listen_verb, plan_verb\n"
        "from ricochet.flows.command_line import train_verbs, verb\n"
        "modules = [progress, recording_verbs, registry_verbs, study_verbs, verbs, verb]\n"
        "modules += [import_verb, infer_verb, judge_verb, listen_verb, plan_verb, train_verbs]\n"
        "modules += [backup_verbs]\n"
        "heavy = {'torch', 'prefect', 'mlflow', 'numba', 'matplotlib'}\n"
        "def said(line, **_):\n"
        "    print(sorted(heavy & set(sys.modules)))\n"
        "    raise KeyboardInterrupt\n"
        "for module in modules:\n"
        "    module.announce = said\n"
        "from ricochet.flows import cli\n"
        "from ricochet.flows.servers import kill_guard\n"
        "kill_guard.guard_children = lambda: None\n"
        "for line in sys.argv[1:]:\n"
        "    out = [] if line.split()[0] in ('backup', 'restore') else ['--out', 'out']\n"
        "    cli.main([*line.split(), *out])\n"
    )
    lines = ("calibrate x.wav", "simulate", "train density", "train energy", "nightly", "doctor")
    lines += (
        "study cup",
        "infer double-pendulum a",
        "infer --model a.xml a",
        "up",
        "validate shooting-balanced",
        "promote ball-table 1",
    )
    lines += ("rollback ball-table", "capture --session a", "calibrate x.wav --no-publish")
    lines += (
        "import x --ball a --surface b --microphones m.yaml",
        "listen",
        "list",
        "show ball-table",
    )
    lines += (
        "plan x --restitution-sd 1",
        "judge x.npz --simulator f.py",
        "export ball-table --to mujoco",
        "backup x",
        "restore x",
    )
    named = {line.split()[0] for line in lines}
    named |= {"devices", "completion", "worker", "cluster"}  # which ask or refuse at once
    assert named == {verb.words[0] for verb in verbs.all_verbs()}
    command = [sys.executable, "-c", code, *lines]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert found.stdout == "[]\n" * len(lines), found.stderr
