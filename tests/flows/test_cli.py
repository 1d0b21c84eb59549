"""The command line's contract: help with an example, one line and exit 2 for bad input."""

import argparse
import dataclasses
import json
import subprocess
import sys

import pytest

from ricochet.flows import cli
from ricochet.flows.command_line import verbs
from ricochet.flows.command_line.verb import Takes
from ricochet.flows.servers import kill_guard
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.air_hockey.studies import table_one
from ricochet.tasks.systems.bouncing_ball.studies import cup
from ricochet.tasks.systems.rigid_bodies.studies import box

WORDS = [" ".join(verb.words) for verb in verbs.all_verbs()]
SHARED = {
    Takes.SETTINGS: ("--params", "--set"),
    Takes.SEED: ("--seed",),
    Takes.OUT: ("--out",),
    Takes.NO_PUBLISH: ("--no-publish",),
    Takes.JSON: ("--json",),
}


@pytest.fixture(autouse=True)
def unguarded(monkeypatch):
    """Start no guard, which would outlive a test."""
    monkeypatch.setattr(kill_guard, "guard_children", lambda: None)


@pytest.fixture
def verb(monkeypatch):
    """Replace one verb's action and return a function that sets it."""

    def install(action):
        made = dataclasses.replace(verbs.all_verbs()[0], run=action)
        monkeypatch.setattr(cli, "all_verbs", lambda: (made,))

    return install


def test_a_folder_that_a_verb_made_and_left_empty_goes_again(verb, tmp_path):
    (tmp_path / "there").mkdir()

    def refuse(call):
        assert call.out.is_dir()
        raise BadInput("input", "nothing", "something")

    verb(refuse)
    for out in (tmp_path / "a" / "b", tmp_path / "there"):
        assert cli.main(["calibrate", "--out", str(out)]) == 2
    assert sorted(tmp_path.iterdir()) == [tmp_path / "there"]
    verb(lambda call: (call.out / "kept").touch())
    assert cli.main(["calibrate", "--out", str(tmp_path / "c")]) == 0
    assert (tmp_path / "c" / "kept").is_file()


def test_a_password_in_a_setting_reaches_no_verb(verb, tmp_path, capsys):
    begun = []
    verb(begun.append)
    setting = "search.storage=postgresql://lab:hidden@192.0.2.1/optuna"
    assert cli.main(["calibrate", "--set", setting, "--out", str(tmp_path)]) == 2
    assert begun == []
    said = capsys.readouterr().err
    assert "--set search.storage: found a password" in said and "hidden" not in said


def test_the_verbs_of_the_contract_are_there():
    promised = {"calibrate", "capture", "simulate", "train density", "nightly", "study cup", "up"}
    assert promised | {"validate", "promote", "rollback", "doctor"} <= set(WORDS)


@pytest.mark.parametrize("words", WORDS)
def test_every_verb_has_help_with_a_worked_example_that_its_parser_accepts(words, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([*words.split(), "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    examples = [line.strip() for line in shown.splitlines() if line.startswith("  ricochet ")]
    assert examples
    for example in examples:
        cli.build_parser().parse_args(example.split()[1:])
    (found,) = (verb for verb in verbs.all_verbs() if " ".join(verb.words) == words)
    for part, options in SHARED.items():
        offered = [line.split()[0] for line in shown.splitlines() if line.startswith("  --")]
        assert all((option in offered) == (part in found.takes) for option in options)
    assert "--quiet" in shown


@pytest.mark.parametrize("words", WORDS)
def test_results_go_to_a_folder_named_after_the_verb(words):
    needed = {"completion": ["bash"], "capture": ["--session", "a"]}
    needed |= {"promote": ["ball-table", "1"], "rollback": ["ball-table"]}
    needed |= {"validate": ["ball-table"], "backup": ["kept"], "restore": ["kept"]}
    needed |= {"show": ["ball-table"], "worker": ["rig"], "cluster worker": ["tls://a:1"]}
    needed["import"] = ["takes", "--ball", "a", "--surface", "b", "--microphones", "m.yaml"]
    needed |= {"validate": ["ball-table"], "plan": ["ball-table"]}
    needed["export"] = ["ball-table", "--to", "mujoco"]
    needed |= {"infer double-pendulum": ["run.csv"], "infer box": ["run.csv"]}
    needed["infer impacts"] = ["impacts.csv"]
    needed["infer model"] = ["--model", "arm.xml", "run.csv"]
    needed["judge"] = ["samples.npz", "--simulator", "simulator.py"]
    extra = needed.get(words, [])
    found = cli.build_parser().parse_args([*words.split(), *extra])
    assert str(found.out) == "artifacts/" + words.replace(" ", "/")


@pytest.mark.parametrize(
    "line",
    [
        "frobnicate",
        "calibrate --bogus",
        "calibrate --seed minus-one",
        "capture",
        "study nothing-such",
        "study",
        "study cup --shots 5",
        "study shooting --tosses 5",
        "simulate --no-publish",
        "rollback ball-table --no-publish",
        "nightly --no-publish",
        "doctor --seed 1",
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_two(line, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(line.split())
    assert end.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "simulate.dops=5"],
        ["--set", "simulate.drops=many"],
        ["--set", "nonsense"],
        ["--params", "absent.yaml"],
        ["--out", "/dev/null/x"],
    ],
)
def test_bad_input_is_one_line_with_what_was_found_and_expected(arguments, capsys, tmp_path):
    status = cli.main(["simulate", "--out", str(tmp_path), *arguments])
    said = capsys.readouterr()
    assert status == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "found" in said.err
    assert "expected" in said.err


def test_a_failure_is_one_line_and_exit_one(verb, capsys, tmp_path, monkeypatch):
    def fail(call):
        raise RuntimeError("the sensor\nis on fire")

    monkeypatch.delenv("RICOCHET_DEBUG", raising=False)
    verb(fail)
    assert cli.main(["calibrate", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "ricochet failed: RuntimeError: the sensor is on fire\n"


@pytest.mark.parametrize("signal", ["Abort", "Pause"])
def test_what_a_server_says_of_a_run_that_it_ends_is_one_line(verb, capsys, tmp_path, signal):
    """Prefect makes of it what is no `Exception`, with the server's own words."""
    import prefect.exceptions

    def work(call):
        raise getattr(prefect.exceptions, signal)("\x1b]0;a\x07\x1b[31m\r\nricochet: all is well")

    verb(work)
    assert cli.main(["calibrate", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.rstrip("\n").isprintable()
    assert said.startswith("Prefect's server: found") and "Traceback" not in said


def test_a_verb_that_is_cancelled_says_so_in_one_line(verb, capsys, tmp_path):
    from prefect._internal.concurrency.cancellation import CancelledError

    def work(call):
        raise CancelledError

    verb(work)
    assert cli.main(["calibrate", "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == "ricochet failed: cancelled before it was done\n"


def test_other_ends_of_a_process_are_its_own(verb, tmp_path):
    def work(call):
        raise SystemExit(7)

    verb(work)
    with pytest.raises(SystemExit, match="7"):
        cli.main(["calibrate", "--out", str(tmp_path / "out")])


def test_a_failure_shows_its_traceback_when_asked(verb, capsys, tmp_path, monkeypatch):
    def fail(call):
        raise RuntimeError("on fire")

    monkeypatch.setenv("RICOCHET_DEBUG", "1")
    verb(fail)
    assert cli.main(["calibrate", "--out", str(tmp_path)]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_full_disk_is_bad_input(verb, capsys, tmp_path):
    def fail(call):
        raise OSError(28, "No space left on device", "/data/x")

    verb(fail)
    assert cli.main(["calibrate", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("/data/x: found No space left on device, expected")


def test_bad_input_from_deep_below_keeps_its_one_line(verb, capsys, tmp_path):
    def fail(call):
        raise BadInput("take-0001.wav", "0 frames", "a\nrecording")

    verb(fail)
    assert cli.main(["calibrate", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "take-0001.wav: found 0 frames, expected a recording\n"


def test_simulate_writes_the_same_bytes_for_the_same_seed(tmp_path):
    for name in ("a", "b"):
        line = f"simulate --set simulate.drops=50 --seed 3 --out {tmp_path / name}"
        assert cli.main(line.split()) == 0
    for name in ("drops.npz", "result.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_study_receives_its_seed_and_reports_it(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(cup, "run", lambda request: told.append(request) or {"balls": {}})
    for seed in ("0", "3"):
        words = ["study", "cup", "--quick", "--seed", seed, "--out", str(tmp_path / seed)]
        assert cli.main(words) == 0
        assert json.loads((tmp_path / seed / "result.json").read_text())["seed"] == int(seed)
    assert [request.seed for request in told] == [0, 3]


def test_a_headline_may_lie_deeper_in_the_result(tmp_path, monkeypatch, capsys):
    """Of the box study: the rows of one of its motions, named by the last of the keys."""
    one = {"inside_90": 0.85, "both_orders": 1.0, "log_p_obs": -3.25, "cpu_s": 2.0}
    row = {**one, "median": {"sum_error_mm": 1.5, "weight_error_mm": 7.0, "sd_mm": 2.5}}
    other = {**row, "inside_90": 0.11}
    motions = {"ours": {"rows": {"stein_newton": row}}, "paper": {"rows": {"stein_newton": other}}}
    monkeypatch.setattr(box, "run", lambda request: {"motions": motions})
    assert cli.main(["study", "box", "--quick", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    heading, numbers = (
        next(line for line in said.splitlines() if word in line)
        for word in ("deviation, mm", "stein_newton")
    )
    assert heading.split()[0] == "rows"
    assert "0.85" in numbers and "2.5" in numbers and "0.11" not in said


def test_a_count_wins_over_a_quick_study(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(table_one, "run", lambda request: told.append(request) or {"rows": {}})
    words = ["study", "shooting", "--quick", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    assert cli.main([*words, "--shots", "25"]) == 0
    assert [request.count for request in told] == [None, 25]
    assert all(request.quick for request in told)


def test_help_imports_nothing_heavy():
    heavy = {"prefect", "mlflow", "dvc", "torch", "scipy", "matplotlib", "librosa", "numpy"}
    code = (
        f"import sys, ricochet.flows.cli as c; c.build_parser();print({heavy!r} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == "set()"


def test_every_option_is_explained():
    def actions(parser):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for below in action.choices.values():
                    yield from actions(below)
            else:
                yield action

    assert all(action.help for action in actions(cli.build_parser()))


@pytest.mark.parametrize("name", ["shooting-foo", "nonsense"])
def test_a_name_that_no_validation_knows_is_refused_before_anything_starts(name, capsys, tmp_path):
    assert cli.main(["validate", name, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert name in said and "expected" in said
    assert not (tmp_path / "out").exists()
