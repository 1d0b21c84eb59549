"""How much memory JSON takes once it is parsed, counted before anything parses it."""


def most_memory(text: bytes) -> int:
    """Return about how many bytes JSON takes at most while it is parsed and kept.

    By its punctuation: an empty list is 3 bytes of text and 64 of memory, a new key of an object 4
    and some 170, as the parser keeps a table of keys beside the object's own.

    >>> most_memory(b"[0.5,0.25]") > 100
    True
    """
    wide = not text.isascii() or rb"\u" in text  # with one letter of four bytes all of a text are
    return (
        3 * (4 if wide else 1) * len(text)  # as bytes, as text, and as the texts in it
        + 96 * text.count(b"[")
        + 240 * text.count(b"{")
        + 40 * text.count(b",")
        + 200 * text.count(b":")
        + 30 * text.count(b'"')
    )
