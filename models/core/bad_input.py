"""The one error for bad input: where it is, what was found, what was expected, in one line."""


class BadInput(ValueError):
    """Input from outside that cannot be used; its text is one line for a person to act on."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        """Describe one fault.

        Args:
            where: File, key or argument at fault.
            found: What is there.
            expected: What should be there.
        """
        self.where = where
        self.found = " ".join(found.split())
        self.expected = " ".join(expected.split())
        super().__init__(f"{where}: found {self.found}, expected {self.expected}")
