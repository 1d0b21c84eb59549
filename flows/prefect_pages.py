"""What Prefect's server lists, page by page, though it cannot answer for one entry of it.

Whoever starts flows may make an entry of megabytes, so pages are short; or one that the server
keeps and cannot write any more, so a page that fails is asked for in halves, down to that entry.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from prefect.exceptions import PrefectHTTPStatusError

PAGE, MOST = 10, 10_000
"""Entries of a page, and of all."""
MOST_UNREADABLE = 100
"""Entries that are passed over; a server that answers for none of more fails."""

Entry = TypeVar("Entry")


@dataclass
class Gaps:
    """What of a list was not read.

    Attributes:
        unreadable: Entries for which the server has no answer.
        more: Whether it has more entries than are read.
    """

    unreadable: int = 0
    more: bool = False

    def __str__(self) -> str:
        """Say it in a line, empty where all was read."""
        said = [f"{self.unreadable} of them the server cannot show"] if self.unreadable else []
        said += [f"no more than {MOST} of them are looked at"] if self.more else []
        return ", ".join(said)


def read(ask: Callable[[int, int], Sequence[Entry]], gaps: Gaps) -> Iterator[Entry]:
    """Yield the entries of a list.

    Args:
        ask: Returns a page, given how many entries it may have and the place of its first.
        gaps: Takes note of what is not read.

    Raises:
        PrefectHTTPStatusError: The server refuses, or answers for none of many entries.
    """
    for offset in range(0, MOST, PAGE):
        found = _page(ask, PAGE, offset, gaps)
        yield from (entry for entry in found if entry is not None)
        if len(found) < PAGE:
            return
    gaps.more = True


def _page(
    ask: Callable[[int, int], Sequence[Entry]], count: int, offset: int, gaps: Gaps
) -> list[Entry | None]:
    """Return a page, with None for each entry that cannot be read."""
    try:
        return list(ask(count, offset)[:count])
    except (PrefectHTTPStatusError, ValueError, RecursionError) as error:
        if isinstance(error, PrefectHTTPStatusError) and error.response.status_code < 500:
            raise
        if count == 1:
            gaps.unreadable += 1
            if gaps.unreadable > MOST_UNREADABLE:
                raise
            return [None]
    half = count // 2
    parts = (half, offset), (count - half, offset + half)
    return [entry for part in parts for entry in _page(ask, *part, gaps)]
