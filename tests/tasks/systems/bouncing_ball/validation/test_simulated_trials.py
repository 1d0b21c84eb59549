"""A posterior on the rig: paired tosses, cups, telemetry and pictures."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.balls import REAL_PING_PONG
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import contact_package, sample
from ricochet.tasks.systems.bouncing_ball.tracking import controllers
from ricochet.tasks.systems.bouncing_ball.validation import cups, simulated_trials, trials
from ricochet.tasks.validation.contenders import Contenders
from tests.oracles import telemetry_reader

TRUTH = np.array([0.72, 3.0])


def _draws(mean: np.ndarray, sd: tuple[float, float] = (3e-4, 0.06)) -> ContactDraws:
    theta = mean + np.random.default_rng(1).standard_normal((200, 2)) * sd
    return contact_draws.of_pairs(torch.from_numpy(theta))


def test_cups_are_predicted_by_the_truth_and_not_by_another_ball() -> None:
    ball = sample.TRUTHS["tennis-table"]
    places = cups.positions(60)
    theta = {"candidate": _draws(TRUTH), "champion": _draws(np.array([0.80, 3.0]))}
    inside = cups.predict(lambda seed: ball, theta, places, seed=3)
    # nearly all intervals hold: 60 at 0.9 or more, four standard deviations below is 45
    assert sum(inside["candidate"]) >= 45
    assert sum(inside["champion"]) < sum(inside["candidate"])


def test_places_of_the_cup_differ_and_lie_on_the_grid() -> None:
    places = cups.positions(40)
    assert places.shape == (40, 2) and len(np.unique(places, axis=0)) == 40


def test_roles_believe_what_their_packages_hold_of_either_kind(package) -> None:
    nature = REAL_PING_PONG.nature
    pairs = replace(package, arrays=package.arrays | {"samples": np.array([[0.8, 3.0]])})
    family = contact_package.with_contacts(pairs, nature)
    both = {"candidate": family, "champion": pairs}
    models = trials.ball_models(Contenders("ping-pong-table", dict.fromkeys(both, "1"), both))
    assert models["champion"].draws.plain and not models["candidate"].draws.plain
    torch.testing.assert_close(models["candidate"].draws.drag, nature.drag)
    speed = torch.tensor([0.5, 3.0], dtype=torch.float64)[:, None]
    torch.testing.assert_close(
        models["candidate"].draws.restitution(speed), nature.restitution(speed)
    )


@pytest.mark.proof
def test_both_roles_meet_the_same_tosses_and_leave_a_record(tmp_path) -> None:
    ball, loaded = sample.TRUTHS["tennis-table"], catalogue.load_settings()
    knowledge = controllers.fit_ball_model(_draws(TRUTH))
    known = {"candidate": knowledge, "champion": knowledge, "stay": knowledge}
    tracking = simulated_trials.run_tosses(
        lambda seed: ball, known, settings=loaded, seeds=(5, 6), folder=tmp_path
    )
    assert tracking.success["candidate"] == tracking.success["champion"]
    assert tracking.energy["candidate"] == pytest.approx(tracking.energy["champion"])
    assert tracking.energy["stay"] < 1e-12 < tracking.energy["candidate"]
    roles = ("candidate", "champion")
    one, other = (telemetry_reader.read(tmp_path / f"telemetry-{role}.mcap") for role in roles)
    assert [entry.channel for entry in one] == [entry.channel for entry in other]
    assert sum(entry.channel == "toss" for entry in one) == 2
    times = [entry.time for entry in one]
    assert times == sorted(times)
    for number in (1, 2):
        assert (tmp_path / f"toss-{number}.png").read_bytes().startswith(b"\x89PNG")
