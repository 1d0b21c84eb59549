"""Takes as chains: cut at a missed bounce, outliers unused, sizes of balls read or refused."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import array_errors
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration
from ricochet.models.systems.bouncing_ball.calibration.release_height import SessionHeight
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import ChainAnswer
from ricochet.models.systems.bouncing_ball.chains import family
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.tasks.recordings import sessions
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import answers, chain_answers
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections, NamedTake
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.systems.bouncing_ball.studies import recorded_sessions
from ricochet.tasks.systems.bouncing_ball.studies.departed_sessions import Ball
from ricochet.tasks.systems.bouncing_ball.studies.recorded_sessions import RECORDED
from tests.tasks.recordings import small_sessions
from tests.tasks.systems.bouncing_ball.calibration import family_cases

ARRAY = default_rig("bench", sample_rate=44100).array()
STILL = np.zeros(17)
RULES = catalogue.load_settings()[Calibrate]


def detected(bounces: int) -> DetectedTake:
    """A take whose bounces were all found on a line."""
    times = 0.2 + np.cumsum(0.4 * 0.85 ** np.arange(bounces))
    places = np.column_stack((np.linspace(0.0, 0.1, bounces), np.full(bounces, 0.02)))
    errors = np.full((bounces, 3), 1e-5)
    return DetectedTake(
        times=times,
        time_sd=np.full(bounces, 3e-5),
        positions=places,
        covariances=np.tile(4e-6 * np.eye(2), (bounces, 1, 1)),
        outliers=np.zeros(bounces, dtype=bool),
        arrivals=np.tile(times[:, None] + 1e-3, 3),
        arrival_sd=errors,
        gains=np.zeros((bounces, 3)),
    )


def chain_of(take: DetectedTake, rules: Calibrate = RULES):
    return chain_answers._chain(take, ARRAY, rules, about=STILL)


def test_a_take_is_used_up_to_the_bounce_that_the_settings_say() -> None:
    assert len(chain_of(detected(9)).times) == RULES.whole_bounces == 6
    assert len(chain_of(detected(9), replace(RULES, whole_bounces=8)).times) == 8
    assert len(chain_of(detected(9), replace(RULES, whole_bounces=3)).times) == 3
    assert len(chain_of(detected(5)).times) == 5
    assert chain_of(detected(2)) is None


def without(take: DetectedTake, number: int) -> DetectedTake:
    """Return the take whose bounce of a number was missed."""
    columns = {
        name: np.delete(value, number, axis=0)
        for name, value in vars(take).items()
        if isinstance(value, np.ndarray)
    }
    return replace(take, **columns, missing=(number - 1,))


def test_a_missed_bounce_stands_in_the_chain_and_says_nothing() -> None:
    whole, lacking = chain_of(detected(9)), chain_of(without(detected(9), 2))
    seen = np.arange(6) != 2
    np.testing.assert_allclose(lacking.times[seen], whole.times[seen])
    assert np.isinf(lacking.time_sd[2]) and np.isinf(lacking.place_sd[2])
    # intervals shrink by 0.85 here: the guess is the bounce itself
    assert lacking.times[2] == pytest.approx(whole.times[2], abs=1e-9)


def test_no_chain_ends_with_a_missed_bounce() -> None:
    found = chain_of(without(detected(9), 5))
    assert len(found.times) == 5 and np.isfinite(found.time_sd).all()


def test_an_outlier_keeps_its_time_and_tells_no_place() -> None:
    plain = detected(6)
    outliers = np.arange(6) == 2
    places = np.where(outliers[:, None], np.nan, plain.positions)
    chain = chain_answers._chain(
        replace(plain, outliers=outliers, positions=places), ARRAY, RULES, about=np.zeros(17)
    )
    assert chain is not None
    assert np.isinf(chain.place_sd[2]) and np.isfinite(np.delete(chain.place_sd, 2)).all()
    assert np.isfinite(chain.places).all() and np.isfinite(chain.time_sd).all()


def two_sessions(first: int, second: int) -> Detections:
    """Detections of two sessions of one rig, with so many usable takes."""
    rig = default_rig("bench", sample_rate=44100)
    owners = [SimpleNamespace(identity=name, rig=rig, drop_height=0.26) for name in ("a", "b")]
    counts = zip(owners, (first, second), strict=True)
    takes = [
        NamedTake(f"{owner.identity}/{number}.wav", Path(), detected(6), ())
        for owner, count in counts
        for number in range(count)
    ]
    tolerances = SimpleNamespace(place_sd=RULES.survey_sd)
    return cast(Detections, SimpleNamespace(sessions=owners, takes=takes, tolerances=tolerances))


def heights(stated: float | None, told: float) -> Calibration:
    """The answer of three bounces, of which only the heights of two sessions are looked at."""
    refuted = 0.0 if stated is not None and abs(stated - told) > 0.02 else 1.0
    one = SessionHeight(
        stated, told if refuted == 0.0 else stated or told, 2e-3, told, 2e-3, refuted, 1.0
    )
    return cast(Calibration, SimpleNamespace(heights=(one, one)))


STATED = heights(0.26, 0.26)


def test_takes_come_from_all_sessions_and_stay_the_same_about_any_errors(monkeypatch) -> None:
    several = two_sessions(12, 3)
    chosen = chain_answers._usable(several, RULES)
    assert [each.file[0] for each in chosen] == ["a"] * 7 + ["b"] * 3
    assert len(chain_answers._usable(two_sessions(12, 30), RULES)) == RULES.whole_takes
    takes = chain_answers.takes_of(chosen, several, STATED, RULES)
    assert [take.session for take in takes] == [0] * 7 + [1] * 3
    usual = chain_answers._chain

    def lost(take, array, rules, *, about):  # no take can be located about errors
        return None if about.any() else usual(take, array, rules, about=about)

    monkeypatch.setattr(chain_answers, "_chain", lost)
    again = chain_answers.takes_of(chosen, several, STATED, RULES, about=np.ones((1, 17)))
    for one, other in zip(takes, again, strict=True):
        np.testing.assert_array_equal(one.places, other.places)


@pytest.mark.parametrize(
    ("stated", "told", "used"),
    [
        (0.26, 0.26, (0.26, RULES.release_sd)),
        (0.26, 0.27, (0.26, RULES.release_sd)),
        (0.26, 0.29, (0.29, 0.087)),
        (2.6, 0.26, (0.26, 0.078)),
        (0.026, 0.26, (0.26, 0.078)),
        (None, 0.3, (0.3, 2e-3)),
    ],
)
def test_of_a_height_that_the_takes_refute_nothing_is_kept(stated, told, used) -> None:
    several = two_sessions(1, 0)
    [take] = chain_answers.takes_of(several.takes, several, heights(stated, told), RULES)
    assert (take.height, take.height_sd) == pytest.approx(used)


def test_a_worse_survey_than_five_millimetres_reaches_the_stated_answer() -> None:
    usual, wide = (
        chain_of(detected(6), replace(RULES, survey_sd=sd)).distortion for sd in (1.5e-3, 15e-3)
    )
    array = array_errors.errors(3).names
    places = slice(len(SHARED), len(SHARED) + sum("microphone" in name for name in array))
    np.testing.assert_allclose(wide[..., places], 3.0 * usual[..., places], rtol=1e-6)
    np.testing.assert_allclose(wide[..., places.stop :], usual[..., places.stop :], rtol=1e-6)
    better = chain_of(detected(6), replace(RULES, survey_sd=0.2e-3)).distortion
    np.testing.assert_allclose(better, usual, rtol=1e-6)


def test_what_takes_share_is_stated_in_metres_of_the_survey() -> None:
    answer = replace(
        family_cases.answer(1),
        shared=np.ones((1, 17)),
        shared_covariance=0.25 * np.eye(17)[None],
        heights={0: (0.26, 0.02)},
    )
    for survey, expected in ((0.2e-3, 5e-3), (15e-3, 15e-3)):
        several = two_sessions(1, 0)
        several.tolerances.place_sd = survey
        [row] = chain_answers._shared(answer, several)
        assert row["microphone 1 z"]["mean"] == pytest.approx(expected)
        assert row["speed of sound"]["mean"] == pytest.approx(0.02)


def test_a_session_without_takes_that_are_explained_is_not_described() -> None:
    answer = replace(
        family_cases.answer(1),
        shared=np.ones((2, 17)),
        shared_covariance=np.tile(0.25 * np.eye(17), (2, 1, 1)),
        heights={1: (0.26, 0.02)},
    )
    [row] = chain_answers._shared(answer, two_sessions(1, 1))
    assert row["session"] == "b"
    assert row["height"] == {"mean": pytest.approx(0.02), "sd": pytest.approx(0.01)}


def paper(answer: ChainAnswer, *, off: tuple[float, float]) -> Calibration:
    """Three bounces' answer, as wide, so many deviations off."""
    pair = answer.family.pair
    mean = pair.mean(0) + np.array(off) * pair.std(0)
    return cast(Calibration, SimpleNamespace(mean=mean, covariance=np.diag(pair.var(0))))


def test_an_answer_of_three_bounces_far_from_that_of_whole_takes_is_contradicted() -> None:
    answer = family_cases.answer(1)
    # 5e-4 is the chance of 3.48 deviations
    assert chain_answers.contradiction(answer, paper(answer, off=(3.4, -3.4))) == ()
    [said] = chain_answers.contradiction(answer, paper(answer, off=(3.6, 0.0)), "air")
    assert said.name == "family" and said.sentence.endswith(": air")
    assert "restitution at 2 m/s" in said.sentence
    [said] = chain_answers.contradiction(answer, paper(answer, off=(0.0, -3.6)))
    assert "log10_concentration" in said.sentence
    weak = replace(answer, weak="few draws")
    assert chain_answers.contradiction(weak, paper(answer, off=(9.0, 9.0))) == ()


def size_of(folder, **size):
    plan = small_sessions.plan(folder, rig=default_rig("bench", sample_rate=44100))
    noise = np.random.default_rng(0).normal(scale=0.01, size=(3, 2000))
    small_sessions.write_session(plan, [noise], form="wav")
    path = folder / "session.json"
    content = json.loads(path.read_text())
    content["object"] |= size
    path.write_text(json.dumps(content))
    return sessions.read_session(folder)


def test_diameter_and_mass_of_a_session_are_what_the_air_is_computed_from(tmp_path) -> None:
    stated = size_of(tmp_path / "a", diameter=0.04, mass=0.0027)
    size = chain_answers.ball_of([stated]).size
    assert size is not None and (size.diameter, size.mass) == (0.04, 0.0027)
    assert chain_answers.ball_of([size_of(tmp_path / "b")]).size is None
    assert sessions.to_json(stated, ())["object"]["mass"] == 0.0027


@pytest.mark.parametrize(
    "size, expected",
    [
        ({"mass": 0.0027}, "object.diameter"),
        ({"diameter": 0.04}, "object.mass"),
        ({"diameter": -0.04, "mass": 0.0027}, "diameter"),
        ({"diameter": 0.04, "mass": 0.0}, "mass"),
        ({"diameter": 0.0027, "mass": 0.04}, "object.mass: found .* not exchanged"),
        ({"diameter": 0.5, "mass": 0.01}, "object.mass: found .* not exchanged"),
    ],
)
def test_a_size_that_contradicts_itself_is_refused(tmp_path, size, expected) -> None:
    with pytest.raises(BadInput, match=expected):
        size_of(tmp_path / "a", **size)


def test_sessions_of_balls_of_different_sizes_are_refused(tmp_path) -> None:
    one = size_of(tmp_path / "a", diameter=0.04, mass=0.0027)
    other = size_of(tmp_path / "b", diameter=0.067, mass=0.0577)
    with pytest.raises(BadInput, match="those of one ball"):
        chain_answers.ball_of([one, other])


@pytest.mark.proof
def test_a_height_stated_a_quarter_too_high_moves_no_answer(tmp_path) -> None:
    """As the finding says: that of the takes is used. It made restitution fall by 0.08 in 2 m/s."""
    rules = catalogue.load_settings()[Calibrate]
    ball, folder = Ball(0.85, 3.5), tmp_path / "session"
    recorded_sessions.record(RECORDED["recorded"], ball, folder, takes=6, seed=0)
    stated = json.loads((folder / "session.json").read_text())
    stated["object"]["drop_height"] *= 1.25
    (folder / "session.json").write_text(json.dumps(stated))
    found = answers.infer(answers.detect([folder], rules=rules), rules=rules, seed=0)
    assert found.chains is not None and found.found.heights[0].refuted
    for speed in (1.0, 2.0, found.chains.speeds[2]):
        at = found.chains.family.restitution(speed)
        assert abs(at.mean() - 0.85) < 4.0 * at.std() + 5e-4
    assert found.chains.speeds[2] == pytest.approx(np.sqrt(2.0 * 9.81 * 0.26), rel=0.01)


@pytest.mark.proof
@pytest.mark.slow
def test_the_result_states_every_member_and_all_that_takes_share(tmp_path) -> None:
    """Of the paper's ball, recorded by a rig in order."""
    rules = catalogue.load_settings()[Calibrate]
    ball = Ball(0.85, 3.5)
    recorded_sessions.record(RECORDED["recorded"], ball, tmp_path / "session", takes=6, seed=0)
    detected = answers.detect([tmp_path / "session"], rules=rules)
    found = answers.infer(detected, rules=rules, seed=0)
    chains = found.chains
    assert chains is not None
    # none is impossible, as one is whose search ended nowhere
    assert all(member.log_evidence > -1e6 for member in chains.family.members.values())
    three = chain_answers.summarised(found.found.samples) | {"predictive_p_value": 0.5}
    before = three | {"schema": "/1", "takes": {"used": 9}}
    content = chain_answers.content(chains, detected, before)
    assert content["takes"]["used"] == 9 and content["takes"]["whole_takes"]["used"] == 6
    assert content["schema"] == chain_answers.SCHEMA
    assert content["stated"] == "whole_takes" and content["three_bounces"] == three
    assert content["mean"][0] == pytest.approx(content["restitution"]["at_reference"]["mean"])
    weak = chain_answers.content(replace(chains, weak="few draws"), detected, three | {"takes": {}})
    assert weak["stated"] == "three_bounces" and weak["mean"] == three["mean"]
    assert content["members"][family.PAPER] > 0.1
    [shared] = content["shared"]
    array = array_errors.errors(len(detected.sessions[0].rig.microphones))
    assert list(shared) == ["session", *SHARED, *array.names]
    for name in (*SHARED, *array.names):
        # twenty numbers of a rig in order: one beyond four deviations in a thousand runs
        assert abs(shared[name]["mean"]) < 4.0 * shared[name]["sd"]
    assert shared["speed of sound"]["sd"] <= 0.021
    assert shared["microphone 0 x"]["sd"] <= 5.1e-3
