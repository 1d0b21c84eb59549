"""Appends to two pages what the program says of itself: its verbs and its settings."""

from typing import Any

from extensions import settings_page, verbs_page

PAGES = {"reference/verbs": verbs_page.text, "reference/settings": settings_page.text}


def setup(app: Any) -> dict[str, Any]:
    """Fill the pages as they are read."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _fill(app: Any, page: str, source: list[str]) -> None:
    if page in PAGES:
        source[0] += PAGES[page]()
