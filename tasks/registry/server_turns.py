"""Places of a server that are given in turn: next to whoever holds fewest."""

import asyncio
from collections import Counter


class Turns:
    """Places for requests, of which each login has some, and all logins together have some more.

    Who asks more gets no more than others who ask: the next place is for the login that holds
    fewest, of equal ones for the one that was longest without a turn.
    """

    def __init__(self, each: int, every: float) -> None:
        """Make places that nobody holds.

        Args:
            each: Places that one login may hold.
            every: Places that all may hold.
        """
        self.each, self.every = each, every
        self.held: Counter[bytes] = Counter()
        self.waiting: dict[asyncio.Future[None], bytes] = {}
        self._last: dict[bytes, int] = {}
        self._given = 0

    def ask(self, login: bytes) -> asyncio.Future[None]:
        """Return what is done once a place is held."""
        turn = asyncio.get_running_loop().create_future()
        self.waiting[turn] = login
        self._give()
        return turn

    def leave(self, login: bytes, turn: asyncio.Future[None]) -> None:
        """Give up a place, or the wait for one."""
        if self.waiting.pop(turn, None) is None:
            self.held[login] -= 1
            self.held += Counter()  # without logins that hold none
        if login not in self.held and login not in self.waiting.values():
            self._last.pop(login, None)
        self._give()

    def _give(self) -> None:
        while self.held.total() < self.every:
            able = [turn for turn, login in self.waiting.items() if self.held[login] < self.each]
            if not able:
                return
            turn = min(able, key=lambda each: self._rank(self.waiting[each]))
            login = self.waiting.pop(turn)
            self._given += 1
            self.held[login] += 1
            self._last[login] = self._given
            turn.set_result(None)

    def _rank(self, login: bytes) -> tuple[int, int]:
        return self.held[login], self._last.get(login, 0)
