"""Answers of MLflow that come in pages, read to their end."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ricochet.models.core.bad_input import BadInput

MOST = 1_000_000
"""Entries of an answer; a server may have pages without end."""
LEAST = 100
"""As how many a page counts that has fewer."""
VERSIONS = 1000
"""Of a page: one has some thousand characters, and answers are bounded (`client_answers`)."""


def versions(client: Any, condition: str) -> Iterator[Any]:
    """Yield the versions that fit a condition of MLflow's, on all of its pages."""
    return every(partial(client.search_model_versions, condition, max_results=VERSIONS))


def every(search: Callable[..., Any]) -> Iterator[Any]:
    """Yield what a search finds on all of its pages.

    Args:
        search: A method of MLflow's client; takes the token of a page.

    Raises:
        BadInput: There are more than are believed.
    """
    token, count = None, 0
    while True:
        page = search(page_token=token)
        count += max(len(page), LEAST)
        if count > MOST:
            raise BadInput("MLflow's server", f"{count} entries", f"at most {MOST}")
        yield from page
        if not (token := page.token):
            return
