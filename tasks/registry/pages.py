"""Answers of MLflow that come in pages, read to their end."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ricochet.models.core.bad_input import BadInput, shown
from ricochet.tasks.registry import client_answers
from ricochet.tasks.registry.pointers import NUMBER

MOST = 1_000_000
"""Entries of an answer; a server may have pages without end."""
LARGEST = 2**28
"""Bytes of all pages together, where what they say is kept."""
LEAST = 100
"""As how many a page counts that has fewer."""
VERSIONS = 1000
"""Of a page: one has some thousand characters, and answers are bounded (`client_answers`)."""


def versions(client: Any, condition: str) -> Iterator[Any]:
    """Yield the versions that fit a condition of MLflow's, on all of its pages.

    Raises:
        BadInput: One of them is no number as MLflow gives them.
    """
    for found in every(partial(client.search_model_versions, condition, max_results=VERSIONS)):
        if not NUMBER.fullmatch(str(found.version)):
            raise BadInput("MLflow's server", f"version {shown(found.version)}", "a number from 1")
        yield found


def every(search: Callable[..., Any], *, largest: float = LARGEST) -> Iterator[Any]:
    """Yield what a search finds on all of its pages.

    Args:
        search: A method of MLflow's client; takes the token of a page.
        largest: Bytes that all pages may have, as they come from a server.

    Raises:
        BadInput: There are more than are believed.
    """
    token, count, size = None, 0, 0
    while True:
        before = client_answers.received()
        page = search(page_token=token)
        count += max(len(page), LEAST)
        size += client_answers.received() - before
        if count > MOST:
            raise BadInput("MLflow's server", f"{count} entries", f"at most {MOST}")
        if size > largest:
            raise BadInput("MLflow's server", f"{size} bytes of entries", f"at most {largest}")
        yield from page
        if not (token := page.token):
            return
