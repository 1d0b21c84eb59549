"""Trials on the board: equal for equal seeds, logged, and a filter that knows it."""

import itertools
import json
from pathlib import Path

import pytest
from mcap.reader import make_reader

from ricochet.tasks.systems.batting.validation import play
from ricochet.tasks.systems.batting.validation.play import BoardJob
from tests.tasks.systems.batting import batters


def job(number: int = 0, **fields) -> BoardJob:
    return BoardJob(batters.batter(), 4, number, **{"seconds": 2.0, **fields})


@pytest.mark.proof
def test_a_trial_is_the_same_when_it_is_played_again_and_its_log_says_what_happened(
    tmp_path: Path,
) -> None:
    file = tmp_path / "trial.mcap"
    assert play.play(job(log=file)) == play.play(job())
    with file.open("rb") as stream:
        rows = [
            (channel.topic, message.log_time, json.loads(message.data))
            for _, channel, message in make_reader(stream).iter_messages()
        ]
    topics = [topic for topic, *_ in rows]
    assert {name: topics.count(name) for name in ("camera", "belief", "bat", "trial")} == {
        "camera": 40,
        "belief": 40,
        "bat": 100,
        "trial": 1,
    }
    angles = [row["angle"] for topic, _, row in rows if topic == "bat"]
    assert max(abs(b - a) for a, b in itertools.pairwise(angles)) <= 0.04 + 1e-9


def test_another_number_begins_elsewhere_and_another_row_alike() -> None:
    one, same, other = (
        play.rig_of(each, play.STREAM) for each in (job(0), job(0, row="B"), job(1))
    )
    assert (one.true_state() == same.true_state()).all()
    assert (one.reading() == same.reading()).all()
    assert not (one.true_state() == other.true_state()).all()


@pytest.mark.proof
@pytest.mark.slow
def test_a_filter_follows_the_board() -> None:
    """Six flights of 12 s: the centre is off by less than a metre in most."""
    flown = play.follow_flights(
        batters.batter(settings=batters.FilterSettings(20_000, 10_000, 40, 6_000)), 6, 1, workers=1
    )
    assert sum(each.error < 1.0 for each in flown) >= 4
