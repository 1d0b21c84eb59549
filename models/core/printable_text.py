"""Text from outside as a terminal may show it: one line, without control characters, not endless.

What a server, a file or a package says can hold escape sequences that move the cursor, rename the
window or turn the direction of writing. Each unprintable character is shown as Python writes it.
"""


def one_line(text: object, *, longest: int = 300) -> str:
    r"""Return a text in one printable line.

    Args:
        longest: Characters, past which the line says how many there were.

    >>> one_line("golf\x1b[31m\nwood")
    'golf\\x1b[31m wood'
    >>> one_line("x" * 1000, longest=3)
    'xxx.. (1000 characters)'
    """
    whole = str(text)
    shown = whole[: longest + 1]
    if not shown.isprintable():
        shown = "".join(map(_escaped, " ".join(shown.split())))
    if len(whole) <= longest and len(shown) <= 4 * longest:
        return shown
    return f"{shown[:longest]}.. ({len(whole)} characters)"


def printable_lines(text: str) -> str:
    r"""Return a text of any number of lines in which each is printable.

    >>> printable_lines("golf\x1b[31m\nwood\n")
    'golf\\x1b[31m\nwood\n'
    """
    return "\n".join(
        line if line.isprintable() else "".join(map(_escaped, line)) for line in text.split("\n")
    )


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()
