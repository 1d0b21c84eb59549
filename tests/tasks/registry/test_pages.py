"""Answers that come in pages are read to their end, and no further than is believed."""

import contextlib
import itertools
import math

import pytest
from mlflow.store.entities import PagedList

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import pages, versions


def test_all_pages_are_read_in_their_order():
    answers = {None: PagedList([1, 2], "a"), "a": PagedList([], "b"), "b": PagedList([3], None)}
    assert list(pages.every(lambda page_token: answers[page_token])) == [1, 2, 3]


@pytest.mark.parametrize("length", [0, 1000, pages.MOST + 1])
def test_a_server_with_pages_without_end_is_refused(length):
    page = PagedList(range(length), "more")
    with pytest.raises(BadInput, match=r"found \d+ entries, expected at most"):
        sum(1 for _ in itertools.islice(pages.every(lambda page_token: page), 2 * pages.MOST))


@pytest.mark.parametrize(("largest", "most"), [(pages.LARGEST, 8), (math.inf, 100)])
def test_pages_that_are_kept_have_a_bound_together(monkeypatch, largest, most):
    read = []
    monkeypatch.setattr(pages.client_answers, "received", lambda: 2**25 * len(read))

    def search(page_token):
        read.append(page_token)
        return PagedList([0], "more" if len(read) < 100 else None)

    refused = pytest.raises(BadInput, match=r"found \d+ bytes of entries, expected at most")
    with refused if most < 100 else contextlib.nullcontext():
        list(pages.every(search, largest=largest))
    assert len(read) == most + (most < 100)


@pytest.mark.slow
def test_names_beyond_a_page_are_found(tracker):
    there = [f"paged-{number}" for number in range(120)]  # MLflow answers with 100 at once
    for name in there:
        tracker.client.create_registered_model(name)
    assert {*there} <= {*versions.names(tracker)}
    for name in there:
        tracker.client.delete_registered_model(name)
