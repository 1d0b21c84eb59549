"""What `ricochet up` does beside its servers keeps neither their start nor their end waiting."""

import threading

import pytest

from ricochet.flows.servers import upkeep
from ricochet.tasks.upkeep_settings import Keep
from tests.flows.harness import wait_for

KEPT = {"flow_runs": 1.0, "runs": 1.0, "log_size": 10**6, "logs": 1}


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Upkeep whose search for dead runs ends when the event is set."""
    ended = threading.Event()
    monkeypatch.setattr(upkeep, "settle", lambda _: ended.wait(60))
    care = upkeep.Upkeep(tmp_path, {}, Keep(**KEPT))
    yield care, ended
    ended.set()
    care.end()


def test_the_first_search_is_waited_for(begun):
    care, ended = begun
    threading.Timer(0.3, ended.set).start()
    care.search_first(lambda: True)
    assert ended.is_set() and not care.searching


@pytest.mark.parametrize(("longest", "runs"), [(0.3, True), (60.0, False)])
def test_it_is_not_waited_for_long_nor_where_a_server_ended(begun, monkeypatch, longest, runs):
    """`up` did not see that its server was killed, and was not ready for minutes."""
    monkeypatch.setattr(upkeep, "FIRST", longest)
    care, _ = begun
    care.search_first(lambda: runs)
    assert care.searching
    care.settled = -1e9
    care.tick()
    assert care.settled == -1e9


def test_all_searches_are_those_of_one_thread(tmp_path, monkeypatch):
    """Each thread of its own left a heap: `up` grew with the nights."""
    found = []
    monkeypatch.setattr(upkeep, "settle", lambda _: found.append(threading.get_ident()))
    care = upkeep.Upkeep(tmp_path, {}, Keep(**KEPT))
    for number in range(1, 4):
        care.settled = -1e9
        care.tick()
        wait_for(lambda number=number: len(found) == number and not care.searching, seconds=60.0)
    care.end()
    assert len({*found}) == 1
