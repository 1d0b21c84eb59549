"""Places of a server that are given in turn, to each login as often as to any other."""

import asyncio
import math
from collections import Counter

Turn = asyncio.Future[None]
LITTLE, FORGOTTEN, NOTHING = 5.0, 60.0, 1e-3
"""Seconds that places were held lately, below which a login has a spare one; in how many they count
less by a factor of e, s; and those that are not remembered."""


class Turns:
    """Places for requests, of which each login has some, and all logins together have some more.

    Who asks more gets no more than others who ask (start-time fair queueing, Goyal, Vin and Cheng
    1996): a request is the first of its login in a round to come, its next the first in the round
    after, and rounds are worked on one after another. Since what is worked on may take long, a few
    places are spare: for one request at a time of a login that held places for a short time lately,
    or for half as long as another.
    """

    def __init__(self, each: int, every: float, spare: int = 0) -> None:
        """Make places that nobody holds.

        Args:
            each: Places that one login may hold.
            every: Places that all may hold.
            spare: Places beside those.
        """
        self.each, self.every, self.spare = each, every, spare
        self.held: Counter[bytes] = Counter()
        self.waiting: dict[Turn, tuple[int, bytes]] = {}
        self._round = 0
        self._last: dict[bytes, int] = {}
        self._begun: dict[Turn, tuple[bytes, float]] = {}
        self._used: dict[bytes, tuple[float, float]] = {}

    def ask(self, login: bytes) -> Turn:
        """Return what is done once a place is held."""
        turn = asyncio.get_running_loop().create_future()
        self._last[login] = max(self._round, self._last.get(login, 0)) + 1
        self.waiting[turn] = self._last[login], login
        self._give()
        return turn

    def leave(self, login: bytes, turn: Turn) -> None:
        """Give up a place, or the wait for one."""
        if self.waiting.pop(turn, None) is None:
            self.held[login] -= 1
            self.held += Counter()  # without logins that hold none
            self._count(login, _now() - self._begun.pop(turn)[1])
        self._give()

    def _give(self) -> None:
        while able := self._able():
            turn = min(able, key=lambda each: self.waiting[each][0])
            place, login = self.waiting.pop(turn)
            self._round = max(self._round, place)
            self.held[login] += 1
            self._begun[turn] = login, _now()
            turn.set_result(None)
        if not self.waiting:
            self._round = max(self._last.values(), default=self._round)
        self._last = {login: last for login, last in self._last.items() if last > self._round}

    def _able(self) -> list[Turn]:
        """Return who waits and may hold a place."""
        total, logins = self.held.total(), {login for _, login in self.waiting.values()}
        if total < self.every:
            able = {login for login in logins if self.held[login] < self.each}
        elif total < self.every + self.spare:
            little = self._little()
            able = {each for each in logins if not self.held[each] and self._lately(each) < little}
        else:
            return []
        return [turn for turn, (_, login) in self.waiting.items() if login in able]

    def _little(self) -> float:
        """Return below what use a login has a spare place: half of the most of those that hold."""
        uses = {login: self._lately(login) for login in self.held}
        for login, begun in self._begun.values():
            uses[login] += _now() - begun
        return max(LITTLE, max(uses.values(), default=0.0) / 2.0)

    def _lately(self, login: bytes) -> float:
        """Return the seconds of work that a login had done, of which those long ago count less."""
        seconds, then = self._used.get(login, (0.0, 0.0))
        return seconds * math.exp((then - _now()) / FORGOTTEN)

    def _count(self, login: bytes, seconds: float) -> None:
        self._used[login] = self._lately(login) + seconds, _now()
        self._used = {
            each: used for each, used in self._used.items() if self._lately(each) > NOTHING
        }


def _now() -> float:
    return asyncio.get_running_loop().time()
