"""Sessions by all their bounces: what is set aside, what is said, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.calibration import whole_chains
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import (
    Ball,
    ChainAnswer,
    Relocation,
)
from ricochet.models.systems.bouncing_ball.chains import (
    observations,
    posterior,
    shared_posterior,
)
from ricochet.models.systems.bouncing_ball.chains.log_density import Density
from ricochet.models.systems.bouncing_ball.chains.observations import TILT_SD, Take
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from tests.oracles import false_detections
from tests.oracles.simulated_chains import Case, session

TRUTH = np.array([0.85, 3.5])


def answered(takes: list[Take], about: Relocation | None = None) -> ChainAnswer:
    names = [f"take-{number:02d}" for number in range(len(takes))]
    first = TRUTH + np.array([0.003, -0.2])
    draw = np.random.default_rng(0)
    return whole_chains.infer(takes, names, first=first, ball=Ball(), about=about, draw=draw)


def off(answer: ChainAnswer) -> np.ndarray:
    return np.abs(answer.family.pair.mean(0) - TRUTH) / answer.family.pair.std(0)


@pytest.mark.proof
def test_a_session_of_the_model_is_answered_without_a_finding() -> None:
    answer = answered(session(Case(6, 6), 11))
    assert answer.findings == () and answer.weak == "" and answer.kept.all()
    assert (off(answer) < 3.3).all()


@pytest.mark.proof
def test_a_take_of_another_ball_is_set_aside_by_name() -> None:
    takes = session(Case(6, 6), 12)
    takes[3] = session(Case(1, 6, units={"restitution": 0.70}), 13)[0]
    answer = answered(takes)
    assert np.flatnonzero(~answer.kept).tolist() == [3]
    assert ("take-03",) in [finding.takes for finding in answer.findings]
    assert (off(answer) < 3.3).all()


@pytest.mark.proof
def test_false_detections_are_named_and_left_out_of_the_answer() -> None:
    """Two takes in five have one."""
    sound, draw = session(Case(5, 5), 16), np.random.default_rng(1)
    takes = list(sound)
    for number in (1, 4):
        takes[number], _ = false_detections.anywhere(sound[number], draw)
    answer = answered(takes, about=lambda _: takes)
    assert [finding.name for finding in answer.findings] == ["bounce", "bounce"]
    assert [finding.takes for finding in answer.findings] == [("take-01",), ("take-04",)]
    assert answer.kept.all() and (off(answer) < 3.3).all()
    [group] = answer.family.best.groups
    np.testing.assert_array_equal(group.chains.times, [take.times for take in sound])


@pytest.mark.proof
def test_a_tilted_table_is_found_and_does_no_harm() -> None:
    answer = answered(session(Case(6, 6, tilt=(0.03, 0.0)), 14))
    [finding] = [each for each in answer.findings if each.name == "tilt"]
    assert "degrees towards" in finding.sentence
    tilt, sd = (
        TILT_SD * answer.shared[0, 1],
        TILT_SD * np.sqrt(answer.shared_covariance[0, 1, 1]),
    )
    assert abs(tilt - 0.03) < 3.3 * sd < 0.03
    assert (off(answer) < 3.3).all()


@pytest.mark.proof
def test_a_height_that_is_stated_wrong_is_said_with_the_right_one() -> None:
    takes = session(Case(6, 6, stated=0.31), 15)
    answer = answered(takes)
    [finding] = [each for each in answer.findings if each.name == "height"]
    assert "not from 0.310 m" in finding.sentence
    fell = float(finding.sentence.split("fell from ")[1].split(" m")[0])
    assert fell == pytest.approx(0.26, abs=0.01)
    assert (off(answer) < 3.3).all()


def test_too_few_takes_are_refused() -> None:
    with pytest.raises(ValueError, match="need 5, found 4"):
        answered(session(Case(4, 4), 0))


def test_speeds_follow_the_heights_that_takes_tell() -> None:
    takes = session(Case(2, 4), 0)
    stated, found = {0: (0.26, 0.01)}, np.array([[2.0, 0.0, 0.0]])
    slow, fast, first = whole_chains._speeds(takes, np.zeros((1, 3)), stated)
    assert slow < first == fast == pytest.approx(np.sqrt(2 * 9.81 * 0.26), rel=1e-3)
    assert whole_chains._speeds(takes, found, stated)[1] == pytest.approx(np.exp(0.01) * fast)
    higher = {0: (4 * 0.26, 0.01)}
    assert whole_chains._speeds(takes, 0 * found, higher)[1] == pytest.approx(2 * fast)


def test_two_sessions_have_the_speeds_of_both() -> None:
    takes = session(Case(2, 4), 0)
    both = [takes[0], replace(takes[1], session=1)]
    heights = {0: (0.26, 0.01), 1: (4 * 0.26, 0.01)}
    _, fast, first = whole_chains._speeds(both, np.zeros((2, 3)), heights)
    assert fast == pytest.approx(np.sqrt(8 * 9.81 * 0.26), rel=1e-3)
    assert first == pytest.approx(0.75 * fast)


def test_no_search_that_runs_away_asks_for_an_absurd_array(monkeypatch) -> None:
    asked = []

    def about(shared: np.ndarray) -> list[Take]:
        asked.append(np.abs(shared).max())
        return takes

    takes = session(Case(5, 4), 1)
    prior = Prior()
    member = posterior.at_point(observations.grouped(takes), prior, prior.centre)
    density = Density(member.groups, member.paths, prior, prior.centre)
    far = np.full((1, 3), 40.0)
    monkeypatch.setattr(shared_posterior, "most_likely", lambda *_: -far)
    whole_chains._relocated(about, np.ones(5, dtype=bool), density, far)
    assert asked == [8.0, 8.0]
