"""Places of a server that are given in turn, to each login as often as to any other."""

import asyncio
from collections import Counter


class Turns:
    """Places for requests, of which each login has some, and all logins together have some more.

    Who asks more gets no more than others who ask (start-time fair queueing, Goyal, Vin and Cheng
    1996): a request is the first of its login in a round to come, its next the first in the round
    after, and rounds are worked on one after another.
    """

    def __init__(self, each: int, every: float) -> None:
        """Make places that nobody holds.

        Args:
            each: Places that one login may hold.
            every: Places that all may hold.
        """
        self.each, self.every = each, every
        self.held: Counter[bytes] = Counter()
        self.waiting: dict[asyncio.Future[None], tuple[int, bytes]] = {}
        self._round = 0
        self._last: dict[bytes, int] = {}

    def ask(self, login: bytes) -> asyncio.Future[None]:
        """Return what is done once a place is held."""
        turn = asyncio.get_running_loop().create_future()
        self._last[login] = max(self._round, self._last.get(login, 0)) + 1
        self.waiting[turn] = self._last[login], login
        self._give()
        return turn

    def leave(self, login: bytes, turn: asyncio.Future[None]) -> None:
        """Give up a place, or the wait for one."""
        if self.waiting.pop(turn, None) is None:
            self.held[login] -= 1
            self.held += Counter()  # without logins that hold none
        self._give()

    def _give(self) -> None:
        while self.held.total() < self.every:
            able = [
                turn for turn, (_, login) in self.waiting.items() if self.held[login] < self.each
            ]
            if not able:
                break
            turn = min(able, key=lambda each: self.waiting[each][0])
            place, login = self.waiting.pop(turn)
            self._round = max(self._round, place)
            self.held[login] += 1
            turn.set_result(None)
        if not self.waiting:
            self._round = max(self._last.values(), default=self._round)
        self._last = {login: last for login, last in self._last.items() if last > self._round}
