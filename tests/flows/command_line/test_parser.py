"""The parser: help in groups, the version, and the nearest name for what is mistyped."""

import re
import shutil
import subprocess
from importlib import metadata

import pytest

from ricochet.flows import cli
from ricochet.flows.command_line import overview, verbs
from ricochet.tasks.systems import catalogue

VERBS = verbs.all_verbs()


def test_bare_ricochet_is_help_and_done(capsys):
    assert cli.main([]) == 0
    bare = capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0 and capsys.readouterr().out == bare
    assert max(map(len, bare.splitlines())) <= 100


def test_every_verb_stands_in_the_help_once_and_under_a_named_group():
    shown = overview.text(VERBS)
    for word in {verb.words[0] for verb in VERBS}:
        assert len(re.findall(rf"^  {word} ", shown, re.M)) == 1
    assert f"{overview.OTHERS}:" not in shown
    places = [shown.index(f"{group}:") for group in overview.GROUPS if f"{group}:" in shown]
    assert places == sorted(places)


def test_the_version_is_that_of_the_distribution_that_holds_the_package(capsys):
    (name, *_) = metadata.packages_distributions()["ricochet"]
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"ricochet {metadata.version(name)}\n"


def test_without_a_distribution_the_version_is_said_to_be_unknown(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "packages_distributions", dict)
    monkeypatch.setattr(metadata, "version", absent)
    assert overview.version().startswith("unknown")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("calibrat", "calibrate"),
        ("study cupp", "cup"),
        ("train densty", "density"),
        ("calibrate --sed 3", "--seed"),
        ("study ball-reality --session 5 --quik", "--quick"),
        ("--verson", "--version"),
        ("completion bsh", "bash"),
        ("devices --seconds 2,5", "2.5"),
        ("plan golf-wood --restitution-sd 0,001", "0.001"),
    ],
)
def test_what_is_mistyped_is_answered_with_what_was_meant(line, meant, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(line.split())
    said = capsys.readouterr()
    assert end.value.code == 2 and said.out == ""
    assert f"did you mean {meant}?" in said.err and said.err.count("\n") == 1


def test_what_is_near_nothing_is_answered_with_the_names(capsys):
    with pytest.raises(SystemExit):
        cli.main(["study", "zzz"])
    said = capsys.readouterr().err
    assert "did you mean" not in said
    assert all(study.name in said for study in catalogue.studies())


def test_a_setting_without_its_section_is_answered_with_the_sections_that_have_it(capsys, tmp_path):
    assert cli.main(["simulate", "--set", "time_sd=1", "--out", str(tmp_path)]) == 2
    assert "did you mean simulate.time_sd" in capsys.readouterr().err


@pytest.mark.parametrize("found", catalogue.studies(), ids=lambda study: study.name)
def test_a_study_has_a_help_of_its_own(found, capsys):
    with pytest.raises(SystemExit):
        cli.main(["study", found.name, "--help"])
    shown = capsys.readouterr().out
    assert found.summary.lower() in " ".join(shown.lower().split())
    options = {study.count[0] for study in catalogue.studies() if study.count}
    own = {found.count[0]} if found.count else set()
    assert {option for option in options if f"--{option} N" in shown} == own
    assert not any(other.name in shown for other in catalogue.studies() if other != found)
    assert "time: " in shown


@pytest.mark.parametrize(
    "line",
    [
        "infer --model arm.xml run.csv --rate 100",
        "infer --model=arm.xml run.csv --rate 100",
        "infer run.csv --rate 100 --model arm.xml",
        "infer model run.csv --model arm.xml --rate 100",
    ],
)
def test_an_option_that_one_verb_needs_stands_for_its_name(line):
    found = cli.build_parser().parse_args(line.split())
    assert found.verb_found.words == ("infer", "model")
    assert (str(found.model), [str(file) for file in found.files]) == ("arm.xml", ["run.csv"])


def test_the_help_of_a_group_shows_what_such_an_option_does(capsys):
    with pytest.raises(SystemExit):
        cli.main(["infer", "--help"])
    assert "ricochet infer --model FILE.xml run.csv" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("infer run.csv", "found 'run.csv'; expected one of double-pendulum, box, model"),
        ("infer double-pendulum run.csv --model a.xml", "found --model, which it does not take"),
        ("infer --model a.xml", "the following arguments are required: FILE"),
        ("infer model run.csv", "the following arguments are required: --model"),
        ("infer --modl a.xml run.csv", "expected one of double-pendulum, box, model"),
    ],
)
def test_what_is_left_out_is_said(line, words, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(line.split())
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_verbs_names_options_and_settings(shell, capsys):
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("calibrate", "ball-reality", "density", "sessions", "simulate.time_sd="):
        assert word in script


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("cal", "calibrate"),
        ("study ball-r", "ball-reality"),
        ("study ball-reality --sess", "--sessions"),
        ("simulate --set simulate.t", "simulate.time_sd="),
        ("rollback ping-pong-table --no", ""),
        ("show golf-", "golf-wood"),
        ("capture --session cli", ""),
        ("listen --name golf-", ""),
        ("calibrate clip.wav --ball te", "tennis"),
        ("calibrate cli", "clip.wav"),
        ("import clip.wav --microphones mi", "mics.yaml"),
    ],
)
def test_bash_completes_a_word_that_was_begun(typed, offered, capsys, tmp_path, monkeypatch):
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    monkeypatch.chdir(tmp_path)
    for name in ("clip.wav", "mics.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "artifacts" / "calibrate" / "golf-wood" / "package").mkdir(parents=True)
    (tmp_path / "artifacts" / "calibrate" / "golf-clip").mkdir()  # of a recording, not registered
    cli.main(["completion", "bash"])
    script = tmp_path / "complete.bash"
    script.write_text(
        capsys.readouterr().out
        + f"\nCOMP_WORDS=(ricochet {typed})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        + '_shtab_ricochet\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    found = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=20)
    assert found.stdout.split() == offered.split()
