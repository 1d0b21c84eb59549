"""Drops recorded elsewhere: exported, imported, and the same session is there again."""

import json
import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
import yaml

from ricochet.flows import cli
from ricochet.flows.command_line import import_verb
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS
from ricochet.tasks.recordings import importing, sessions
from ricochet.tasks.storage import files
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import import_notes, recording_import
from ricochet.tasks.systems.bouncing_ball.calibration import detections, run
from ricochet.tasks.systems.bouncing_ball.calibration.targets import CalibrationRequest
from ricochet.tasks.systems.bouncing_ball.recording_import import ImportRequest
from tests.tasks.recordings import small_sessions

RIG = default_rig("bench")
SCENE = Scene(0.85, 3.5, 0.26, reverberation_time=0.0)
GOLF = COMMON_BALLS["golf"]
MICROPHONES = f"""
microphones: {[list(each.position) for each in RIG.microphones]}
temperature: {RIG.temperature}
survey_sd: 0.0015
"""


@pytest.fixture(scope="module")
def drops():
    """Two drops, in 16 bit."""
    recorder = SimulatedRig(RIG, SCENE, draw=np.random.default_rng(4))
    return [np.asarray(recorder.record(1.5).samples) for _ in range(2)]


@pytest.fixture(scope="module")
def heard():
    """What was detected in which samples by whom, for the whole file."""
    return {}


@pytest.fixture(autouse=True)
def once(monkeypatch, heard):
    """Detect the bounces of the same samples once: most of the time of an import."""
    detect = detections.sound.detect

    def kept(samples, microphones, **words):
        rig = (microphones.positions.tobytes(), repr(microphones), repr(words))
        key = (samples.tobytes(), *rig)
        if key not in heard:
            heard[key] = detect(samples, microphones, **words)
        return heard[key]

    monkeypatch.setattr(detections.sound, "detect", kept)


@pytest.fixture
def pictures():
    """Draw pictures; other tests only look at what they are of."""


@pytest.fixture(autouse=True)
def few_pictures(request):
    if "pictures" not in request.fixturenames:
        request.getfixturevalue("without_pictures")


@pytest.fixture
def asked(tmp_path, drops):
    """A request for a folder of both drops, as WAV and as FLAC."""
    folder = tmp_path / "takes"
    folder.mkdir()
    for name, samples in zip(("one.flac", "two.wav"), drops, strict=True):
        soundfile.write(folder / name, samples.T, RIG.sample_rate, subtype="PCM_16")
    (tmp_path / "mics.yaml").write_text(MICROPHONES)
    return ImportRequest((folder,), tmp_path / "mics.yaml", "golf", "concrete", 0.26)


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """Import into a folder of this test, away from the recordings of the checkout."""
    monkeypatch.setattr(recording_import, "DATA", tmp_path / "data")

    def run_it(request, out=tmp_path / "out"):
        out.mkdir(exist_ok=True)
        return recording_import.run(request, catalogue.load_settings(), out)

    return run_it


def contents(folder):
    return {
        path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def test_an_imported_session_is_the_captured_one_but_for_its_names(
    tmp_path, asked, drops, imported, pictures
):
    plan = small_sessions.plan(
        tmp_path / "captured",
        rig=RIG,
        ball="golf",
        surface="concrete",
        truth=None,
        **asdict(GOLF),
    )
    captured = small_sessions.write_session(plan, drops)
    result = imported(asked)
    found = sessions.read_session(Path(result["folder"]))
    assert (result["state"], result["takes"], result["used"]) == ("imported", 2, 2)
    same = {"folder": captured.folder, "identity": "captured", "takes": captured.takes}
    same |= {"started_at": captured.started_at, "rig": replace(found.rig, name="bench")}
    assert replace(found, **same) == captured
    for take, samples in zip(found.takes, drops, strict=True):
        assert np.array_equal(sessions.load_take(found.folder / take.file), samples)
    assert Path(result["picture"]).read_bytes().startswith(b"\x89PNG")
    assert not list(found.folder.glob("*.png"))


def test_sources_are_left_alone_and_a_second_import_changes_nothing(asked, imported):
    before = contents(asked.files[0])
    first = imported(asked)
    there = contents(first["folder"])
    second = imported(asked)
    assert second == first | {"state": "unchanged"}
    assert contents(first["folder"]) == there
    assert contents(asked.files[0]) == before


def test_a_name_that_holds_something_else_is_refused(asked, imported):
    imported(replace(asked, session="monday"))
    for other in (replace(asked, ball="steel"), replace(asked, release_height=0.3)):
        with pytest.raises(BadInput, match="another session of this name"):
            imported(replace(other, session="monday"))


def test_a_session_that_is_published_already_is_found_there(tmp_path, asked, imported):
    sealed = Path(imported(asked)["folder"])
    (tmp_path / "data").mkdir()
    shutil.move(sealed, tmp_path / "data")
    again = imported(asked)
    assert again["state"] == "unchanged"
    assert Path(again["folder"]) == tmp_path / "data" / sealed.name
    assert not sealed.exists()


def test_a_recording_of_two_drops_is_cut_between_them(tmp_path, asked, drops, imported):
    long = tmp_path / "long.wav"
    both = np.concatenate(drops, axis=1)
    soundfile.write(long, both.T, RIG.sample_rate, subtype="PCM_16")
    result = imported(replace(asked, files=(long,)))
    assert (result["takes"], result["used"]) == (2, 2)
    session = sessions.read_session(Path(result["folder"]))
    pieces = [sessions.load_take(session.folder / take.file) for take in session.takes]
    assert np.array_equal(np.concatenate(pieces, axis=1), both)
    # the cut lies after the last bounce of the first and before the first of the second
    assert drops[0].shape[1] - 0.5 * RIG.sample_rate < pieces[0].shape[1]
    assert pieces[0].shape[1] < drops[0].shape[1] + 0.3 * RIG.sample_rate


@pytest.mark.parametrize(("restitution", "used"), [(0.8, 2), (0.7, 1)])
def test_a_drop_of_another_ball_in_a_recording_is_said(
    tmp_path, asked, drops, imported, restitution, used
):
    """Whether it is left out, or is the one that is surely a ball's."""
    long = tmp_path / "long.wav"
    scene = Scene(restitution, 3.5, 0.26, reverberation_time=0.0)
    other = SimulatedRig(RIG, scene, draw=np.random.default_rng(5)).record(1.5)
    soundfile.write(long, np.concatenate([*drops, other.samples], axis=1).T, RIG.sample_rate)
    request = replace(asked, files=(long,))
    notes = imported(request)["notes"]
    assert notes[0] == f"long.wav: of 3 drops {used} are taken for the ball's: one ball at a time"
    assert imported(request)["notes"] == notes  # of what is there already


def spoilt(folder, change):
    for path in folder.iterdir():
        samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
        soundfile.write(path, change(samples), rate, subtype="PCM_16")


def dead(samples):
    return samples * [1.0, 0.0, 1.0] + 2e-4 * np.random.default_rng(0).normal(size=samples.shape)


FAULTS = {
    "channel 1 is dead": dead,
    "channels 1 and 2 are copies": lambda samples: samples[:, [0, 1, 1]] * [1.0, 1.0, 0.7],
    "channel 0: found clipped": lambda samples: np.clip(400.0 * samples, -1.0, 1.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_channels_that_cannot_be_what_is_stated_are_named_and_nothing_is_there(
    tmp_path, asked, imported, fault
):
    spoilt(asked.files[0], FAULTS[fault])
    with pytest.raises(BadInput, match=fault) as refused:
        imported(asked)
    assert "\n" not in str(refused.value) and ".golf" not in str(refused.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_channels_in_another_order_are_refused_by_name(tmp_path, asked, drops, imported):
    """Three microphones fit any arrivals: loudness tells, of five drops here."""
    recorder = SimulatedRig(RIG, SCENE, draw=np.random.default_rng(5))
    more = [np.asarray(recorder.record(1.5).samples) for _ in range(3)]
    for number, samples in enumerate((*drops, *more)):
        path = asked.files[0] / f"{number}.wav"
        soundfile.write(path, samples[[0, 2, 1]].T, RIG.sample_rate, subtype="PCM_16")
    files = tuple(asked.files[0].glob("[0-9].wav"))
    with pytest.raises(BadInput, match="channels 1 and 2 look swapped") as refused:
        imported(replace(asked, files=files))
    assert "mics.yaml" in str(refused.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_one_poor_take_is_set_aside_by_its_own_name(asked, imported):
    (poor,) = asked.files[0].glob("*.wav")
    samples, rate = soundfile.read(poor)
    soundfile.write(poor, samples[: int(0.2 * rate)], rate, subtype="PCM_16")
    result = imported(asked)
    assert result["used"] == 1
    assert [each["recording"] for each in result["rejected"]] == ["two.wav"]


def test_a_kill_leaves_no_session(tmp_path, asked, imported, monkeypatch):
    def die(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(recording_import.detections, "detect", die)
        with pytest.raises(KeyboardInterrupt):
            imported(asked)
    assert list((tmp_path / "out").iterdir()) == []
    assert imported(asked)["state"] == "imported"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"ball": "two words"}, "--ball"),
        ({"surface": "a/b"}, "--surface"),
        ({"session": "../up"}, "--session"),
        ({"release_height": 60.0}, "--release-height"),
        ({"temperature": 300.0}, "--temperature"),
        ({"diameter": 0.04}, "--mass"),
        ({"diameter": 42.0, "mass": 45.0}, "--mass|--diameter"),
    ],
)
def test_what_is_stated_is_checked_for_meaning_by_its_option(asked, imported, changes, fault):
    with pytest.raises(BadInput, match=f"^({fault}): found"):
        imported(replace(asked, **changes))


def test_centimetres_are_no_metres(asked, imported):
    stated = yaml.safe_load(MICROPHONES)
    stated["microphones"] = [[1e2 * x for x in place] for place in stated["microphones"]]
    stated["microphones"] = [[min(x, 49.0) for x in place] for place in stated["microphones"]]
    asked.microphones.write_text(yaml.safe_dump(stated))
    with pytest.raises(
        BadInput, match=r"m between \d and \d, expected at most 10 m: .*centimetres"
    ):
        imported(asked)


def test_a_copy_of_a_recording_would_count_twice(asked, imported):
    (first, *_) = sorted(asked.files[0].glob("*.wav"))
    shutil.copy(first, first.with_name("copy of it.wav"))
    with pytest.raises(BadInput, match=r"found the same sound as .*, expected each"):
        imported(asked)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"release_height": 2.6}, "--release-height 2.6: the bounces tell 0.26 m (in metres"),
        ({"release_height": None}, "no --release-height"),
        ({"ball": "marble"}, "the size of a ball 'marble' is not known: state --diameter"),
        (
            {"diameter": 0.0213, "mass": 0.0459},
            "a golf ball has 42.7 mm and 45.9 g",
        ),
        ({"ball": "Golf"}, "the size of a ball 'Golf' is not known: did you mean golf?"),
    ],
)
def test_what_a_calibration_would_say_late_is_said_at_once(asked, imported, changes, expected):
    [few] = imported(asked)["notes"]
    assert few.startswith("usable takes: 2; a calibration needs 3")
    result = imported(replace(asked, session="other", **changes))
    [said] = [sentence for sentence in result["notes"] if sentence != few]
    assert said.startswith(expected)
    assert f"  note: {said}" in recording_import.lines(result)


def test_a_microphone_below_the_surface_is_named(tmp_path):
    lower = [replace(RIG.microphones[1], position=(0.25, -0.3, -0.08))]
    rig = replace(RIG, microphones=(RIG.microphones[0], *lower, RIG.microphones[2]))
    assert import_notes._below(small_sessions.plan(tmp_path, rig=RIG)) == ""
    said = import_notes._below(small_sessions.plan(tmp_path, rig=rig))
    assert "below the surface, which is z = 0: channel 1;" in said


@pytest.mark.parametrize(
    ("put", "found"),
    [
        (os.mkfifo, "a pipe"),
        (lambda path: path.symlink_to("absent"), "a link that leads nowhere"),
    ],
)
def test_what_lies_in_place_of_a_recording_is_said(tmp_path, capsys, put, found):
    clip = tmp_path / "clip.wav"
    put(clip)
    with pytest.raises(BadInput, match=f"found {found}, expected a recording"):
        importing.find([clip])
    assert cli.main(["calibrate", str(clip), "--no-publish", "--out", str(tmp_path / "out")]) == 2
    assert f"clip.wav: found {found}, expected a recording" in capsys.readouterr().err


def test_what_cannot_be_imported_is_refused_before_a_server_is_started(asked, monkeypatch, capsys):
    def started(**_):
        raise AssertionError("servers were started for nothing")

    monkeypatch.setattr(import_verb, "prepare_servers", started)
    words = ["import", "nosuch", "--ball", "golf", "--surface", "concrete"]
    assert cli.main([*words, "--microphones", str(asked.microphones)]) == 2
    assert "nosuch: found nothing there, expected a recording" in capsys.readouterr().err


def test_a_survey_that_is_not_that_of_the_settings_is_handed_on(asked, imported):
    assert "survey_sd" not in imported(asked)["next"]
    asked.microphones.write_text(MICROPHONES.replace("0.0015", "0.004"))
    assert imported(asked)["next"].endswith("--set calibrate.survey_sd=0.004")


def test_the_verb_seals_without_publishing(tmp_path, asked, monkeypatch, capsys):
    monkeypatch.setattr(recording_import, "DATA", tmp_path / "data")
    words = ["import", asked.files[0], "--ball", "golf", "--surface", "concrete", "--no-publish"]
    words += ["--microphones", asked.microphones, "--release-height", "0.26", "--session", "a"]
    words += ["--out", tmp_path / "out"]
    assert cli.main([str(word) for word in words]) == 0
    said = capsys.readouterr().out
    assert "a: 2 takes, imported" in said and "usable 2, set aside 0" in said
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["schema"] == "ricochet.import/1" and result["published"] is None
    read = sessions.read_session(tmp_path / "out" / "a")
    assert (read.diameter, read.mass) == (GOLF.diameter, GOLF.mass)


@pytest.mark.proof
def test_an_imported_session_has_the_posterior_of_the_captured_one(tmp_path, imported, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    recorder = SimulatedRig(RIG, SCENE, draw=np.random.default_rng(4))
    drops = [np.asarray(recorder.record(1.5).samples) for _ in range(3)]
    size = asdict(GOLF)
    plan = small_sessions.plan(tmp_path / "a", rig=RIG, ball="golf", truth=None, **size)
    small_sessions.write_session(plan, drops)
    shutil.copytree(tmp_path / "a", tmp_path / "takes")
    (tmp_path / "mics.yaml").write_text(MICROPHONES)
    request = ImportRequest((tmp_path / "takes",), tmp_path / "mics.yaml", "golf", "table", 0.26)
    folder = imported(request)["folder"]
    small = ["density.simulations=500", "density.epochs=1", "density.hidden=8"]
    small += ["calibrate.check_sessions=1"]
    settings = catalogue.load_settings(overrides=small)
    digests = []
    for name in (tmp_path / "a", folder):
        out = tmp_path / f"calibrated-{len(digests)}"
        run.run([str(name)], CalibrationRequest(settings, out))
        digests.append(files.sha256(out / "samples.npz"))
    assert digests[0] == digests[1]
