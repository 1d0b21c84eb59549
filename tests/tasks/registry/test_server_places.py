"""Of each login a few searches run at a time, and one that waits for a place in vain asks again."""

import threading

import pytest
from flask import Flask
from mlflow.exceptions import MlflowException

from ricochet.tasks.registry import server_places
from ricochet.tasks.registry.server_methods import checked
from ricochet.tasks.registry.server_places import Places

APP = Flask("server")


class Store:
    """Searches until it is let go."""

    def __init__(self):
        self.begun, self.end = threading.Semaphore(0), threading.Event()

    def search(self, login):
        self.begun.release()
        assert self.end.wait(30.0)
        return login

    def search_all(self, login):
        return self.search(login)


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setenv("MLFLOW_AUTH_CONFIG_PATH", "somewhere")
    monkeypatch.setattr(server_places, "AT_A_TIME", 2)
    monkeypatch.setattr(server_places, "WAIT", 0.05)
    found, places = Store(), Places()
    for name in ("search", "search_all"):
        checked(found, name, lambda given: None, around=places.taken)
    return found


def asked(store, login, answers):
    with APP.test_request_context(auth=(login, "password")):
        try:
            answers.append(store.search_all(login))
        except MlflowException as error:
            answers.append(error.get_http_status_code())


def together(store, logins, answers):
    found = [threading.Thread(target=asked, args=(store, each, answers)) for each in logins]
    for thread in found:
        thread.start()
    return found


def test_a_third_search_of_a_login_is_postponed_and_another_login_s_is_not(store):
    answers = []
    threads = together(store, ["one", "one", "two"], answers)
    for _ in threads:
        assert store.begun.acquire(timeout=30.0)
    asked(store, "one", answers)
    assert answers == [429]
    store.end.set()
    for thread in threads:
        thread.join()
    assert sorted(map(str, answers)) == ["429", "one", "one", "two"]
    asked(store, "one", answers)
    assert answers[-1] == "one"


def test_where_nobody_is_asked_for_a_login_all_share_the_places(store, monkeypatch):
    monkeypatch.delenv("MLFLOW_AUTH_CONFIG_PATH")
    answers = []
    threads = together(store, ["one", "two"], answers)
    for _ in threads:
        assert store.begun.acquire(timeout=30.0)
    asked(store, "three", answers)
    store.end.set()
    for thread in threads:
        thread.join()
    assert answers[0] == 429


def test_a_search_that_fails_gives_its_place_up(store):
    def fail(login):
        raise ValueError(login)

    places = Places()
    store.search = fail
    checked(store, "search", lambda given: None, around=places.taken)
    for _ in range(5):
        with pytest.raises(ValueError):
            store.search("one")
