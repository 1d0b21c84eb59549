"""Takes as chains: cut at a missed bounce, outliers unused, sizes of balls read or refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import array_errors
from ricochet.models.systems.bouncing_ball.chains import family
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.tasks.recordings import sessions
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import answers, chain_answers
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.systems.bouncing_ball.studies import recorded_sessions
from ricochet.tasks.systems.bouncing_ball.studies.recorded_sessions import RECORDED
from tests.tasks.recordings import small_sessions

ARRAY = default_rig("bench", sample_rate=44100).array()
STILL = np.zeros(17)


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


def chain_of(take: DetectedTake):
    return chain_answers._chain(take, ARRAY, 1.5e-3, about=STILL)


def test_a_take_is_used_up_to_its_sixth_bounce() -> None:
    assert len(chain_of(detected(9)).times) == 6
    assert len(chain_of(detected(5)).times) == 5
    assert chain_of(detected(2)) is None


def without(take: DetectedTake, number: int) -> DetectedTake:
    """Return the take whose bounce of a number was missed."""
    columns = {
        name: np.delete(getattr(take, name), number, axis=0)
        for name in vars(take) if name != "missing"
    }  # fmt: skip
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
        replace(plain, outliers=outliers, positions=places), ARRAY, 1.5e-3, about=np.zeros(17)
    )
    assert chain is not None
    assert np.isinf(chain.place_sd[2]) and np.isfinite(np.delete(chain.place_sd, 2)).all()
    assert np.isfinite(chain.places).all() and np.isfinite(chain.time_sd).all()


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


@pytest.mark.slow
def test_the_result_states_every_member_and_all_that_takes_share(tmp_path) -> None:
    """Of the paper's ball, recorded by a rig in order."""
    rules = catalogue.load_settings()[Calibrate]
    recorded_sessions.record(RECORDED["recorded"], tmp_path / "session", takes=6, seed=0)
    detected = answers.detect([tmp_path / "session"], rules=rules)
    chains = answers.infer(detected, rules=rules, seed=0).chains
    assert chains is not None
    # none is impossible, as one is whose search ended nowhere
    assert all(member.log_evidence > -1e6 for member in chains.family.members.values())
    content = chain_answers.content(chains, detected)
    assert content["members"][family.PAPER] > 0.1
    [shared] = content["shared"]
    array = array_errors.errors(len(detected.sessions[0].rig.microphones))
    assert list(shared) == ["session", *SHARED, *array.names]
    for name in (*SHARED, *array.names):
        # twenty numbers of a rig in order: one beyond four deviations in a thousand runs
        assert abs(shared[name]["mean"]) < 4.0 * shared[name]["sd"]
    assert shared["speed of sound"]["sd"] <= 0.021
    assert shared["microphone 0 x"]["sd"] <= 5.1e-3
