"""A list is read whole but for entries that the server cannot show, in short pages."""

import httpx
import pytest
from prefect.exceptions import PrefectHTTPStatusError

from ricochet.flows import prefect_pages
from ricochet.flows.prefect_pages import MOST, PAGE, Gaps


def failure(status):
    request = httpx.Request("POST", "http://localhost")
    response = httpx.Response(status, request=request)
    return PrefectHTTPStatusError("no", request=request, response=response)


class Listed:
    """A server's list, some entries of which it cannot show."""

    def __init__(self, count, hidden=(), error=None):
        self.entries, self.hidden, self.largest = range(count), set(hidden), 0
        self.error = error or failure(500)

    def __call__(self, count, offset):
        self.largest = max(self.largest, count)
        found = self.entries[offset : offset + count]
        if self.hidden & set(found):
            raise self.error
        return found


@pytest.mark.parametrize("count", [0, 1, PAGE - 1, PAGE, 3 * PAGE + 1])
@pytest.mark.parametrize("error", [failure(500), ValueError("no JSON"), RecursionError()])
def test_all_that_can_be_shown_is_read_once(count, error):
    hidden = [place for place in (0, 4, PAGE, 3 * PAGE) if place < count]
    listed, gaps = Listed(count, hidden, error), Gaps()
    assert list(prefect_pages.read(listed, gaps)) == [
        place for place in range(count) if place not in hidden
    ]
    assert listed.largest == PAGE and gaps == Gaps(unreadable=len(hidden))
    assert bool(str(gaps)) == bool(hidden)


def test_a_list_without_end_is_left_and_that_is_said():
    gaps = Gaps()
    assert len(list(prefect_pages.read(Listed(MOST + 1), gaps))) == MOST
    assert str(gaps) == f"no more than {MOST} of them are looked at"


@pytest.mark.parametrize("error", [failure(401), httpx.ConnectError("gone")])
def test_a_server_that_refuses_or_is_gone_is_not_asked_again(error):
    with pytest.raises(type(error)):
        list(prefect_pages.read(Listed(5, [3], error), Gaps()))


def test_a_server_that_shows_nothing_fails():
    with pytest.raises(PrefectHTTPStatusError):
        list(prefect_pages.read(Listed(1000, range(1000)), Gaps()))
