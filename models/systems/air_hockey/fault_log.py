"""What went wrong in an episode, a line each: said once, and again only after it was right."""


class Complaints:
    """Lines about things that are wrong.

    Attributes:
        lines: All that was said, in order.
    """

    def __init__(self) -> None:
        """Begin with nothing to say."""
        self.lines: list[str] = []
        self._wrong: set[str] = set()

    def say(self, what: str, why: str) -> None:
        """Say what is wrong; once, while it stays so.

        Args:
            what: The thing.
            why: What was found, and what was expected.
        """
        if what not in self._wrong:
            self._wrong.add(what)
            self.lines.append(f"{what}: {why}")

    def settle(self, *things: str) -> None:
        """Take things as right again.

        Args:
            things: Which.
        """
        self._wrong.difference_update(things)
