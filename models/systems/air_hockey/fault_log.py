"""Faults of an episode, a line each: reported once, and again only after they were cleared."""


class FaultLog:
    """The faults of an episode, in order."""

    def __init__(self) -> None:
        """Begin without faults."""
        self.lines: list[str] = []
        self._present: set[str] = set()

    def report(self, what: str, why: str) -> None:
        """Report what was found and what was expected of a thing; once, while the fault lasts."""
        if what not in self._present:
            self._present.add(what)
            self.lines.append(f"{what}: {why}")

    def clear(self, *things: str) -> None:
        """Note that things are right again."""
        self._present.difference_update(things)
