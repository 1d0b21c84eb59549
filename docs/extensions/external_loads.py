"""Refuses a site whose pages load something from another host: a script, a font, a picture.

Links that a reader may click are left alone.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

LOADING = {"href": ("link",), "src": (), "srcset": (), "data": ("object",), "poster": ()}
"""Attributes that load what they name, and the tags in which they do; none: in all."""
POINTS = {"canonical", "next", "prev", "index", "search", "alternate", "license", "author"}
"""Relations of `link` that load nothing."""
STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s;]+)""")


def of_page(text: str) -> list[str]:
    """Return the external addresses that a page loads."""
    parser = _Loads()
    parser.feed(text)
    return [*parser.found, *STYLE.findall(text)]


def of_site(folder: Path) -> Iterator[str]:
    """Yield `file: address` of all that pages and style sheets load from elsewhere."""
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        text = path.read_text(encoding="utf-8")
        found = of_page(text) if path.suffix == ".html" else STYLE.findall(text)
        yield from (f"{path.relative_to(folder)}: {address}" for address in found)


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the external addresses that a tag loads."""
        given = {name: value or "" for name, value in attrs}
        if tag == "link" and set(given.get("rel", "").lower().split()) & POINTS:
            return
        for name, value in given.items():
            if name in LOADING and (not LOADING[name] or tag in LOADING[name]):
                self.found += re.findall(r"(?:^|,\s*)((?:https?:)?//[^\s,]+)", value)


def setup(app: Any) -> dict[str, Any]:
    """Check the site when it is built."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _check(app: Any, error: Exception | None) -> None:
    from sphinx.errors import ExtensionError

    found = [] if error else list(of_site(Path(app.outdir)))
    if found:
        raise ExtensionError("pages load from other hosts:\n  " + "\n  ".join(found))
