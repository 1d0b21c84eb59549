"""The numbers of the study of batting, from made-up trials whose answers are known."""

import numpy as np
import pytest

from ricochet.models.systems.batting.table import DISTANCES
from ricochet.tasks.systems.batting.studies import summary
from ricochet.tasks.systems.batting.studies.jobs import Done, decode, encode
from ricochet.tasks.systems.batting.studies.rows import TABLE_ONE


def done(passes: int) -> Done:
    return Done(passes=tuple([passes] * len(DISTANCES)), bats=3, looks=1, plan_ms=(2.0, 3.0, 4.0))


def test_passes_are_those_of_ten_trials_of_200_seconds():
    row = summary.row([done(2), done(4)], seconds=100.0)
    assert row["passes"]["0.10"] == 60.0
    low, high = row["interval"]["0.10"]
    assert 40.0 <= low <= 60.0 <= high <= 80.0
    assert row["plan_ms"] == {"mean": 2.0, "p99": 3.0, "largest": 4.0}
    assert row["update_ms"] is None


def test_a_ratio_is_that_of_totals_and_its_interval_holds_it():
    draw = np.random.default_rng(0)
    less = [done(int(n)) for n in draw.poisson(10, 40)]
    more = [done(int(n)) for n in draw.poisson(20, 40)]
    found = summary.paired(more, less)
    totals = [sum(each.passes[3] for each in row) for row in (more, less)]
    assert found["ratio"] == pytest.approx(totals[0] / totals[1], abs=1e-3)
    assert found["interval"][0] < found["ratio"] < found["interval"][1]
    assert found["p"] < 0.001
    assert summary.paired(less, more)["p"] > 0.9


def test_a_filter_is_counted():
    seen = ((0.1, 0.9, True), (0.2, 0.4, True), (2.0, 0.8, False), (0.3, 0.7, True))
    flights = [Done(update_ms=(1.0, 1.0, 1.0), error=e, shape=s, inside=i) for e, s, i in seen]
    row = summary.filter_row(flights)
    assert row["position_m"]["median"] == 0.25
    assert (row["shape"], row["lost"], row["coverage_90"]) == (0.75, 0.25, 0.75)


def answers(played: dict[str, list[Done]], flown: dict[str, list[Done]]) -> dict[str, dict]:
    found = summary.claims(played, flown)
    return {each["sentence"].removeprefix("shape is soon known: "): each for each in found}


def test_each_claim_is_answered():
    """Eight pairs that differ alike have p 1 / 256; the best open loop is compared five times."""
    played = {row: [done(counts[3])] * 8 for row, counts in TABLE_ONE.items()}
    played["ours"] = [done(60)] * 8
    flown = {"paper_200": [Done(soon=0.2)] * 20, "ours": [Done(soon=0.9)] * 20}
    found = {sentence.split(":")[0]: each for sentence, each in answers(played, flown).items()}
    assert len(found) == 7
    assert found["noise in the plan helps"]["holds"] is True
    assert found["E is the best open loop"]["holds"] is True
    assert found["nothing beats A"]["holds"] is False
    assert found["paper_200 is right in most flights after 2 s"]["holds"] is False
    assert found["ours is right in most flights after 2 s"]["holds"] is True
    assert all(0.0 < each["p"] <= 1.0 for each in found.values())


def test_what_trials_do_not_decide_stays_open():
    draw = np.random.default_rng(3)
    played = {row: [done(int(n)) for n in draw.poisson(5, 10)] for row in (*TABLE_ONE, "ours")}
    flown = {name: [Done(soon=0.9), Done(soon=0.1)] * 10 for name in ("paper_200", "ours")}
    found = answers(played, flown)
    open_ones = [each for each in found.values() if each["holds"] is None]
    # Of nine sentences, each decided by chance at most twice in 20.
    assert len(open_ones) >= 6
    for each in open_ones:
        assert each["p"] >= summary.CERTAIN


def test_one_trial_that_differs_from_all_is_seen_in_the_medians():
    more, less = [done(3)] * 9 + [done(300)], [done(1)] * 9 + [done(2)]
    found = summary.paired(more, less)
    assert found["medians"] == [3.0, 1.0] and found["won"] == 10
    assert found["ratio"] > 20.0


def test_a_journal_gives_back_what_it_was_given():
    before = Done((1,) * 9, 3, 2, (1.5, 2.0, 3.0), (0.5, 0.7, 0.8), 0.1, 0.9, True)
    assert decode(encode(before)) == before
