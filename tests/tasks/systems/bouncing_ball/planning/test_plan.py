"""A plan reads a calibration, tabulates what is expected and refuses what cannot be reached."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.planning import calibrated_ball, plan
from ricochet.tasks.systems.bouncing_ball.planning.plan import Wanted

PAPER = {
    "schema": "ricochet.calibration/1",
    "object": {"ball": "clay", "surface": "floor", "drop_height": 0.3},
    "mean": [0.8, 3.2],
}


def whole() -> dict:
    """A result of whole takes whose ball feels air and loses speed from take to take."""

    def known(middle: float) -> dict:
        return {"mean": middle, "sd": middle, "region_90": [middle / 2.0, middle * 2.0]}

    names = {
        "drag": 0.1, "tail_share": 0.02, "tail_ratio": 0.1, "scatter": 1e-3, "take_scatter": 4e-3,
        "release_speed": 0.1, "time_noise": 1.0, "place_noise": 1.0, "tangential_loss": 0.1,
        "slope": 0.01,
    }  # fmt: skip
    members = {"linear": 0.9, "linear without loss": 0.06, "constant": 0.04, "viscoelastic": 0.0}
    members |= dict.fromkeys(("constant without loss", "viscoelastic without loss"), 0.0)
    sized = {"diameter": 0.04, "mass": 0.0027}
    return PAPER | {
        "schema": "ricochet.calibration/2",
        "object": PAPER["object"] | sized,
        "stated": "whole_takes",
        "members": members,
        "nuisances": {name: known(middle) for name, middle in names.items()},
    }


def test_a_plan_starts_from_the_height_that_was_used_not_from_one_that_the_takes_refuted() -> None:
    assert calibrated_ball.of_result(PAPER, "here").height == 0.3
    release = [{"session": "a", "stated": 0.3, "height": 0.6, "source": "takes"}]
    assert calibrated_ball.of_result(PAPER | {"release": release}, "here").height == 0.6


@pytest.mark.parametrize("ball", ["/etc/clay", "../clay", "clay\x1b[2J", "c" * 300, ".clay"])
def test_a_ball_that_is_no_name_of_a_folder_is_refused(ball) -> None:
    named = PAPER | {"object": PAPER["object"] | {"ball": ball}}
    with pytest.raises(BadInput, match="is no name of a folder") as refused:
        calibrated_ball.of_result(named, "here")
    assert str(refused.value).isprintable()


def falling(job) -> tuple[float, float]:
    """Deviations that fall with the root, smaller from higher; a fourth microphone halves them."""
    root = 1.0 / np.sqrt(job.session.takes)
    better = 0.5 if len(job.rig.microphones.positions) == 4 else 1.0
    return 1e-3 * root * better, 0.4 * root * better * (0.3 / job.session.height) ** 0.1


@pytest.fixture
def planned():
    return calibrated_ball.of_result(PAPER, "here")


def made(planned, wanted, monkeypatch, law=falling):
    monkeypatch.setattr(plan, "_deviations", law)
    settings = catalogue.load_settings()
    return plan.make(planned, wanted, settings, sessions=2, seed=0, workers=1)


def test_rows_that_stay_unexplained_are_null_and_a_plan_of_nothing_else_is_refused(
    planned, monkeypatch
):
    def few(job) -> tuple[float, float]:
        lost = job.session.takes == plan.TRIED[0] and job.session.height < 0.3
        return (np.nan, np.nan) if lost else falling(job)

    found = made(planned, Wanted(0.001, None), monkeypatch, few).to_json()
    assert [None, None] in [row["sd"][str(plan.TRIED[0])] for row in found["rows"]]
    json.dumps(found, allow_nan=False)
    with pytest.raises(BadInput, match="no simulated session that is explained"):
        made(planned, Wanted(0.001, None), monkeypatch, lambda job: (np.nan, np.nan))


def test_the_paper_s_ball_is_what_three_bounces_know(planned):
    values = parameters.values(planned.ball.theta[None])
    assert (planned.name, planned.height) == ("clay-floor", 0.3)
    assert float(values.restitution[0]) == 0.8 and float(values.slope[0]) == 0.0
    assert planned.members[0] == "constant without loss or air"


def test_whole_takes_say_which_members_and_how_much_air():
    found = calibrated_ball.of_result(whole(), "here")
    values = parameters.values(found.ball.theta[None])
    assert found.members == ("linear", "linear without loss", "constant")
    assert float(values.drag[0]) == pytest.approx(0.1)
    assert float(values.slope[0]) == 0.01
    assert found.take_scatter == pytest.approx(0.8 * 4e-3)
    assert found.drag[1] < 0.2  # the ball's size was stated


def test_the_drag_of_a_size_that_the_result_does_not_state_is_that_of_its_interval():
    """A ball of the sports' rules: its size was known, and its result names no diameter."""
    found = calibrated_ball.of_result(whole() | {"object": PAPER["object"]}, "here")
    assert found.drag == pytest.approx((np.log(0.1), np.log(2.0) / 1.645))
    unknown = whole() | {"object": PAPER["object"]}
    unknown["members"] |= dict.fromkeys(
        (f"{law} without loss or air" for law in ("linear", "constant", "viscoelastic")), 0.0
    )
    found = calibrated_ball.of_result(unknown, "here")
    assert found.drag == parameters.UNKNOWN_DRAG


@pytest.mark.parametrize(
    "change, said",
    [
        ({"schema": "ricochet.set/1"}, "schema 'ricochet.set/1'"),
        ({"mean": [0.8]}, "cannot be read"),
        ({"nuisances": {}}, "cannot be read"),
        ({"object": {}}, "cannot be read"),
        ({"object": "a ball"}, "cannot be read"),
        ({"object": whole()["object"] | {"drop_height": 1e308}}, "a height of 1e+308 m"),
        ({"release": []}, "cannot be read"),
        ({"release": [{"height": -1.0}]}, "a height of -1 m"),
        ({"unknown": 5}, "something is unknown"),
        ({"unknown": ["log10_concentration"]}, "log10_concentration is unknown"),
    ],
)
def test_results_that_are_none_are_refused(change, said):
    with pytest.raises(BadInput) as refused:
        calibrated_ball.of_result(whole() | change, "there")
    assert said in str(refused.value) and str(refused.value).startswith("there")


def test_the_fewest_takes_and_then_the_fewest_microphones_are_recommended(planned, monkeypatch):
    found = made(planned, Wanted(None, 0.1), monkeypatch)
    assert [row.height for row in found.rows] == [0.10, 0.3, 0.50, 0.3]
    # 0.4 / sqrt(n) = 0.1 at 16 takes from 0.3 m; a fourth microphone needs a quarter of them
    assert [row.takes for row in found.rows] == [20, 16, 15, 5]
    assert len(found.best.microphones) == 4
    easy = made(planned, Wanted(0.1, None), monkeypatch)
    assert easy.best is easy.rows[0] and easy.best.takes == 5
    assert any("recommended: 5 takes from 0.10 m" in line for line in easy.lines())


def test_what_cannot_be_reached_is_refused_with_what_can(planned, monkeypatch):
    with pytest.raises(BadInput) as refused:
        made(planned, Wanted(1e-6, None), monkeypatch)
    assert "restitution 1e-06 (reached 3.5e-05)" in str(refused.value)  # 0.5e-3 / sqrt(200)


def test_the_ball_s_own_scatter_is_named_where_it_limits(monkeypatch):
    with pytest.raises(BadInput, match=r"varies by 0.0032 from take to take"):
        made(calibrated_ball.of_result(whole(), "here"), Wanted(1e-6, None), monkeypatch)


def test_sessions_that_nothing_explains_are_no_reason_to_recommend(planned, monkeypatch):
    def failing(job) -> tuple[float, float]:
        bad = job.session.height == 0.10
        return (np.nan, np.nan) if bad else falling(job)

    found = made(planned, Wanted(None, 0.1), monkeypatch, failing)
    assert found.rows[0].takes is None and found.best is not found.rows[0]


def test_two_microphones_and_rough_surfaces_are_refused(planned):
    settings = catalogue.load_settings(
        None, ["capture.microphones=[[0.0, 0.0, 0.1], [0.3, 0.0, 0.1]]"]
    )
    with pytest.raises(BadInput, match="three or more"):
        plan.make(planned, Wanted(0.1, None), settings, sessions=1, seed=0, workers=1)
    theta = planned.ball.theta.copy()
    theta[1] = 1.2
    rough = replace(planned, ball=replace(planned.ball, theta=theta))
    with pytest.raises(BadInput, match="too far from normal"):
        plan.make(
            rough, Wanted(0.1, None), catalogue.load_settings(), sessions=1, seed=0, workers=1
        )


def test_the_command_line_plans_from_a_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "result.json").write_text(json.dumps(PAPER))
    monkeypatch.setattr(plan, "_deviations", falling)
    monkeypatch.setattr(
        plan, "run_all", lambda work, jobs, workers, progress: [work(job) for job in jobs]
    )
    words = ["plan", str(tmp_path), "--concentration-sd", "0.1", "--out", str(tmp_path / "out")]
    assert cli.main(words) == 0
    assert "recommended: 5 takes" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "result.json").read_text())["schema"] == plan.SCHEMA


@pytest.mark.parametrize(
    "words, said",
    [
        (["--sessions", "1"], "nothing wanted"),
        (["--restitution-sd", "0.001"], "result.json: found No such file"),
    ],
)
def test_a_plan_without_a_wish_or_a_calibration_is_refused(tmp_path, capsys, words, said):
    assert cli.main(["plan", str(tmp_path), *words, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
