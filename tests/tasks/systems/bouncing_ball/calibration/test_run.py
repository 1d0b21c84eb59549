"""Pairs, keys and folders of a calibration; a stand-in does what happens inside a pair."""

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ricochet.hardware.microphones import interface
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.tasks.recordings import manifests
from ricochet.tasks.recordings.sessions import Session
from ricochet.tasks.storage import limits
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import report, run, targets
from ricochet.tasks.systems.bouncing_ball.calibration.targets import CalibrationRequest
from tests.tasks.recordings import small_sessions

RESULT = {
    "parameters": ["restitution"],
    "mean": [0.85],
    "covariance": [[1e-6]],
    "region_90": {"restitution": [0.848, 0.852]},
    "takes": {"used": 3, "rejected": []},
    "registered": None,
}


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    monkeypatch.setattr(targets, "code_digest", lambda module: "code")


@pytest.fixture
def asked(tmp_path):
    return CalibrationRequest(catalogue.load_settings(), tmp_path / "out")


def always(target, asked, result):
    return True


def write(folder, ball="ping-pong", *, seed=0):
    plan = Session(
        folder=folder,
        identity=folder.name,
        started_at=interface.now(),
        rig=interface.default_rig("simulated"),
        ball=ball,
        surface="table",
        drop_height=0.26,
    )
    noise = np.random.default_rng(seed).normal(scale=0.01, size=(3, 2000))
    small_sessions.write_session(plan, [noise], form="wav")
    return str(folder)


def stand_in(calls):
    def do(pair, asked):
        calls.append(pair.name)
        pair.folder.mkdir(parents=True, exist_ok=True)
        details = {"key": targets.key(pair, asked), "recordings": pair.digest}
        (pair.folder / "details.json").write_text(json.dumps(details))
        (pair.folder / "package").mkdir(exist_ok=True)
        return RESULT

    return do


def test_sessions_of_one_pair_are_taken_together_and_pairs_apart(tmp_path):
    folders = [
        write(tmp_path / "a"),
        write(tmp_path / "b", "tennis"),
        write(tmp_path / "c", seed=1),
    ]
    found = targets.targets(folders, tmp_path / "out")
    assert {pair.name: [s.name for s in pair.sources] for pair in found} == {
        "ping-pong-table": ["a", "c"],
        "tennis-table": ["b"],
    }
    assert [pair.folder.name for pair in found] == ["ping-pong-table", "tennis-table"]


def test_a_single_pair_writes_into_the_folder_itself(tmp_path):
    (pair,) = targets.targets([write(tmp_path / "a")], tmp_path / "out")
    assert pair.folder == tmp_path / "out"


def test_the_digest_ignores_the_order_of_sessions_and_sees_their_content(tmp_path):
    a, b = write(tmp_path / "a"), write(tmp_path / "b", seed=1)
    digests = [targets.targets(named, tmp_path)[0].digest for named in ([a, b], [b, a], [a])]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("harm", ["flip", "remove"])
def test_a_take_that_changed_since_is_detected_again(tmp_path, asked, harm):
    folder, calls = write(tmp_path / "a"), []
    run.run([folder], asked, do=stand_in(calls))
    take = sorted((tmp_path / "a").glob("take-*"))[0]
    content = bytearray(take.read_bytes())
    take.unlink()
    if harm == "flip":
        content[len(content) // 2] ^= 1
        take.write_bytes(content)
    assert run.unchanged([folder], asked) is None
    run.run([folder], asked, do=stand_in(calls))
    assert calls == ["ping-pong-table"] * 2


def test_a_second_run_does_nothing_and_says_so(tmp_path, asked):
    folders, calls = [write(tmp_path / "a"), write(tmp_path / "b", "tennis")], []
    first = run.run(folders, asked, do=stand_in(calls))
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    second = run.run(folders, asked, do=stand_in(calls))
    assert calls == ["ping-pong-table", "tennis-table"]
    assert before == {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert [entry["unchanged"] for entry in first.values()] == [False, False]
    assert [entry["unchanged"] for entry in second.values()] == [True, True]
    assert "unchanged, skipped" in report.lines(second, asked.out)[0]
    assert run.unchanged(folders, asked) == second


def test_earlier_results_that_are_too_large_together_are_refused(tmp_path, asked, monkeypatch):
    """Fourteen of 16 MB each took a gigabyte: they are held at once."""
    folders = [write(tmp_path / "a"), write(tmp_path / "b", "tennis")]
    run.run(folders, asked, do=stand_in([]))
    size = sum(path.stat().st_size for path in (tmp_path / "out").glob("*/result.json"))
    monkeypatch.setattr(limits, "TEXT", size - 1)
    with pytest.raises(BadInput, match=f"earlier results of {size} bytes"):
        run.run(folders, asked, do=stand_in([]))
    with pytest.raises(BadInput, match=f"earlier results of {size} bytes"):
        run.unchanged(folders, asked)


def test_several_pairs_leave_an_index(tmp_path, asked):
    folders = [write(tmp_path / "a"), write(tmp_path / "b", "tennis")]
    run.run(folders, asked, do=stand_in([]))
    index = json.loads((tmp_path / "out" / "result.json").read_text())
    assert index["pairs"]["tennis-table"] == "tennis-table/result.json"
    assert (tmp_path / "out" / index["pairs"]["tennis-table"]).exists()
    (tmp_path / "out" / "result.json").write_text("{}")  # as one pair alone, in this folder, does
    assert run.unchanged(folders, asked) is not None
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == index


def test_a_clip_leaves_index_and_results_of_others_alone(tmp_path, asked):
    folders = [write(tmp_path / "a"), write(tmp_path / "b", "tennis")]
    run.run(folders, asked, do=stand_in([]))
    before = {p: p.read_bytes() for p in asked.out.glob("*-table/*") if p.is_file()}
    clip = tmp_path / "clip.wav"
    clip.write_bytes(b"a bounce")
    run.run([str(clip)], asked, do=stand_in([]))
    pairs = json.loads((asked.out / "result.json").read_text())["pairs"]
    assert list(pairs) == ["clip", "ping-pong-table", "tennis-table"]
    assert all((asked.out / path).is_file() for path in pairs.values())
    assert before == {p: p.read_bytes() for p in asked.out.glob("*-table/*") if p.is_file()}


def test_one_session_leaves_the_results_of_other_pairs_alone(tmp_path, asked):
    folders = [write(tmp_path / "a"), write(tmp_path / "b", "tennis")]
    run.run(folders, asked, do=stand_in([]))
    run.run([write(tmp_path / "c", seed=5)], asked, do=stand_in([]))
    index = json.loads((asked.out / "result.json").read_text())
    assert list(index["pairs"]) == ["ping-pong-table", "tennis-table"]


def test_clips_of_one_name_have_a_folder_each(tmp_path, asked, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    asked = dataclasses.replace(asked, out=tmp_path / "calibrate")
    clips = [tmp_path / "a" / "clip.wav", tmp_path / "b" / "clip.wav"]
    for clip in clips:
        clip.parent.mkdir()
        clip.write_text(str(clip))
    found = [run.run([str(clip)], asked, do=stand_in([]))["clip"]["folder"] for clip in clips * 2]
    assert found[0] == str(asked.out / "clip") == found[2] and found[1] == found[3] != found[0]
    index = json.loads((asked.out / "result.json").read_text())["pairs"]
    assert index == {Path(path).name: f"{Path(path).name}/result.json" for path in found}


def test_a_pair_of_a_clips_name_leaves_the_clip_its_result(tmp_path, asked, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    asked = dataclasses.replace(asked, out=tmp_path / "calibrate")
    clip = tmp_path / "ping-pong-table.wav"
    clip.write_text("sound")

    def do(target, asked):
        stand_in([])(target, asked)
        if target.bare:
            details = json.loads((target.folder / "details.json").read_text())
            (target.folder / "details.json").write_text(json.dumps(details | {"channels": 1}))
            (target.folder / "bounces.csv").write_text("kept")
        return RESULT

    session = write(tmp_path / "a")
    for _ in range(2):  # the second time nothing moves
        run.run([str(clip)], asked, do=do)
        run.run([session], asked, do=do)
    digest = run.targets([str(clip)], asked.out)[0].digest
    moved = asked.out / f"ping-pong-table-{digest[:8]}"
    assert (moved / "bounces.csv").read_text() == "kept"
    assert not (asked.out / "ping-pong-table" / "bounces.csv").exists()
    index = json.loads((asked.out / "result.json").read_text())["pairs"]
    assert set(index) == {"ping-pong-table", moved.name}
    assert all((asked.out / path).is_file() for path in index.values())


def test_an_index_leaves_out_what_is_gone_or_outside(tmp_path, asked):
    index = {name: f"{name}/result.json" for name in ("gone", "..", "/etc/passwd")}
    index["odd"] = "../odd/result.json"
    asked.out.mkdir()
    written = {"schema": "ricochet.calibration-index/1", "pairs": index}
    (asked.out / "result.json").write_text(json.dumps(written))
    run.run([write(tmp_path / "a")], asked, do=stand_in([]))
    assert list(json.loads((asked.out / "result.json").read_text())["pairs"]) == ["ping-pong-table"]


@pytest.mark.parametrize(
    ("used", "aside", "kept"), [(10, 9, False), (10, 10, True), (3, 9, True), (0, 1, True)]
)
def test_what_rests_on_half_of_its_takes_is_withheld_unless_it_is_asked_for(
    asked, used, aside, kept
):
    takes = {"used": used, "rejected": [{"file": "x", "reason": "y"}] * aside}
    reason = run.withheld({"takes": takes}, asked)
    assert (reason is not None) == kept
    if kept:
        assert f"{aside} of {used + aside} takes" in reason and "--anyway" in reason
    assert run.withheld({"takes": takes}, dataclasses.replace(asked, anyway=True)) is None


def test_what_is_withheld_is_settled_until_it_is_registered_anyway(tmp_path, asked):
    def do(target, request):
        taken = {"used": 1, "rejected": [{"file": "x", "reason": "y"}] * 2}
        return {**stand_in([])(target, request), "takes": taken}

    folders = [write(tmp_path / "a")]
    run.run(folders, asked, do=do, registered=always)
    assert run.unchanged(folders, asked, registered=always) is not None
    anyway = dataclasses.replace(asked, anyway=True)
    assert run.unchanged(folders, anyway, registered=always) is None


def test_what_another_registry_holds_is_done_again_when_publishing(tmp_path, asked):
    """It was said to be registered, and never was."""
    folders, calls = [write(tmp_path / "a")], []
    named = {"name": "ping-pong-table", "version": "1"}

    def do(target, request):
        return {**stand_in(calls)(target, request), "registered": named}

    def never(target, request, result):
        assert (target.name, result["registered"]) == ("ping-pong-table", named)
        return False

    for registered in (always, never, always):
        entries = run.run(folders, asked, do=do, registered=registered)
        assert entries["ping-pong-table"]["unchanged"] == (len(calls) == 2 and registered is always)
    assert len(calls) == 2
    assert run.unchanged(folders, asked, registered=never) is None


def test_what_is_not_registered_is_done_again_when_publishing(tmp_path, asked):
    folders = [write(tmp_path / "a")]
    run.run(folders, asked, do=stand_in([]))
    assert run.unchanged(folders, asked) is not None
    assert run.unchanged(folders, asked, registered=always) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda asked, monkeypatch: dataclasses.replace(asked, seed=1),
        lambda asked, monkeypatch: dataclasses.replace(
            asked, settings=catalogue.load_settings(None, ["calibrate.fewest_takes=9"])
        ),
        lambda asked, monkeypatch: (
            monkeypatch.setattr(targets, "code_digest", lambda module: "other") or asked
        ),
    ],
    ids=["seed", "settings", "code"],
)
def test_whatever_decides_a_result_changes_its_key(tmp_path, asked, change, monkeypatch):
    (pair,) = targets.targets([write(tmp_path / "a")], tmp_path / "out")
    before = targets.key(pair, asked)
    assert targets.key(pair, change(asked, monkeypatch)) != before


def test_a_setting_of_another_verb_changes_no_key(tmp_path, asked):
    (pair,) = targets.targets([write(tmp_path / "a")], tmp_path / "out")
    other = dataclasses.replace(asked, settings=catalogue.load_settings(None, ["study.cases=7"]))
    assert targets.key(pair, other) == targets.key(pair, asked)


@pytest.mark.parametrize("content", ["", "{", '{"schema": "ricochet.session/9"}'])
def test_a_broken_session_is_bad_input(tmp_path, content):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / manifests.MANIFEST).write_text(content)
    with pytest.raises(BadInput, match=r"session\.json"):
        targets.targets([str(tmp_path / "a")], tmp_path / "out")


def test_a_recording_that_is_not_there_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match=r"absent\.wav: found nothing"):
        targets.targets([str(tmp_path / "absent.wav")], tmp_path / "out")


def test_the_report_names_what_was_set_aside_and_draws_ratios(tmp_path):
    rejected = [{"file": f"take-{n}.wav", "reason": "silent"} for n in range(5)]
    result = RESULT | {"takes": {"used": 1, "rejected": rejected}}
    times = np.cumsum([1.0, 0.5, 0.45, 0.42, 0.39]).tolist()
    drops = [{"times": times, "missing": []}]
    details = {"drops": drops, "findings": [{"sentence": "it drifts"}]}
    (tmp_path / "details.json").write_text(json.dumps(details))
    entry = {"result": result, "unchanged": False, "folder": str(tmp_path)}
    said = "\n".join(report.lines({"clip": entry}, Path("out")))
    assert "restitution 0.8500 +- 0.0010" in said
    assert "take-2.wav: silent" in said
    assert "and 2 more" in said
    assert "! it drifts" in said
    assert said.count("*") == 3


def test_the_report_of_a_clip_says_whose_air_was_assumed(tmp_path):
    (tmp_path / "details.json").write_text("{}")
    ball = {"ball": "ping-pong", "diameter": 0.04, "mass": 0.0027, "air_temperature": 20.0}
    entry = {"result": RESULT | {"object": ball}, "unchanged": False, "folder": str(tmp_path)}
    said = report.lines({"clip": entry}, Path("out"))
    assert "  air of a ping-pong ball of 40 mm and 2.7 g, at 20 degrees" in said
    assert report.assumed_air({"ball": "clip"}) is None


@pytest.mark.parametrize(("chance", "doubted"), [(0.74, True), (0.002, False)])
def test_the_report_of_a_clip_that_may_be_no_ball_says_so_before_its_number(
    tmp_path, chance, doubted
):
    weak = {"name": "weak", "sentence": "The evidence is weak.", "p_value": chance}
    details = {"ratios": [[0.9, 0.95], [0.94]], "findings": [weak]}
    (tmp_path / "details.json").write_text(json.dumps(details))
    entry = {"result": RESULT, "unchanged": False, "folder": str(tmp_path)}
    said = report.lines({"clip": entry}, Path("out"))
    assert said[1].startswith("  this is no ball with a chance of 74 %" if doubted else "  restit")
    assert ("  successive intervals shrink by the factor 0.940 (median)" in said) == doubted


@pytest.mark.parametrize(
    ("kind", "words"),
    [("grid", ""), ("family", ", with the draws of whole takes (kind family)")],
)
def test_the_report_says_which_kind_of_package_was_registered(tmp_path, kind, words):
    (tmp_path / "details.json").write_text(json.dumps({"package_kind": kind}))
    result = RESULT | {"registered": {"name": "ball-table", "version": "3"}}
    entry = {"result": result, "unchanged": False, "folder": str(tmp_path)}
    for candidates, alias in (
        ({"ball-table": "3"}, ", alias candidate"),
        ({"ball-table": "4"}, " (candidate is version 4)"),
        ({"ball-wood": "3"}, ""),
        (None, ""),
    ):
        said = report.lines({"pair": entry}, Path("out"), candidates)
        assert f"  registered as ball-table, version 3{alias}{words}" in said


WHOLE = {
    "stated": "whole_takes",
    "three_bounces": {"mean": [0.79, 3.1], "covariance": [[1e-8, 0.0], [0.0, 0.01]]},
    "members": {"linear": 1.0},
    "restitution": {
        "reference_speed": 2.0,
        "at_reference": {"mean": 0.85, "sd": 0.001},
        "band": [{"speed": 0.5, "mean": 0.87}, {"speed": 3.0, "mean": 0.83}],
    },
    "nuisances": {"log10_concentration": {"mean": 2.5, "sd": 0.2}},
}


def test_the_report_gives_the_answer_that_is_stated_first_and_then_the_other(tmp_path):
    (tmp_path / "details.json").write_text("{}")
    said = []
    for stated in ("whole_takes", "three_bounces"):
        result = RESULT | WHOLE | {"stated": stated}
        entry = {"result": result, "unchanged": False, "folder": str(tmp_path)}
        said.append(report.lines({"pair": entry}, Path("out"))[1:-2])
    whole, weak = said
    assert whole[0] == weak[0] and whole[0].startswith("  restitution 0.8500 +- 0.0010")
    assert "by whole takes" in whole[1] and "0.8700 at 0.5, 0.8300 at 3.0 m/s (linear" in whole[1]
    assert whole[3] == "    restitution 0.79000 +- 0.00010, log10_concentration 3.100 +- 0.100"
    assert "whole takes, which are weak" in weak[1]
    assert weak[2] == "    restitution 0.85000 +- 0.00100, log10_concentration 2.500 +- 0.200"


HEIGHT = {"session": "a", "height": 0.262, "height_sd": 0.002, "stated": None, "source": "takes"}
SOURCES = {
    "as stated": {"source": "stated", "stated": 0.262},
    "inferred from the takes, as none is stated": {},
    "inferred from the takes, which contradict the 0.3 m stated": {"stated": 0.3},
}


@pytest.mark.parametrize("words", SOURCES)
def test_the_report_says_where_the_height_of_release_comes_from(tmp_path, words):
    details, entry = tmp_path / "details.json", {"result": RESULT, "unchanged": False}
    entry["folder"] = str(tmp_path)
    details.write_text(json.dumps({"release": [HEIGHT | SOURCES[words]]}))
    said = report.lines({"pair": entry}, Path("out"))
    assert f"  height of release 0.262 +- 0.002 m, {words}" in said
    details.write_text(json.dumps({"release": [HEIGHT, HEIGHT | {"session": "b"}]}))
    said = "\n".join(report.lines({"pair": entry}, Path("out")))
    assert "height of release of a 0.262" in said and "height of release of b 0.262" in said


def test_a_session_named_twice_is_refused_since_it_would_count_twice(tmp_path):
    folder = write(tmp_path / "a")
    with pytest.raises(BadInput, match="each session once"):
        targets.targets([folder, f"{folder}/"], tmp_path / "out")


def test_a_copy_that_a_crash_left_half_made_is_no_session(tmp_path, monkeypatch):
    """Publishing copies under a hidden name first; it counted as the same session twice."""
    monkeypatch.setattr(targets, "DATA", tmp_path)
    shutil.copytree(write(tmp_path / "a"), tmp_path / ".a.partial")
    (pair,) = targets.targets([], tmp_path / "out")
    assert [path.name for path in pair.sources] == ["a"]


def test_recordings_whose_results_would_share_a_folder_are_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "clip.wav").write_bytes(name.encode())
    clips = [str(tmp_path / name / "clip.wav") for name in ("a", "b")]
    with pytest.raises(BadInput, match="two results named 'clip'"):
        targets.targets(clips, tmp_path / "out")


def test_another_network_in_the_same_place_makes_another_key(tmp_path, asked):
    (pair,) = targets.targets([write(tmp_path / "a")], asked.out)
    manifest = tmp_path / "posterior.json"
    keys = {targets.key(pair, asked)}
    for content in ("{}", "[]"):
        manifest.write_text(content)
        keys.add(targets.key(pair, dataclasses.replace(asked, density=tmp_path)))
    assert len(keys) == 3
    manifest.unlink()
    with pytest.raises(BadInput, match="a density's package"):
        targets.key(pair, dataclasses.replace(asked, density=tmp_path))


def test_the_ball_of_a_clip_is_part_of_its_key(tmp_path, asked):
    clip = tmp_path / "clip.wav"
    clip.write_bytes(b"sound")
    (target,) = targets.targets([str(clip)], tmp_path / "out")
    named = [dataclasses.replace(asked, ball=ball) for ball in (None, "tennis", "golf")]
    assert len({targets.key(target, each) for each in named}) == 3
    calls: list[str] = []
    for request in (named[1], named[1], named[2]):
        run.run([str(clip)], request, do=stand_in(calls))
    assert calls == ["clip", "clip"]


UNKNOWN_BALLS = {
    "moon": r"ball: found 'moon', expected one of tennis, ping-pong.*DIAMETER,MASS in m and kg",
    "Pingpong": r"did you mean 'ping-pong'\?",
    "0.016": "DIAMETER,MASS",
    "0.016,-1": "DIAMETER,MASS",
    "0.016,nan": "DIAMETER,MASS",
    "16,5.3": "found 16 m and 5.3 kg, expected a ball of at most 1 m and 20 kg",
    "0.9,0.001": r"found 0.00262 kg/m\^3, expected a ball of",
    "1,2,3": "DIAMETER,MASS",
}


def test_an_unknown_ball_is_refused_with_those_that_are_known(asked):
    for ball, words in UNKNOWN_BALLS.items():
        with pytest.raises(BadInput, match=words):
            targets.check_ball(["clip.wav"], dataclasses.replace(asked, ball=ball))


def test_a_ball_of_another_size_is_stated_by_it(asked):
    request = dataclasses.replace(asked, ball="0.016,0.0053")
    assert request.size == Size(0.016, 0.0053)
    stated = {"ball": "0.016,0.0053", "diameter": 0.016, "mass": 0.0053, "air_temperature": 20.0}
    assert report.assumed_air(stated) == "air of a ball of 16 mm and 5.3 g, at 20 degrees"


def test_a_session_states_its_own_ball(tmp_path, asked):
    request = dataclasses.replace(asked, ball="tennis")
    folder = write(tmp_path / "a")
    for sessions_given in ([folder], [], ["clip.wav", folder]):
        with pytest.raises(BadInput, match="--ball tennis: found session folders"):
            targets.check_ball(sessions_given, request)
        targets.check_ball(sessions_given, asked)
    targets.check_ball(["clip.wav"], request)


def test_metrics_are_the_known_numbers():
    found = run.metrics({**RESULT, "predictive_p_value": 0.4})
    assert found == {
        "restitution_mean": 0.85,
        "restitution_sd": pytest.approx(1e-3),
        "takes_used": 3.0,
        "takes_rejected": 0.0,
        "predictive_p_value": 0.4,
    }
    unknown = run.metrics({**RESULT, "unknown": ["restitution"], "predictive_p_value": None})
    assert unknown == {"takes_used": 3.0, "takes_rejected": 0.0}


def test_ratios_belong_to_the_bounce_between_their_intervals_and_gaps_are_named():
    """The third of six intervals has a missed bounce: neither side of it has a ratio."""
    times = np.cumsum([0.0, 0.5, 0.4, 0.6, 0.3, 0.24, 0.18]).tolist()
    _, *said = report.bars({"times": times, "missing": [2]})
    assert [line.split()[:2] for line in said if "*" in line] == [
        ["2", "0.8000"],
        ["5", "0.8000"],
        ["6", "0.7500"],
    ]
    assert said[1] == "          a bounce is missing between 0.90 and 1.50 s"
    assert report.bars({"times": times[:2], "missing": []}) == []
    assert report.bars({"times": times, "missing": []}, most=2)[-1] == "  and 3 more in bounces.csv"


def sound_file(folder, name, content=b"sound"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return str(folder / name)


def one_clip(calls):
    """Leave what decides whose result lies in a folder."""
    work = stand_in(calls)

    def do(target, request):
        if target.sources[0].read_bytes() == b"speech":
            raise BadInput(target.name, "no ball", "one")
        work(target, request)
        details = json.loads((target.folder / "details.json").read_text()) | {"channels": 1}
        (target.folder / "details.json").write_text(json.dumps(details))
        air = {} if request.ball is None else {"air_temperature": 20.0}
        ball = {"ball": request.ball or target.name, "surface": "unknown"} | air
        return RESULT | {"sessions": [target.sources[0].name], "object": ball}

    return do


def test_the_first_clip_in_a_folder_of_results_anywhere_has_a_folder_of_its_own(tmp_path):
    out = tmp_path / "elsewhere" / "artifacts" / "calibrate"
    for name in ("one.wav", "two.wav"):
        (target,) = targets.targets([sound_file(tmp_path, name)], out)
        assert target.folder == out / target.name


def test_a_folder_that_is_anothers_result_is_refused_and_its_own_is_done_again(tmp_path, asked):
    one, two = (sound_file(tmp_path, name) for name in ("one.wav", "two.wav"))
    calls: list[str] = []
    run.run([one], asked, do=one_clip(calls))
    before = (asked.out / "result.json").read_bytes()
    for given in ([two], [one, two]):
        with pytest.raises(BadInput, match=r"found the result of one\.wav.*another --out"):
            run.run(given, asked, do=one_clip(calls))
    assert (asked.out / "result.json").read_bytes() == before
    sound_file(tmp_path, "one.wav", b"recorded again")
    run.run([one], asked, do=one_clip(calls))
    assert calls == ["one", "one"]


def test_a_second_pair_finds_room_where_the_first_night_had_one(tmp_path, asked):
    """Nights after the first one of another surface could never calibrate."""
    one, two = write(tmp_path / "a"), write(tmp_path / "b", "tennis")
    calls: list[str] = []
    asked = dataclasses.replace(asked, out=tmp_path / "nightly" / "calibrate")
    run.run([one], asked, do=stand_in(calls))
    assert (asked.out / "ping-pong-table" / "result.json").exists()
    results = run.run([one, two], asked, do=stand_in(calls))
    assert calls == ["ping-pong-table", "tennis-table"]
    assert results["ping-pong-table"]["unchanged"]


def test_a_result_that_lay_in_the_folder_itself_is_moved_below_it(tmp_path, asked):
    one, two = write(tmp_path / "a"), write(tmp_path / "b", "tennis")
    calls: list[str] = []
    do = stand_in(calls)
    stated = {"object": {"ball": "ping-pong", "surface": "table"}}
    run.run([one], asked, do=lambda pair, asked: do(pair, asked) | stated)
    asked.out.rename(tmp_path / "calibrate")
    asked = dataclasses.replace(asked, out=tmp_path / "calibrate")
    results = run.run([one, two], asked, do=do)
    assert calls == ["ping-pong-table", "tennis-table"]
    assert results["ping-pong-table"]["unchanged"]
    left = {path.name for path in asked.out.iterdir()}
    assert left == {"ping-pong-table", "result.json", "tennis-table"}


def test_a_bad_clip_keeps_no_other_from_its_answer(tmp_path, asked):
    """The index then names those that have one; without a list the first one ends all."""
    clips = [sound_file(tmp_path, "bad.wav", b"speech"), sound_file(tmp_path, "good.wav")]
    refused: list[BadInput] = []
    results = run.run(clips, asked, do=one_clip([]), refused=refused)
    assert list(results) == ["good"] and ["bad" in str(each) for each in refused] == [True]
    index = json.loads((asked.out / "result.json").read_text())
    assert index["pairs"] == {"good": "good/result.json"}
    with pytest.raises(BadInput, match="no ball"):
        run.run(clips, asked, do=one_clip([]))


def test_what_an_answer_replaces_is_said(tmp_path, asked):
    clip, replaced = sound_file(tmp_path, "clip.wav"), []
    for ball in (None, "golf", "golf", "tennis"):
        request = dataclasses.replace(asked, ball=ball)
        replaced += [run.run([clip], request, do=one_clip([]))["clip"].get("replaces")]
    assert replaced == [None, "no ball named", None, "golf"]
    (tmp_path / "details.json").write_text("{}")
    entry = {"result": RESULT, "unchanged": False, "folder": str(tmp_path), "replaces": "golf"}
    said = report.lines({"clip": entry}, asked.out)
    assert "  replaces the earlier answer (golf)" in said


def test_what_a_clip_had_stays_where_it_cannot_be_used_and_no_folder_is_left(tmp_path, asked):
    clip = sound_file(tmp_path, "text.wav", b"no sound")
    (target,) = targets.targets([clip], asked.out)
    with pytest.raises(BadInput, match="expected"):
        run.calibrate_target(target, asked)
    assert not target.folder.exists()
    target.folder.mkdir(parents=True)
    (target.folder / "result.json").write_text("{}")
    with pytest.raises(BadInput, match="expected"):
        run.calibrate_target(target, asked)
    assert (target.folder / "result.json").exists()


def test_a_folder_of_clips_is_refused_with_how_they_are_named(tmp_path):
    sound_file(tmp_path / "clips", "a.m4a")
    with pytest.raises(BadInput, match=r"ricochet calibrate .*clips/\*\.m4a.*ricochet import"):
        targets.targets([str(tmp_path / "clips")], tmp_path / "out")
