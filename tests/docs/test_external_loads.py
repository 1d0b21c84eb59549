"""A page that loads from another host is found; links that a reader clicks are not."""

import pytest

from docs.extensions import external_loads

HOST = "https://cdn.example.org/"


@pytest.mark.parametrize(
    "page",
    [
        f'<script src="{HOST}a.js"></script>',
        f'<link rel="stylesheet" href="{HOST}a.css">',
        f'<img src="{HOST}a.png">',
        '<img src="//cdn.example.org/a.png">',
        f'<img srcset="small.png 1x, {HOST}a.png 2x">',
        f'<iframe src="{HOST}"></iframe>',
        f"<style>@font-face {{ src: url('{HOST}a.woff2'); }}</style>",
        f'<style>@import "{HOST}a.css";</style>',
    ],
)
def test_what_loads_from_another_host_is_found(page: str) -> None:
    (found,) = external_loads.of_page(page)
    assert "cdn.example.org" in found


@pytest.mark.parametrize(
    "page",
    [
        f'<a href="{HOST}">a paper</a>',
        f'<link rel="canonical" href="{HOST}">',
        '<img src="figures/cup.png"><script src="_static/a.js"></script>',
        '<img src="data:image/png;base64,AAAA">',
        f"<pre>curl {HOST}</pre>",
    ],
)
def test_links_and_what_is_at_home_are_left_alone(page: str) -> None:
    assert external_loads.of_page(page) == []


def test_style_sheets_are_read_too(tmp_path) -> None:
    (tmp_path / "page.html").write_text('<img src="here.png">')
    (tmp_path / "style.css").write_text(f"@font-face {{ src: url({HOST}a.woff2) }}")
    (found,) = external_loads.of_site(tmp_path)
    assert found.startswith("style.css: https://cdn.")
